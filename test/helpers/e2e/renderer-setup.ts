import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildPart } from '../build/build-part.ts'

declare module 'vitest' {
  interface ProvidedContext {
    rendererFolder: string
    /** Where `npm run screenshots` puts the pictures of all screens; null for a plain test. */
    pictureFolder: string | null
  }
}

/**
 * Builds the screens once for all browser tests, from the sources as they stand. With `SLUICE_E2E_DEVELOPMENT=1` React
 * is built for development: slower, and its warnings then fail the tests.
 */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-renderer-'))
  const isForDevelopment = process.env['SLUICE_E2E_DEVELOPMENT'] === '1'
  await buildPart('renderer', folder, isForDevelopment ? 'development' : 'production')
  project.provide('rendererFolder', join(folder, 'renderer'))
  project.provide('pictureFolder', project.vite.config.mode === 'screenshots' ? emptyPictureFolder() : null)
  return () => rmSync(folder, { recursive: true, force: true })
}

function emptyPictureFolder(): string {
  const folder = resolve(import.meta.dirname, '../../../screenshots')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return folder
}
