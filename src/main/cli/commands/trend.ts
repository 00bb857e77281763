import { type Command, InvalidArgumentError } from 'commander'
import { RUN_PAGE_MAX } from '../../../shared/lookback/run-list.ts'
import { type Trend, type TrendLabels, trendSchema } from '../../../shared/lookback/trend.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { listRunSources } from '../../../shared/plan/source-paths.ts'
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

/** Adds `trend SOURCE`: how the runs of one source, or of sources that belong together, went over time. */
export function addTrendCommand(program: Command, context: CliContext): void {
  const command = program
    .command('trend')
    .argument(
      '[sources-or-run...]',
      "source files or folders, a pattern of them such as 'posts-*.csv', or a run of the source",
    )
    .description(
      'Shows all runs of one source, or of several that belong together, oldest first: rows, failures, latency, and the ' +
        'share of rows that triggered each rule. With labels, also shows how accurate each run was.',
    )
  command.option('--tag <tag>', 'all runs with this tag, instead of those of a source')
  addLabelOptions(command).optionsGroup('Options:')
  addDocumentOptions(command).action(
    async (references: string[], flags: DocumentFlags & LabelFlags & { tag?: string }) => {
      const { tag } = flags
      if ((tag === undefined) === (references.length === 0)) {
        throw new InvalidArgumentError('Name sources or a run, or pass --tag TAG.')
      }
      const isLabelled = hasLabels(flags)
      await withEngine(context, flags.workspace, async (engine) => {
        await engine.runs.settleLate()
        const labels = isLabelled ? toLabelOptions(flags, context.env) : null
        const trend =
          tag === undefined
            ? await readTrend(context, engine, references, labels)
            : await readTagged(engine, tag, labels)
        if (flags.json) await writeDocument(context.out, trendSchema.parse(trend))
        else await context.out.writeLine(formatReport(context.outTerminal, toTrendReport(trend), 0))
      })
    },
  )
  addExamples(command, [
    'trend posts.csv',
    "trend 'posts-2026-w*.csv'",
    'trend --tag weekly',
    'trend latest --label truth --positive "spam=Likely spam"',
  ])
}

async function readTagged(engine: Engine, tag: string, labels: TrendLabels): Promise<Trend> {
  const trend = await engine.lookback.readTrend({ kind: 'tag', tag }, labels)
  if (trend.runs.length > 0) return trend
  throw new SluiceError({ id: 'trend_without_tag', tag })
}

const PATTERN = /[*?[{]/

/** The source may no longer exist, so look for its runs first; without any, take it as a pattern or run. */
async function readTrend(
  { env, err }: CliContext,
  engine: Engine,
  references: readonly string[],
  labels: TrendLabels,
): Promise<Trend> {
  const [reference = '', ...others] = references
  const paths = references.map((one) => resolveFromCaller(one, env))
  const [path = '', ...otherPaths] = paths
  const trend = await engine.lookback.readTrend({ kind: 'sources', paths: [path, ...otherPaths] }, labels)
  if (trend.runs.length > 0) {
    const sent = new Set(trend.runs.flatMap(listRunSources))
    const missing = paths.filter((one) => !sent.has(one))
    for (const one of missing) await err.writeLine(`No run sent ${one}.`)
    return trend
  }
  if (PATTERN.test(reference) && others.length === 0) {
    const pattern = /[\\/]/.test(reference) ? path : reference
    const matching = await engine.lookback.readTrend({ kind: 'pattern', pattern }, labels)
    if (matching.runs.length > 0) return matching
  }
  if (others.length > 0) throw await toWithoutRuns(engine, paths)
  try {
    const run = await resolveRun(engine, reference)
    return await engine.lookback.readTrend({ kind: 'sources', paths: listRunSources(run) }, labels)
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'RUN_NOT_FOUND') throw error
    throw await toWithoutRuns(engine, paths, error)
  }
}

async function toWithoutRuns(
  engine: Engine,
  paths: readonly string[],
  cause?: unknown,
): Promise<SluiceError> {
  const { runs } = await engine.runs.listRuns({ limit: RUN_PAGE_MAX })
  const known = [...new Set(runs.flatMap(listRunSources))].slice(0, SOURCES_LISTED)
  return new SluiceError({ id: 'trend_without_runs', source: paths.join(', '), known }, { cause })
}
