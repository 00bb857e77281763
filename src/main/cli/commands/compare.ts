import { basename } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { formatPercentileName } from '../../../shared/load/compare-text.ts'
import {
  describeVerdict,
  JUDGED_PERCENTILES,
  type SpeedQuestion,
  type SpeedVerdict,
} from '../../../shared/load/speed-gate.ts'
import { DEFAULT_BASELINE, isSameSubject, toBaselineSubject } from '../../../shared/lookback/baseline.ts'
import {
  CHANGES_LISTED,
  type ChangeFilter,
  type DecisionComparison,
  decisionComparisonSchema,
} from '../../../shared/lookback/comparison.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCount, formatCounted, formatShare, roundNoise } from '../../../shared/messages/figure-text.ts'
import { joinSentences } from '../../../shared/messages/join-sentences.ts'
import { toComparisonReport } from '../../../shared/report/comparison-report.ts'
import { toDecisionsReport } from '../../../shared/report/decisions-report.ts'
import { isLoadRun, type RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { annotate } from '../annotations.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { addLabelOptions, hasLabels, type LabelFlags, toLabelOptions } from '../options/label-options.ts'
import { createIntegerParser, parseFilledText } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import {
  addDocumentOptions,
  addExamples,
  addOverwriteOption,
  type DocumentFlags,
} from '../options/shared-options.ts'
import { addStepSummary, toSummaryPart } from '../session/github-actions.ts'
import { toSnakeCase } from '../terminal/output.ts'
import { formatReport } from '../terminal/report-text.ts'
import { type OverwriteFlags, toTargetOf } from '../written-files.ts'

interface CompareFlags extends DocumentFlags, LabelFlags, OverwriteFlags {
  base?: string[]
  with?: string[]
  againstBaseline?: true
  baseline?: string
  by?: string
  list?: ChangeFilter
  limit: number
  offset: number
  export?: string
  failIfSlower?: number
  judge?: readonly number[]
  failIfChanged?: number
}

/** Changed rows that can be listed at once; an export has all. */
const LIMIT_MAX = 1_000

function parsePercent(text: string): number {
  const percent = /^\d+(\.\d+)?\s*%?$/.test(text.trim()) ? Number.parseFloat(text) : Number.NaN
  if (Number.isNaN(percent))
    throw new InvalidArgumentError(`expected a percentage such as 10%, found \`${text}\`.`)
  return percent
}

/** A share of the rows, below 100 %: no run could exceed that. */
function parseShare(text: string): number {
  const percent = parsePercent(text)
  if (percent < 100) return percent
  throw new InvalidArgumentError(`expected less than 100%, which no run could exceed, found \`${text}\`.`)
}

/** `p50,p95`, in any order. */
function parsePercentiles(text: string): number[] {
  const percentiles = text.split(',').map((part) => {
    const percentile = /^\s*p?(\d{1,2}(\.\d{1,3})?)\s*$/i.exec(text.length > 200 ? '' : part)?.[1]
    if (percentile === undefined || Number(percentile) < 1)
      throw new InvalidArgumentError(`expected percentiles such as p50,p95, found \`${text}\`.`)
    return Number(percentile)
  })
  return [...new Set(percentiles)].sort((a, b) => a - b)
}

function parseChange(text: string): ChangeFilter {
  const colon = text.indexOf(':')
  const kind = (colon === -1 ? text : text.slice(0, colon)).trim().toLowerCase()
  const rule = colon === -1 ? '' : text.slice(colon + 1).trim()
  if (rule === '' && (kind === 'changed' || kind === 'outcome' || kind === 'from-cache')) return { kind }
  if (rule !== '' && (kind === 'newly' || kind === 'no-longer')) return { kind, rule }
  throw new InvalidArgumentError(
    `expected changed, outcome, from-cache, newly:RULE or no-longer:RULE, found \`${text}\`.`,
  )
}

/** Adds `compare A B`: what was decided differently, and whether B is slower and how certain that is. */
export function addCompareCommand(program: Command, context: CliContext): void {
  const command = program
    .command('compare')
    .argument('[a]', `earlier run (${RUN_ARGUMENT_HELP})`)
    .argument('[b]', `run to compare with A (${RUN_ARGUMENT_HELP})`)
    .description(
      'Compares two runs: which rows were decided differently, and whether B is slower than A. ' +
        'Load tests are compared by latency alone. The ranges shown for latency are 99 % confidence intervals.',
    )
    .optionsGroup('Several runs:')
    .option(
      '--base <runs...>',
      'runs of A, instead of the first argument: how they differ tells how much the service drifts',
    )
    .option('--with <runs...>', 'runs of B, instead of the second argument')
    .optionsGroup('Baseline:')
    .option(
      '--against-baseline',
      'compare one run (default: the newest that has a baseline) with the baseline of its connection and source',
    )
    .option('--baseline <name>', 'like --against-baseline, with the baseline of this name', parseFilledText)
    .optionsGroup('Changed rows:')
    .option(
      '--by <key>',
      'join rows by post_id, row, content or a column (default: post_id if it stays the same between runs, row if the rows of the source do, otherwise content)',
      parseFilledText,
    )
    .option(
      '--list <change>',
      'rows to list and export: changed, outcome, from-cache, newly:RULE or no-longer:RULE (default: changed)',
      parseChange,
    )
    .option('--limit <n>', 'changed rows to list', createIntegerParser(0, LIMIT_MAX), CHANGES_LISTED)
    .option('--offset <n>', 'changed rows to skip', createIntegerParser(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--export <file>', 'write all rows that match --list to a .csv, .xlsx or .jsonl file')
  addOverwriteOption(command)
  addLabelOptions(command)
    // Scripts may still give it, from when intervals were drawn at random.
    .addOption(new Option('--seed <n>').argParser(createIntegerParser(0, 2 ** 32 - 1)).hideHelp())
    .optionsGroup('Checks:')
    .option(
      '--fail-if-slower <percent>',
      `exit with ${EXIT.thresholdCrossed} if B is slower than A by significantly more than this, such as 10%, or has more failures; with ${EXIT.notJudged} if that cannot be judged`,
      parsePercent,
    )
    .option(
      '--judge <percentiles>',
      `percentiles that --fail-if-slower judges (default: ${JUDGED_PERCENTILES.map(formatPercentileName).join(',')})`,
      parsePercentiles,
    )
    .option(
      '--fail-if-changed <percent>',
      `exit with ${EXIT.thresholdCrossed} if more than this share of the rows changed, such as 1%; with ${EXIT.notJudged} if that cannot be judged`,
      parseShare,
    )
    .optionsGroup('Options:')
  addDocumentOptions(command).action(
    async (a: string | undefined, b: string | undefined, flags: CompareFlags) => {
      const baseline = flags.baseline ?? (flags.againstBaseline ? DEFAULT_BASELINE : null)
      const isLabelled = hasLabels(flags)
      refuseContradictions(a, b, baseline, flags, isLabelled)
      await withEngine(context, flags.workspace, async (engine) => {
        const [base, others] = await findSides(engine, [a, b], baseline, flags)
        const [[earlier], [later]] = [base, others]
        const { gate, ...comparison } = await engine.lookback.compareRuns(
          base.map(({ run_id: id }) => id),
          others.map(({ run_id: id }) => id),
          toQuestion(flags),
        )
        const isPair = base.length === 1 && others.length === 1
        const labels = isLabelled ? toLabelOptions(flags, context.env) : null
        const decisions =
          isPair && (asksForDecisions(flags, isLabelled) || haveDecisions(earlier, later))
            ? await engine.lookback.compareDecisions(earlier.run_id, later.run_id, {
                by: flags.by ?? null,
                list: flags.list ?? { kind: 'changed' },
                offset: flags.offset,
                limit: flags.limit,
                ...(flags.export !== undefined && {
                  exportFile: await toTargetOf(context, engine, earlier.run_id, flags.export, flags, [
                    (await engine.runs.readPlan(later.run_id)).source,
                    ...(labels?.labels === undefined ? [] : [labels.labels.source]),
                  ]),
                }),
                labels,
              })
            : null
        const toSections = () =>
          toComparisonReport(comparison, decisions === null ? [] : toDecisionsReport(decisions))
        if (flags.json) {
          await writeDocument(context.out, {
            a_run_id: earlier.run_id,
            b_run_id: later.run_id,
            a_run_ids: base.map(({ run_id: id }) => id),
            b_run_ids: others.map(({ run_id: id }) => id),
            ...(toSnakeCase(comparison) as object),
            gate,
            decisions: decisions === null ? null : decisionComparisonSchema.parse(decisions),
          })
        } else {
          await context.out.writeLine(formatReport(context.outTerminal, toSections()))
        }
        await addStepSummary(context, () =>
          toSummaryPart('Comparison', [
            ...toSections(),
            ...(gate === null ? [] : [{ lines: describeVerdict(gate) }]),
          ]),
        )
        if (gate !== null) await checkSlower(context, gate)
        if (decisions !== null) await checkChanged(context, decisions, flags.failIfChanged)
      })
    },
  )
  addExamples(
    command,
    [
      'compare 20261121-0915 latest',
      'compare 20261121-0915 latest --fail-if-slower 10%',
      'compare --base 20261121-0915 --with latest --fail-if-slower 10% --judge p50,p95',
      'compare --against-baseline --fail-if-changed 1%',
      'compare latest --against-baseline --label truth --positive "spam=Likely spam" --export changed.csv',
    ],
    `0 if every check holds, ${EXIT.thresholdCrossed} if one does not, ${EXIT.notJudged} if one cannot be judged`,
  )
}

function refuseContradictions(
  a: string | undefined,
  b: string | undefined,
  baseline: string | null,
  flags: CompareFlags,
  isLabelled: boolean,
): void {
  if (flags.judge !== undefined && flags.failIfSlower === undefined) {
    throw new InvalidArgumentError('--judge belongs to --fail-if-slower.')
  }
  if (flags.base !== undefined || flags.with !== undefined) {
    if (flags.base === undefined || flags.with === undefined || a !== undefined || baseline !== null) {
      throw new InvalidArgumentError(
        'Name the runs of both sides by --base and --with, without further runs or a baseline.',
      )
    }
    if (asksForDecisions(flags, isLabelled)) {
      throw new InvalidArgumentError(
        'Rows are compared between two runs. --base and --with compare latencies and failures alone.',
      )
    }
    return
  }
  if (baseline === null && b === undefined) {
    throw new InvalidArgumentError('Name two runs, or one and --against-baseline.')
  }
  if (baseline !== null && b !== undefined) {
    throw new InvalidArgumentError('--against-baseline takes one run, found two.')
  }
}

/** The runs of a side; it has at least one. */
type RunsOfSide = [RunSummary, ...RunSummary[]]

async function findSides(
  engine: Engine,
  [a = '', b = '']: readonly (string | undefined)[],
  baseline: string | null,
  flags: CompareFlags,
): Promise<[a: RunsOfSide, b: RunsOfSide]> {
  const find = async ([first = '', ...others]: readonly string[]): Promise<RunsOfSide> => {
    const runs: RunsOfSide = [await resolveRun(engine, first)]
    for (const reference of others) runs.push(await resolveRun(engine, reference))
    return runs
  }
  const sides: [RunsOfSide, RunsOfSide] =
    baseline === null
      ? [await find(flags.base ?? [a]), await find(flags.with ?? [b])]
      : await findBaselineOf(engine, a === '' ? null : a, baseline)
  // An older retry is a run of its own, and part of the run that it retries.
  const ids = sides
    .flat()
    .flatMap(({ run_id: id, sessions }) => [...new Set([id, ...sessions.map((session) => session.run_id)])])
  const isChecked = (flags.base ?? flags.failIfSlower ?? flags.failIfChanged) !== undefined
  const twice = isChecked ? ids.find((id, index) => ids.indexOf(id) < index) : undefined
  if (twice !== undefined) {
    throw new InvalidArgumentError(
      flags.base === undefined
        ? `A and B both contain run ${twice}, so a check could only pass.`
        : `Run ${twice} is named twice: each run counts once.`,
    )
  }
  return sides
}

function toQuestion({ failIfSlower, judge }: CompareFlags): SpeedQuestion | null {
  return failIfSlower === undefined
    ? null
    : { margin: failIfSlower, percentiles: judge ?? JUDGED_PERCENTILES }
}

/** A run and its baseline; without a named run, the newest run that has one. */
async function findBaselineOf(
  engine: Engine,
  reference: string | null,
  name: string,
): Promise<[earlier: RunsOfSide, later: RunsOfSide]> {
  const baselines = engine.lookback.readBaselines().filter((baseline) => baseline.name === name)
  const findOf = (run: RunSummary) =>
    baselines.find((baseline) => isSameSubject(baseline, toBaselineSubject(run)))
  let later: RunSummary | undefined
  if (reference !== null) later = await resolveRun(engine, reference)
  else {
    await engine.runs.settleLate()
    for (const source of new Set(baselines.map((baseline) => baseline.source))) {
      const { runs } = await engine.runs.listRuns({ search: basename(source), order: 'newest' })
      const isBaseline = (run: RunSummary) => baselines.some(({ run_id: runId }) => runId === run.run_id)
      const newest = runs.find((run) => findOf(run) !== undefined && !isBaseline(run))
      // Ids begin with the time that a run was made.
      if (newest !== undefined && newest.run_id > (later?.run_id ?? '')) later = newest
    }
  }
  const baseline = later === undefined ? undefined : findOf(later)
  if (later === undefined || baseline === undefined) {
    const { run_id: runId = null, source = null } = later ?? {}
    if (runId === null && baselines.length > 0) throw new SluiceError({ id: 'baseline_alone', name })
    throw new SluiceError({ id: 'baseline_missing', name, runId, source })
  }
  const { run_id: runId } = baseline
  if (runId === later.run_id) throw new SluiceError({ id: 'baseline_is_run', name, runId })
  const earlier = await engine.runs.summarizeRun(runId).catch((error: unknown) => {
    if (!(error instanceof SluiceError) || error.code !== 'RUN_NOT_FOUND') throw error
    throw new SluiceError({ id: 'baseline_deleted', name, runId }, { cause: error })
  })
  return [[earlier], [later]]
}

function asksForDecisions(
  { by, list, export: file, failIfChanged }: CompareFlags,
  isLabelled: boolean,
): boolean {
  return isLabelled || (by ?? list ?? file ?? failIfChanged) !== undefined
}

function haveDecisions(a: RunSummary, b: RunSummary): boolean {
  return !isLoadRun(a) && !isLoadRun(b) && a.operation === b.operation
}

async function checkSlower(context: CliContext, verdict: SpeedVerdict): Promise<void> {
  if (verdict.result === 'failed') context.exitCode = EXIT.thresholdCrossed
  if (verdict.result === 'not_judged') context.exitCode = EXIT.notJudged
  const lines = describeVerdict(verdict)
  for (const line of lines) await context.err.writeLine(line)
  if (verdict.result === 'passed') return
  const title = verdict.result === 'failed' ? 'Slower, or more failures' : 'Not judged'
  await annotate(context, [{ level: 'error', title, message: joinSentences(lines) }])
}

async function checkChanged(
  context: CliContext,
  { a, joined, from_cache: cached, unanswered }: DecisionComparison,
  percent: number | undefined,
): Promise<void> {
  if (percent === undefined) return
  const say = async (title: string, message: string) => {
    await context.err.writeLine(message)
    await annotate(context, [{ level: 'error', title, message }])
  }
  // Compared as shares: `rows * (29 / 100)` is less than 29 for 100 rows.
  const share = roundNoise(percent / 100)
  // Judged apart: decisions that the service repeats from its cache would hide changes of the other rows.
  const others = { rows: joined.rows - cached.rows, changed: joined.changed - cached.changed }
  const over = [
    { what: 'rows', ...others },
    { what: 'rows analysed before', ...cached },
  ].filter(({ rows, changed }) => changed / rows > share)
  if (over.length === 0) {
    // Rows without an answer in B may have changed as well.
    const unknown = a.rows - joined.rows + unanswered
    if (joined.decided > 0 && unknown / a.rows <= share) return
    if (context.exitCode === 0) context.exitCode = EXIT.notJudged
    const why =
      joined.rows === 0
        ? 'the runs have no row in common'
        : joined.decided === 0
          ? 'no row was answered in both runs'
          : `${formatCount(unknown)} of the ${formatCounted(a.rows, 'row')} of A ${unknown === 1 ? 'has' : 'have'} nothing in B to be compared with, or no answer in either run`
    return say('Not judged', `--fail-if-changed cannot be judged: ${why}.`)
  }
  context.exitCode = EXIT.thresholdCrossed
  const list = over.map(
    ({ what, rows, changed }) =>
      `${formatCount(changed)} of ${formatCounted(rows, 'row').replace(/rows?$/, what)} (${formatShare(changed, rows)})`,
  )
  await say('Changed rows', `More than ${percent} % changed: ${list.join(', ')}.`)
}
