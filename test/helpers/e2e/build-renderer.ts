import { build } from 'vite'
import config from '../../../electron.vite.config.ts'

/**
 * Builds the renderer into a folder, as the product's own build does. Quiet unless it fails. With
 * `SLUICE_E2E_DEVELOPMENT=1` React is built for development: slower, and its warnings then fail the tests.
 */
export async function buildRenderer(folder: string): Promise<void> {
  if (typeof config !== 'object' || !('renderer' in config) || typeof config.renderer !== 'object') {
    throw new Error('electron.vite.config.ts has no renderer to build')
  }
  const { renderer } = config
  const environment = process.env['NODE_ENV']
  // Vitest names the environment `test`, in which React would be built for development too.
  process.env['NODE_ENV'] = process.env['SLUICE_E2E_DEVELOPMENT'] === '1' ? 'development' : 'production'
  try {
    await build({
      ...renderer,
      configFile: false,
      logLevel: 'error',
      base: './',
      build: { ...renderer.build, outDir: folder, emptyOutDir: true },
    })
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  }
}
