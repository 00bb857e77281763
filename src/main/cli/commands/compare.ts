import { type Command, InvalidArgumentError } from 'commander'
import type { LoadComparison } from '../../../shared/load/compare.ts'
import { formatPercentileName } from '../../../shared/load/compare-text.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { formatFigure } from '../../../shared/messages/figure-text.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { formatComparison } from '../summary/comparison-text.ts'

function parsePercent(text: string): number {
  const percent = /^\d+(\.\d+)?\s*%?$/.test(text.trim()) ? Number.parseFloat(text) : Number.NaN
  if (Number.isNaN(percent))
    throw new InvalidArgumentError(`expected a percentage such as 10%, found \`${text}\`.`)
  return percent
}

type Slower = { metric: string } & LoadComparison['series'][number]['percentiles'][number]

/** Percentiles that are slower beyond doubt and by more than `percent`; those without a known range by their ratio. */
function findSlower({ series }: LoadComparison, percent: number): Slower[] {
  return series.flatMap(({ metric, percentiles }) =>
    percentiles
      .filter(({ verdict, low, high, ratio }) => {
        const isSure = verdict === 'slower' || (low === null && high === null)
        return isSure && ratio > 1 + percent / 100
      })
      .map((percentile) => ({ metric, ...percentile })),
  )
}

function describeSlower({ metric, percentile, ratio }: Slower): string {
  return `${metric} ${formatPercentileName(percentile)} ${formatFigure((ratio - 1) * 100)} %`
}

/** Adds `compare A B`: whether run B is slower than run A, and how sure that is. */
export function addCompareCommand(program: Command, context: CliContext): void {
  const command = program
    .command('compare')
    .argument('<a>', `baseline: ${RUN_ARGUMENT_HELP}`)
    .argument('<b>', `run to compare with it: ${RUN_ARGUMENT_HELP}`)
    .description(
      'Compares the latency, failures, throughput and plans of two runs and states whether B is slower than A. ' +
        'Ranges are 99 % confidence intervals.',
    )
    .option(
      '--fail-if-slower <percent>',
      `exit with ${EXIT.thresholdCrossed} if a percentile of B is slower by more than this with 99 % confidence, such as 10%`,
      parsePercent,
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(
    async (a: string, b: string, flags: WorkspaceFlags & { json?: true; failIfSlower?: number }) => {
      await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
        const earlier = await resolveRun(engine, a)
        const later = await resolveRun(engine, b)
        const comparison = await engine.compareRuns(earlier.run_id, later.run_id)
        await context.out.writeLine(
          flags.json
            ? JSON.stringify({ a_run_id: earlier.run_id, b_run_id: later.run_id, ...comparison }, null, 2)
            : formatComparison(context.outTerminal, comparison),
        )
        if (flags.failIfSlower === undefined) return
        const slower = findSlower(comparison, flags.failIfSlower)
        if (slower.length === 0) return
        context.exitCode = EXIT.thresholdCrossed
        await context.err.writeLine(
          `B is slower than A by more than ${flags.failIfSlower} %: ${slower.map(describeSlower).join(', ')}.`,
        )
      })
    },
  )
  addExamples(command, ['compare 20261121-0915 latest', 'compare 20261121-0915 latest --fail-if-slower 10%'])
}
