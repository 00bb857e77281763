import type { Handlers } from './bridge-context.ts'
import { placeRunExport } from './results-handlers.ts'
import { withName } from './sources.ts'

export const verdictsHandlers: Handlers<'verdicts'> = {
  list: ({ context, input }) => context.engine.lookback.readVerdicts(input.runId),
  set: ({ context, input: { runId, row, verdicts, before } }) =>
    context.engine.lookback.replaceVerdicts(runId, row, verdicts, before),
  export: async ({ context, input }) => {
    const place = await placeRunExport(context, { ...input, title: 'verdicts ' })
    return place.publish(await context.engine.lookback.exportVerdicts(input.runId, place.file))
  },
  import: async ({ context: { engine, sources }, input }) => {
    const file = sources.find(input.sourceId)
    try {
      const source = { path: file.path, header: true }
      return await engine.lookback.importVerdicts(input.runId, source, input.replaces)
    } catch (error) {
      throw withName(error, file)
    }
  },
}

export const labellingHandlers: Handlers<'labelling'> = {
  read: ({ context, input }) => context.engine.lookback.readLabelling(input.runId),
  start: async ({ context: { engine }, input: { runId, ...options } }) => {
    await engine.runs.settleLate(runId)
    return engine.lookback.startLabelling(runId, options)
  },
  change: ({ context, input: { runId, change } }) => context.engine.lookback.changeLabelling(runId, change),
  end: async ({ context, input }) => {
    await context.engine.lookback.endLabelling(input.runId)
  },
  estimate: ({ context, input }) =>
    context.engine.lookback.evaluateRun(input.runId, {
      label: null,
      useVerdicts: true,
      positives: [],
      separator: null,
      slices: [],
      scores: [],
      wantedPrecisions: [],
      whatIf: [],
      assertions: [],
      list: [],
    }),
}
