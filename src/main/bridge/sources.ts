import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type ChosenSource, EXCERPT_MAX_CHARACTERS } from '../../shared/bridge/source.ts'
import { renameSource } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { bridge } from './bridge-context.ts'

/** Files and folders that a person has let windows have read, each under a handle that cannot be guessed. */
export interface Sources {
  /** Makes a file or folder readable; `path` is absolute and comes from a dialog, a drop or an upload, never from a page. */
  add(path: string, name?: string): Promise<ChosenSource>
  /** The path behind a handle. Throws `BAD_SOURCE` where none was given out under it. */
  find(sourceId: string): { path: string; name: string }
}

/** Where the window in a browser puts the files that are sent to it; they go when it ends. */
export function toUploadsFolder(workspace: string): string {
  return join(workspace, 'uploads')
}

/** Makes the register of sources, empty; it lives as long as the process. */
export function createSources(): Sources {
  const known = new Map<string, { path: string; name: string }>()
  return {
    async add(path, name = basename(path)) {
      const sourceId = randomBytes(16).toString('hex')
      known.set(sourceId, { path, name })
      // A missing file is reported when it is read, with what to do.
      const about = await stat(path).catch(() => null)
      return { sourceId, name, sizeBytes: about?.isFile() ? about.size : 0 }
    },
    find(sourceId) {
      const found = known.get(sourceId)
      if (found !== undefined) return found
      throw new SluiceError({ id: 'source_unknown' })
    },
  }
}

/** The part of each cell that a page carries, never cut through a character, and each cell's whole length. */
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

/** Sources before they become runs. */
export const sourceHandlers = bridge.source.router({
  preview: bridge.source.preview.handler(async ({ context: { engine, sources }, input }) => {
    const {
      source: { sourceId, ...reading },
      limit,
    } = input
    const { path, name } = sources.find(sourceId)
    const source = { ...reading, path }
    // One extra row shows whether there are more.
    const {
      rows: read,
      problems: found,
      ...preview
    } = await engine.previewSource(source, limit + 1).catch((error: unknown) => {
      throw withName(error, { path, name })
    })
    const rows = read.slice(0, limit)
    const last = rows.at(-1)?.row ?? 0
    const problems = found.filter(({ row, code }) => row <= last && code !== 'header_like_data')
    return {
      ...preview,
      problems,
      rows: rows.map(({ row, place, cells }) => ({ row, place, ...createExcerpts(cells) })),
      hasMore: read.length > limit,
      malformedRows: new Set(problems.map((problem) => problem.row)).size,
      isHeaderDoubtful: found.some(({ code }) => code === 'header_like_data'),
    }
  }),
})

/** The error with the name of a file instead of its path, which the page must not learn. */
export function withName(error: unknown, { path, name }: { path: string; name: string }): unknown {
  if (!(error instanceof SluiceError)) return error
  const { said } = error
  const renamed = 'file' in said && said.file === path ? { ...said, file: name } : renameSource(said, name)
  return new SluiceError(renamed, { cause: error })
}
