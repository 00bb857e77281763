import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildRenderer } from './build-renderer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    rendererFolder: string
    /** Where `npm run screenshots` puts the pictures of all screens; null for a plain test. */
    pictureFolder: string | null
  }
}

/** Builds the screens once for all browser tests, from the sources as they stand. */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-renderer-'))
  await buildRenderer(folder)
  project.provide('rendererFolder', folder)
  project.provide('pictureFolder', project.vite.config.mode === 'screenshots' ? emptyPictureFolder() : null)
  return () => rmSync(folder, { recursive: true, force: true })
}

function emptyPictureFolder(): string {
  const folder = resolve(import.meta.dirname, '../../../screenshots')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return folder
}
