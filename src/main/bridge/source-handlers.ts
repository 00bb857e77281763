import { createExcerpts } from './excerpts.ts'
import { bridge } from './implementer.ts'

/** Sources before they become runs. */
export const sourceHandlers = bridge.source.router({
  preview: bridge.source.preview.handler(async ({ context: { engine, host }, input: { source, limit } }) => {
    host.checkSourcePath(source.path)
    // One row more than asked for tells whether there are more.
    const { rows: read, problems: found, ...preview } = await engine.previewSource(source, limit + 1)
    const rows = read.slice(0, limit)
    const last = rows.at(-1)?.row ?? 0
    const problems = found.filter(({ row, code }) => row <= last && code !== 'header_like_data')
    return {
      ...preview,
      problems,
      rows: rows.map(({ row, cells }) => ({ row, ...createExcerpts(cells) })),
      hasMore: read.length > limit,
      malformedRows: new Set(problems.map((problem) => problem.row)).size,
      isHeaderDoubtful: found.some(({ code }) => code === 'header_like_data'),
    }
  }),
})
