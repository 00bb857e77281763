import { bridge } from './bridge-context.ts'
import { toExportName } from './results-handlers.ts'
import { withName } from './sources.ts'

/** What persons say of rows. */
export const verdictsHandlers = bridge.verdicts.router({
  list: bridge.verdicts.list.handler(({ context, input }) =>
    context.engine.lookback.readVerdicts(input.runId),
  ),
  set: bridge.verdicts.set.handler(({ context, input: { runId, row, verdicts, before } }) =>
    context.engine.lookback.replaceVerdicts(runId, row, verdicts, before),
  ),
  export: bridge.verdicts.export.handler(async ({ context: { engine, host }, input }) => {
    const { runId, format, targetId } = input
    const { name } = await engine.runs.summarizeRun(runId)
    const place = await host.placeExport({
      ...{ targetId, format },
      name: toExportName(`verdicts ${name}`, runId, format),
    })
    return place.publish(await engine.lookback.exportVerdicts(runId, place.file))
  }),
  import: bridge.verdicts.import.handler(async ({ context: { engine, sources }, input }) => {
    const file = sources.find(input.sourceId)
    try {
      const source = { path: file.path, header: true }
      return { verdicts: await engine.lookback.importVerdicts(input.runId, source) }
    } catch (error) {
      throw withName(error, file)
    }
  }),
})

/** Rows of a run that are labelled one by one. */
export const labellingHandlers = bridge.labelling.router({
  read: bridge.labelling.read.handler(({ context, input }) =>
    context.engine.lookback.readLabelling(input.runId),
  ),
  start: bridge.labelling.start.handler(async ({ context: { engine }, input: { runId, ...options } }) => {
    await engine.runs.settleLate(runId)
    return engine.lookback.startLabelling(runId, options)
  }),
  change: bridge.labelling.change.handler(({ context, input: { runId, change } }) =>
    context.engine.lookback.changeLabelling(runId, change),
  ),
  end: bridge.labelling.end.handler(async ({ context, input }) => {
    await context.engine.lookback.endLabelling(input.runId)
    return {}
  }),
  estimate: bridge.labelling.estimate.handler(({ context, input }) =>
    context.engine.lookback.evaluateRun(input.runId, {
      ...{ label: null, useVerdicts: true, positives: [], separator: null, slices: [], scores: [] },
      ...{ wantedPrecisions: [], whatIf: [], assertions: [], list: [] },
    }),
  ),
})
