import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import {
  createMainPlugins,
  LICENCE_LIST,
  MAIN_OUTPUT,
  toSource,
  WORKER_ENTRIES,
} from './scripts/main-bundle.ts'

const license = { fileName: LICENCE_LIST }

// Everything is bundled, so that the installed app needs no node_modules. The workers are entries of their own
// beside the window's: whoever starts an engine passes their URLs in. The command line is a package of its own
// (scripts/pack-cli), since the installed app cannot run as Node.
export default defineConfig({
  main: {
    plugins: createMainPlugins(),
    build: {
      externalizeDeps: false,
      license,
      rolldownOptions: {
        input: { main: toSource('main/desktop/main.ts'), ...WORKER_ENTRIES },
        output: MAIN_OUTPUT,
      },
    },
  },
  preload: {
    build: {
      externalizeDeps: false,
      license,
      // A sandboxed preload script must be one CommonJS file.
      rolldownOptions: {
        input: { preload: toSource('main/desktop/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: toSource('renderer'),
    plugins: [react()],
    // The host replaces this in the page and in its header with a fresh value for each response.
    html: { cspNonce: '__CSP_NONCE__' },
    build: {
      minify: true,
      license,
      rolldownOptions: { input: { index: toSource('renderer/index.html') } },
    },
  },
})
