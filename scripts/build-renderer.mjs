// Builds the screens alone, into out/renderer or the folder that is named, for the browser shell. `npm run build` builds
// them for the Chromium of Electron; this, for the browsers that people have.
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { build } from 'vite'
import config from '../electron.vite.config.ts'

// Whoever starts this, tests among them, gets the window that people get.
process.env.NODE_ENV = 'production'

const project = resolve(import.meta.dirname, '..')
const target = resolve(project, process.argv[2] ?? 'out/renderer')
// Built aside and then moved, so that a server of the old screens never serves half of each.
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
