import { build } from 'vite'
import config from '../../../electron.vite.config.ts'

/** Builds the renderer into a folder, as the product's own build does. Quiet unless it fails. */
export async function buildRenderer(folder: string): Promise<void> {
  if (typeof config !== 'object' || !('renderer' in config) || typeof config.renderer !== 'object') {
    throw new Error('electron.vite.config.ts has no renderer to build')
  }
  const { renderer } = config
  await build({
    ...renderer,
    configFile: false,
    logLevel: 'error',
    base: './',
    build: { ...renderer.build, outDir: folder, emptyOutDir: true },
  })
}
