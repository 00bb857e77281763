import { SluiceError } from '../../shared/messages/errors.ts'
import { listSourcePaths } from '../../shared/plan/source-paths.ts'
import type { ProblemCode } from '../../shared/run/problem.ts'
import type { Handlers } from './bridge-context.ts'
import { createExcerpts, withName } from './sources.ts'

/** Notes about the layout of a spreadsheet; the records themselves are fine. */
const OF_LAYOUT: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['hidden_rows', 'merged_cells'])

export const sourceHandlers: Handlers<'source'> = {
  unite: async ({ context: { sources }, input: { sourceIds } }) => {
    const found = sourceIds.map((sourceId) => sources.find(sourceId))
    const [only] = found
    const [first, ...others] = found.flatMap(listSourcePaths)
    if (first === undefined || only === undefined) throw new Error('no source was named')
    return sources.unite([first, ...others], found.length === 1 ? only.name : undefined)
  },
  leaveOut: async ({ context: { engine, sources }, input }) => {
    const { sourceId, file } = input
    const { name, ...paths } = sources.find(sourceId)
    const source = { header: true, ...paths }
    const { files = [] } = await engine.runs.previewSource(source, 1).catch((error: unknown) => {
      throw withName(error, { name, ...paths })
    })
    const [first, ...others] = files.filter((_, index) => index !== file).map(({ path }) => path)
    if (first === undefined) throw new SluiceError({ id: 'source_unknown' })
    return sources.unite([first, ...others])
  },
  preview: async ({ context: { engine, sources }, input }) => {
    const {
      source: { sourceId, ...reading },
      limit,
    } = input
    const { name, ...paths } = sources.find(sourceId)
    const source = { ...reading, ...paths }
    // One extra row shows whether there are more.
    const {
      rows: read,
      problems: found,
      files,
      ...preview
    } = await engine.runs.previewSource(source, limit + 1).catch((error: unknown) => {
      throw withName(error, { name, ...paths })
    })
    const rows = read.slice(0, limit)
    const last = rows.at(-1)?.row ?? 0
    const problems = found.filter(({ row, code }) => row <= last && code !== 'header_like_data')
    const malformed = problems.filter(({ code }) => !OF_LAYOUT.has(code))
    return {
      ...preview,
      ...(files !== undefined && { files: files.map(({ path: _path, ...file }) => file) }),
      problems: [...malformed, ...problems.filter(({ code }) => OF_LAYOUT.has(code))],
      rows: rows.map(({ row, place, cells }) => ({ row, place, ...createExcerpts(cells) })),
      hasMore: read.length > limit,
      malformedRows: new Set(malformed.map((problem) => problem.row)).size,
      isHeaderDoubtful: found.some(({ code }) => code === 'header_like_data'),
    }
  },
}
