import { bridge } from './bridge-context.ts'
import { toExportName } from './results-handlers.ts'
import { withName } from './sources.ts'

/** What persons say of rows. */
export const verdictsHandlers = bridge.verdicts.router({
  list: bridge.verdicts.list.handler(({ context, input }) => context.engine.readVerdicts(input.runId)),
  set: bridge.verdicts.set.handler(({ context, input: { runId, row, verdicts, before } }) =>
    context.engine.replaceVerdicts(runId, row, verdicts, before),
  ),
  export: bridge.verdicts.export.handler(async ({ context: { engine, host }, input }) => {
    const { runId, format, targetId } = input
    const { name } = await engine.summarizeRun(runId)
    const place = await host.placeExport({
      ...{ targetId, format },
      name: toExportName(`verdicts ${name}`, runId, format),
    })
    return place.publish(await engine.exportVerdicts(runId, place.file))
  }),
  import: bridge.verdicts.import.handler(async ({ context: { engine, sources }, input }) => {
    const file = sources.find(input.sourceId)
    try {
      const source = { path: file.path, header: true }
      return { verdicts: await engine.importVerdicts(input.runId, source) }
    } catch (error) {
      throw withName(error, file)
    }
  }),
})

/** Rows of a run that are labelled one by one. */
export const labellingHandlers = bridge.labelling.router({
  read: bridge.labelling.read.handler(({ context, input }) => context.engine.readLabelling(input.runId)),
  start: bridge.labelling.start.handler(async ({ context: { engine }, input: { runId, ...options } }) => {
    await engine.settleLate(runId)
    return engine.startLabelling(runId, options)
  }),
  change: bridge.labelling.change.handler(({ context, input: { runId, change } }) =>
    context.engine.changeLabelling(runId, change),
  ),
  end: bridge.labelling.end.handler(async ({ context, input }) => {
    await context.engine.endLabelling(input.runId)
    return {}
  }),
  estimate: bridge.labelling.estimate.handler(({ context, input }) =>
    context.engine.evaluateRun(input.runId, {
      ...{ label: null, useVerdicts: true, positives: [], separator: null, slices: [], scores: [] },
      ...{ wantedPrecisions: [], whatIf: [], assertions: [], list: [] },
    }),
  ),
})
