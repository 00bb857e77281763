import { bridge } from './bridge-context.ts'

/** What persons say of rows. */
export const verdictsHandlers = bridge.verdicts.router({
  list: bridge.verdicts.list.handler(({ context, input }) => context.engine.readVerdicts(input.runId)),
  set: bridge.verdicts.set.handler(({ context, input: { runId, row, verdicts, before } }) =>
    context.engine.replaceVerdicts(runId, row, verdicts, before),
  ),
})

/** How evaluations are drawn where nothing is said; the same as on the command line. */
const SEED = 1

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
      ...{ wantedPrecisions: [], whatIf: [], assertions: [], list: [], seed: SEED },
    }),
  ),
})
