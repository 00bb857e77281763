import type { EvaluateQuestion } from '../../shared/bridge/evaluate.ts'
import type { EvaluationQuestion } from '../../shared/lookback/evaluation.ts'
import { toExportResult } from '../../shared/run/written-rows.ts'
import type { BridgeServices, Handlers } from './bridge-context.ts'
import { placeRunExport, prepareResults } from './results-handlers.ts'
import { withName } from './sources.ts'

export const evaluateHandlers: Handlers<'evaluate'> = {
  choices: ({ context: { engine }, input: { runId } }) => engine.lookback.readLabelChoices(runId),
  ask: async ({ context, input: { runId, question } }) => {
    const { engine } = context
    await engine.runs.settleLate(runId)
    const step = await withLabels(context, question, (asked) => engine.lookback.evaluateInSteps(runId, asked))
    // So that the next question about this run need not read its journal.
    if (step.evaluation !== null) prepareResults(engine, runId)
    return step
  },
  export: async ({ context, input: { runId, question, cell, format, targetId } }) => {
    const { engine } = context
    const place = await placeRunExport(context, { runId, format, targetId })
    const { exported } = await withLabels(context, question, (asked) =>
      engine.lookback.evaluateRun(runId, {
        ...asked,
        wantedPrecisions: [],
        whatIf: [],
        assertions: [],
        list: cell === null ? [] : [cell],
        exportFile: place.file,
      }),
    )
    if (exported === null) throw new Error('an evaluation with a file writes it')
    return place.publish(toExportResult(exported))
  },
}

/** Asks with the file of labels behind a handle; errors name the file without its path. */
async function withLabels<Answer>(
  { sources }: BridgeServices,
  { labels, ...question }: EvaluateQuestion,
  ask: (question: EvaluationQuestion) => Promise<Answer>,
): Promise<Answer> {
  if (labels === undefined) return ask(question)
  const { sourceId, ...reading } = labels.source
  const file = sources.find(sourceId)
  try {
    return await ask({ ...question, labels: { ...labels, source: { ...reading, path: file.path } } })
  } catch (error) {
    throw withName(error, file)
  }
}
