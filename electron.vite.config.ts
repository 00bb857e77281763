import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'
import { requireZlibPlainly } from './scripts/require-zlib-plainly.ts'

const source = (path: string) => resolve(import.meta.dirname, 'src', path)

/** Puts a file that the code reads beside its own beside the bundles too. */
function copyBesideBundles(fileName: string, path: string): Plugin {
  return {
    name: 'copy-beside-bundles',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: readFileSync(source(path)) })
    },
  }
}

// Everything is bundled, so that the installed app needs no node_modules. The workers are entries of their own
// beside the window's: whoever starts an engine passes their URLs in.
export default defineConfig({
  main: {
    plugins: [
      ...['sample.csv', 'async-sample.csv', 'terms-sample.csv'].map((name) =>
        copyBesideBundles(name, `main/cli/demo/${name}`),
      ),
      requireZlibPlainly(),
    ],
    build: {
      externalizeDeps: false,
      rolldownOptions: {
        input: {
          main: source('main/desktop/main.ts'),
          cli: source('main/cli/main.ts'),
          'run-worker': source('main/engine/session/run-worker.ts'),
          'load-worker': source('main/engine/load/load-worker.ts'),
          'query-worker': source('main/engine/query/query-worker.ts'),
          'receiver-worker': source('main/engine/receiver/receiver-worker.ts'),
          'sandbox-worker': source('main/sandbox/sandbox-worker.ts'),
        },
        // Chunks stand beside the entries, so that src/main/program-files.ts finds the workers from any of them.
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      externalizeDeps: false,
      // A sandboxed preload script must be one CommonJS file.
      rolldownOptions: {
        input: { preload: source('main/desktop/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: source('renderer'),
    plugins: [react()],
    // The host replaces this in the page and in its header with a fresh value for each response.
    html: { cspNonce: '__CSP_NONCE__' },
    build: { minify: true, rolldownOptions: { input: { index: source('renderer/index.html') } } },
  },
})
