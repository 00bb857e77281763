import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveConfig } from 'electron-vite'
import { build } from 'vite'
import { isFresh } from '../../../src/main/web/is-fresh.ts'
import { BUILT_FOLDER, PROJECT_FOLDER } from './bundles.ts'

/** Sources of each part of the product, besides its configuration. */
const SOURCES = {
  main: ['src/main', 'src/shared'],
  preload: ['src/main/desktop', 'src/shared'],
  renderer: ['src/renderer', 'src/shared'],
} as const

const CONFIGURATION = ['electron.vite.config.ts', 'scripts/main-bundle.ts', 'package-lock.json']

/** A file of each built part. */
const PRODUCTS = { main: 'main.js', preload: 'preload.cjs', renderer: 'index.html' } as const

/**
 * Builds one part of the product into a folder of that name below BUILT_FOLDER, like the product's own build,
 * unless it is newer than the sources. Returns the folder. Silent unless it fails.
 */
export async function buildPart(
  part: keyof typeof SOURCES,
  name: string,
  mode: 'development' | 'production' = 'production',
): Promise<string> {
  const folder = join(BUILT_FOLDER, name)
  const ingredients = [...SOURCES[part], ...CONFIGURATION].map((path) => join(PROJECT_FOLDER, path))
  if (await isFresh(join(folder, PRODUCTS[part]), ingredients)) return folder
  // Built aside and then moved, so that no other test run finds half of it.
  const aside = `${folder}-${process.pid}`
  const environment = process.env['NODE_ENV']
  try {
    // Also sets the build's environment: with Vitest's own, `test`, React would be built for development.
    const { config } = await resolveConfig({ logLevel: 'error', build: { outDir: aside } }, 'build', mode)
    await build(config?.[part])
    await mkdir(BUILT_FOLDER, { recursive: true })
    await rm(folder, { recursive: true, force: true })
    await rename(join(aside, part), folder)
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
    await rm(aside, { recursive: true, force: true })
  }
  return folder
}
