import type { Command } from 'commander'
import { RUN_PAGE_MAX } from '../../../shared/lookback/run-list.ts'
import { type Trend, trendSchema } from '../../../shared/lookback/trend.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toTrendReport } from '../../../shared/report/trend-report.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addLabelOptions, hasLabels, type LabelFlags, toLabelOptions } from '../options/label-options.ts'
import { resolveRun } from '../options/run-reference.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../options/shared-options.ts'
import { formatReport } from '../terminal/report-text.ts'

const SOURCES_LISTED = 10

/** Adds `trend SOURCE`: how the runs of one source went over time. */
export function addTrendCommand(program: Command, context: CliContext): void {
  const command = program
    .command('trend')
    .argument('<source-or-run>', 'source file or folder, or a run of it')
    .description(
      'Shows all runs of one source, oldest first: rows, failures, latency, and the share of rows that triggered each rule. ' +
        'With labels, also shows how accurate each run was.',
    )
  addLabelOptions(command).optionsGroup('Options:')
  addDocumentOptions(command).action(async (reference: string, flags: DocumentFlags & LabelFlags) => {
    const isLabelled = hasLabels(flags)
    await withEngine(context, flags.workspace, async (engine) => {
      await engine.runs.settleLate()
      const labels = isLabelled ? toLabelOptions(flags, context.env) : null
      const path = resolveFromCaller(reference, context.env)
      const trend = await readTrend(engine, reference, path, labels)
      if (flags.json) await writeDocument(context.out, trendSchema.parse(trend))
      else await context.out.writeLine(formatReport(context.outTerminal, toTrendReport(trend), 0))
    })
  })
  addExamples(command, ['trend posts.csv', 'trend latest --label truth --positive "spam=Likely spam"'])
}

/** The source may no longer exist, so its runs say whether it is one. */
async function readTrend(
  engine: Engine,
  reference: string,
  path: string,
  labels: Parameters<Engine['lookback']['readTrend']>[1],
): Promise<Trend> {
  const trend = await engine.lookback.readTrend(path, labels)
  if (trend.runs.length > 0) return trend
  try {
    const { source } = await resolveRun(engine, reference)
    return await engine.lookback.readTrend(source, labels)
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'RUN_NOT_FOUND') throw error
    const { runs } = await engine.runs.listRuns({ limit: RUN_PAGE_MAX })
    const known = [...new Set(runs.map((run) => run.source))].slice(0, SOURCES_LISTED)
    throw new SluiceError({ id: 'trend_without_runs', source: path, known }, { cause: error })
  }
}
