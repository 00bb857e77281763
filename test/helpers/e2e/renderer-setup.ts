import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildPart } from '../build/build-part.ts'

declare module 'vitest' {
  interface ProvidedContext {
    rendererFolder: string
    /** Where `npm run screenshots` puts the pictures of all screens; null for an ordinary test. */
    pictureFolder: string | null
  }
}

/**
 * Builds the screens once for all browser tests, from the current sources. In the long form, or with
 * `SLUICE_E2E_DEVELOPMENT=1`, React is built for development: this is slower, and its warnings fail the
 * tests.
 */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(project: TestProject): Promise<void> {
  const { mode } = project.vite.config
  const isForDevelopment = mode === 'long' || process.env['SLUICE_E2E_DEVELOPMENT'] === '1'
  const folder = isForDevelopment
    ? await buildPart('renderer', 'renderer-development', 'development')
    : await buildPart('renderer', 'renderer')
  project.provide('rendererFolder', folder)
  project.provide('pictureFolder', mode === 'screenshots' ? emptyPictureFolder() : null)
}

function emptyPictureFolder(): string {
  const folder = resolve(import.meta.dirname, '../../../screenshots')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return folder
}
