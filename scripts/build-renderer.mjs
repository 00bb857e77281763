// Builds only the screens, into out/renderer or the given folder, for the browser shell. `npm run build`
// targets Electron's Chromium; this targets the browsers that people have.
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { build } from 'vite'
import config from '../electron.vite.config.ts'

// Always a production build, as users get it, even when a test starts this script.
process.env.NODE_ENV = 'production'

const project = resolve(import.meta.dirname, '..')
const target = resolve(project, process.argv[2] ?? 'out/renderer')
// Built in a folder beside the target and then moved, so a running server never mixes old and new files.
const fresh = `${target}-new-${process.pid}`
const old = `${target}-old-${process.pid}`

try {
  await build({
    ...config.renderer,
    configFile: false,
    base: './',
    logLevel: 'warn',
    build: {
      ...config.renderer.build,
      outDir: fresh,
      emptyOutDir: true,
      reportCompressedSize: false,
    },
  })
  await rename(target, old).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(fresh, target)
} finally {
  await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })))
}
