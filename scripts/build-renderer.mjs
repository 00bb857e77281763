// Builds the screens alone, as `npm run build` does beside everything else: for the browser shell, which needs no more.
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { build } from 'vite'
import config from '../electron.vite.config.ts'

// Whoever starts this, tests among them, gets the window that people get.
process.env.NODE_ENV = 'production'

const project = resolve(import.meta.dirname, '..')
const target = resolve(project, 'out/renderer')
// Built aside and then moved, so that a server of the old screens never serves half of each.
const fresh = resolve(project, `out/renderer-new-${process.pid}`)
const old = resolve(project, `out/renderer-old-${process.pid}`)

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
