import { renameSource } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { createExcerpts } from './excerpts.ts'
import { bridge } from './implementer.ts'

/** Sources before they become runs. */
export const sourceHandlers = bridge.source.router({
  preview: bridge.source.preview.handler(async ({ context: { engine, sources }, input }) => {
    const {
      source: { sourceId, ...reading },
      limit,
    } = input
    const { path, name } = sources.find(sourceId)
    const source = { ...reading, path }
    // One row more than asked for tells whether there are more.
    const {
      rows: read,
      problems: found,
      ...preview
    } = await engine.previewSource(source, limit + 1).catch((error: unknown) => {
      throw withName(error, name)
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

/** The error with the name that the person knows in the place of the path, which the page is not told. */
function withName(error: unknown, name: string): unknown {
  if (!(error instanceof SluiceError)) return error
  return new SluiceError(renameSource(error.said, name), { cause: error })
}
