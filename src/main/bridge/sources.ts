import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type ChosenSource, EXCERPT_MAX_CHARACTERS } from '../../shared/bridge/source.ts'
import { renameSource } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { PlanSource } from '../../shared/plan/plan.ts'
import { nameSource } from '../../shared/plan/source-paths.ts'

/** What a handle stands for. */
export interface KnownSource extends Pick<PlanSource, 'path' | 'more'> {
  name: string
}

/** The folder for files uploaded by browsers, emptied when the window's process ends. */
export function toUploadsFolder(workspace: string): string {
  return join(workspace, 'uploads')
}

/** Creates an empty register of sources, which lives as long as the process. */
export function createSources() {
  const known = new Map<string, KnownSource>()
  const unite = async (
    [path, ...more]: readonly [string, ...string[]],
    name?: string,
  ): Promise<ChosenSource> => {
    const sourceId = randomBytes(16).toString('hex')
    const source = { path, ...(more.length > 0 && { more }) }
    const named = { ...source, name: name ?? nameSource(source) }
    known.set(sourceId, named)
    // A missing file is reported, with advice, when it is read.
    const about = await Promise.all([path, ...more].map((one) => stat(one).catch(() => null)))
    const sizeBytes = about.reduce((sum, one) => sum + (one?.isFile() ? one.size : 0), 0)
    return { sourceId, name: named.name, sizeBytes }
  }
  return {
    /** Makes a file or folder readable; `path` is absolute, from a dialog, drop or upload, never a page. */
    add: (path: string, name: string = basename(path)): Promise<ChosenSource> => unite([path], name),
    unite,
    /** The paths behind a handle. Throws `BAD_SOURCE` for an unknown handle. */
    find(sourceId: string): KnownSource {
      const found = known.get(sourceId)
      if (found !== undefined) return found
      throw new SluiceError({ id: 'source_unknown' })
    },
  }
}

/** Files and folders that windows may read, each under an unguessable handle. */
export interface Sources extends ReturnType<typeof createSources> {}

/** The part of each cell sent to a page, never cut inside a character, and each cell's full length. */
export function createExcerpts(cells: readonly string[]): { cells: string[]; cellLengths: number[] } {
  return {
    cells: cells.map((cell) =>
      cell.length <= EXCERPT_MAX_CHARACTERS
        ? cell
        : cell.slice(0, EXCERPT_MAX_CHARACTERS - (isCutThrough(cell) ? 1 : 0)),
    ),
    cellLengths: cells.map((cell) => cell.length),
  }
}

function isCutThrough(cell: string): boolean {
  return (cell.codePointAt(EXCERPT_MAX_CHARACTERS - 1) ?? 0) > 0xffff
}

/** Replaces a path, which the page must not learn, with the file's name in an error. */
export function withName(error: unknown, { path, name }: KnownSource): unknown {
  if (!(error instanceof SluiceError)) return error
  const { said } = error
  // One of several files, or of a folder of tables.
  if ('source' in said && typeof said.source === 'string' && said.source !== path) {
    return new SluiceError(renameSource(said, basename(said.source)), { cause: error })
  }
  const renamed = 'file' in said && said.file === path ? { ...said, file: name } : renameSource(said, name)
  return new SluiceError(renamed, { cause: error })
}
