import { createExcerpts } from './excerpts.ts'
import { bridge } from './implementer.ts'

/** The outcome of the rows of a run. */
export const resultsHandlers = bridge.results.router({
  columns: bridge.results.columns.handler(({ context, input }) => context.engine.readColumns(input.runId)),
  page: bridge.results.page.handler(async ({ context: { engine }, input: { runId, ...query } }) => {
    const { rows, ...counted } = await engine.readPage(runId, query)
    return { rows: rows.map((row) => ({ ...row, ...createExcerpts(row.cells) })), ...counted }
  }),
  facets: bridge.results.facets.handler(({ context, input }) =>
    context.engine.readFacets(input.runId, input.filter),
  ),
  row: bridge.results.row.handler(({ context, input }) => context.engine.readRow(input.runId, input.row)),
  latency: bridge.results.latency.handler(async ({ context, input: { runId, sinceSecond = 0 } }) => {
    const { seconds, bars } = await context.engine.readLatency(runId)
    return { seconds: seconds.filter(({ second }) => second >= sinceSecond), bars }
  }),
})
