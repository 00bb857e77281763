import { type Command, InvalidArgumentError, Option } from 'commander'
import stringWidth from 'fast-string-width'
import {
  FOUND_STATES,
  RUN_ORDERS,
  RUN_PAGE_MAX,
  RUN_PRODUCTS,
  type RunListQuery,
  type RunPage,
} from '../../../../shared/lookback/run-list.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatCount, formatCounted, formatFigure } from '../../../../shared/messages/figure-text.ts'
import { formatMinute } from '../../../../shared/messages/moment-text.ts'
import { OPERATION_KINDS } from '../../../../shared/operations/operations.ts'
import { type Column, foreign, number, text } from '../../../../shared/report/report.ts'
import {
  hasNoSuccess,
  isLoadRun,
  listRetries,
  type RunSummary,
  toShownState,
} from '../../../../shared/run/run.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../../engine-access.ts'
import {
  collect,
  createChoiceCollector,
  createIntegerParser,
  parseDurationMs,
} from '../../options/parse-values.ts'
import { addExamples, addWorkspaceOption, type DocumentFlags } from '../../options/shared-options.ts'
import { formatTable } from '../../terminal/layout.ts'
import { toPrintable } from '../../terminal/output.ts'
import { addRunsEditCommand } from './edit.ts'
import { addRunsPruneCommand, addRunsRetentionCommand } from './prune.ts'

/** A column of the list; on a narrow terminal, columns with the lowest `keep` are dropped first. */
interface RunColumn {
  column: Column
  keep: number
  toCell(run: RunSummary): string
  /** Dropped if every run has 0 there, to leave room for the names. */
  isOptional?: true
}

const always = (column: Column, keep: number, toCell: RunColumn['toCell']): RunColumn => ({
  column,
  keep,
  toCell,
})
const optional = (...given: Parameters<typeof always>): RunColumn => ({
  ...always(...given),
  isOptional: true,
})

const COLUMNS: readonly RunColumn[] = [
  always(text('RUN'), 9, (run) => run.run_id),
  always(foreign('NAME', 8), 9, (run) => toPrintable(run.name)),
  always(text('STATE'), 9, toShownState),
  always(number('ROWS'), 9, ({ rows }) => formatCount(rows.read)),
  always(number('OK'), 9, (run) => formatCount(toEnded(run).succeeded)),
  always(number('REJECTED'), 8, (run) => formatCount(toEnded(run).rejected)),
  always(number('FAILED'), 6, (run) => formatCount(toEnded(run).failed)),
  always(number('UNKNOWN'), 6, (run) => formatCount(toEnded(run).unknown)),
  optional(number('OVERDUE'), 5, ({ rows }) => formatCount(rows.overdue)),
  optional(number('AWAITING'), 5, ({ rows }) => formatCount(rows.awaiting)),
  optional(number('INVALID'), 4, ({ rows }) => formatCount(rows.invalid)),
  // A load test repeats or cuts its source to fit its pace.
  optional(number('NOT SENT'), 4, (run) => (isLoadRun(run) ? '' : formatCount(run.rows.not_sent))),
  optional(number('REQUESTS'), 7, (run) => (isLoadRun(run) ? formatCount(run.requests.sent) : '')),
  optional(text('THRESHOLDS'), 8, formatThresholds),
  optional(number('RETRIES'), 7, (run) => formatCount(listRetries(run).length)),
  optional(foreign('TAGS', 8), 6, ({ tags = [] }) => toPrintable(tags.join(', '))),
  always(number('P95 MS'), 1, toP95),
  always(text('OPERATION'), 3, toOperation),
  always(text('STARTED'), 2, (run) => formatMinute(run.started_at ?? run.created_at)),
]

function toEnded(run: RunSummary): Pick<RunSummary['rows'], 'succeeded' | 'rejected' | 'failed' | 'unknown'> {
  return isLoadRun(run) ? run.requests : run.rows
}

function isNothing(cell: string): boolean {
  return cell === '0' || cell === ''
}

function toP95({ latency_ms }: RunSummary): string {
  const p95 = latency_ms.http_req_duration?.p95
  return p95 === undefined ? '' : formatFigure(p95)
}

/**
 * `passed`, how many thresholds of a load test failed, or `no success`, which fails it even without
 * thresholds. Empty for other runs, and if nothing is judged.
 */
function formatThresholds(summary: RunSummary): string {
  const { thresholds, state } = summary
  if (thresholds === undefined) return ''
  const crossed = thresholds.filter(({ ok }) => !ok).length
  if (crossed === 0 && state !== 'running' && hasNoSuccess(summary)) return 'no success'
  if (thresholds.length === 0) return ''
  return crossed === 0 ? 'passed' : `${crossed} of ${thresholds.length} failed`
}

function toOperation(run: RunSummary): string {
  const { operation, mode } = run
  return `${isLoadRun(run) ? 'load ' : ''}${mode === 'async' ? `${operation} async` : operation}`
}

/** The columns that fit side by side, each at its minimum width. */
function chooseColumns(runs: readonly RunSummary[], room: number): RunColumn[] {
  const toWidth = ({ column: { title, minColumns }, toCell }: RunColumn) => {
    const widest = Math.max(title.length, ...runs.map((run) => stringWidth(toCell(run))))
    return minColumns === undefined ? widest : Math.min(minColumns, widest)
  }
  let chosen = COLUMNS.filter(
    ({ isOptional, toCell }) => !isOptional || runs.some((run) => !isNothing(toCell(run))),
  )
  const width = () => chosen.reduce((sum, column) => sum + toWidth(column) + 2, -2)
  const isIdle = ({ keep, toCell }: RunColumn) => keep < 9 && runs.every((run) => isNothing(toCell(run)))
  while (width() > room) {
    const least = Math.min(...chosen.map(({ keep }) => keep))
    const given = chosen.findLast(isIdle) ?? chosen.findLast(({ keep }) => keep === least && keep < 9)
    if (given === undefined) break
    chosen = chosen.filter((column) => column !== given)
  }
  return chosen
}

/** Runs on a page by default. */
const PAGE_RUNS = 50

interface ListFlags extends DocumentFlags {
  search?: string
  type?: NonNullable<RunListQuery['product']>
  operation?: NonNullable<RunListQuery['operations']>
  state?: NonNullable<RunListQuery['states']>
  failed?: true
  connection?: string
  tag?: string[]
  /** Unix milliseconds. */
  since?: number
  until?: number
  sort: NonNullable<RunListQuery['order']>
  limit?: number
  page: number
}

/** Adds `runs`: searches the workspace's runs, newest first; its own commands edit and prune many at once. */
export function addRunsCommand(program: Command, context: CliContext): void {
  const command = program
    .command('runs')
    // Options after `edit` or `prune` belong to those.
    .enablePositionalOptions()
    .description(
      'Lists the runs of the workspace, newest first. A run and its retries count as one. Filters are combined: a run must match all of them.',
    )
    .optionsGroup('Which runs:')
    .option(
      '--search <words>',
      "words in the run's id, name, file name, tags, note, connection, watchlist or index",
    )
    .addOption(new Option('--type <type>', 'bulk runs, or load tests').choices(RUN_PRODUCTS))
    .option(
      '--operation <name>',
      'operation, such as task or index-add; repeatable',
      createChoiceCollector(OPERATION_KINDS),
    )
    .option('--state <state>', `${FOUND_STATES.join(', ')}; repeatable`, createChoiceCollector(FOUND_STATES))
    .option('--failed', 'with unsuccessful rows or a failed threshold, or stopped by itself')
    .option('--connection <name>', 'name of a connection, or URL of a service')
    .option('--tag <tag>', 'tag that the run has; repeatable', collect)
    .option('--since <moment>', 'earliest creation: a date, a time, or an age such as 7d', (text) =>
      parseMoment(text, 0),
    )
    .option('--until <moment>', 'latest creation: a date (inclusive), a time, or an age such as 7d', (text) =>
      parseMoment(text, 1),
    )
    .optionsGroup('Order and pages:')
    .addOption(new Option('--sort <order>', 'order of the runs').choices(RUN_ORDERS).default('newest'))
    .option(
      '--limit <n>',
      `runs per page (default: ${PAGE_RUNS}; with --json all)`,
      createIntegerParser(1, RUN_PAGE_MAX),
    )
    .option('--page <n>', 'page number', createIntegerParser(1, 1_000_000), 1)
    .optionsGroup('Options:')
    .option('--json', 'one JSON array on stdout')
  addRunsEditCommand(command, context)
  addRunsPruneCommand(command, context)
  addRunsRetentionCommand(command, context)
  addWorkspaceOption(command).action((flags: ListFlags) => listRuns(context, flags))
  addExamples(command, [
    'runs --search posts --state completed',
    'runs --tag nightly --since 7d --sort p95',
    'runs --workspace ~/sluice-runs --json',
  ])
}

async function listRuns(context: CliContext, flags: ListFlags): Promise<void> {
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const limit = flags.limit ?? (flags.json && flags.page === 1 ? undefined : PAGE_RUNS)
  const page = await withEngine(context, workspace, async (engine) => {
    await engine.runs.settleLate()
    return engine.runs.listRuns(toQuery(flags, limit))
  })
  for (const { runId, message } of page.unreadable) {
    await context.err.writeLine(`sluice: run ${runId} cannot be read: ${toPrintable(message)}`)
  }
  if (page.all === 0 && page.unreadable.length > 0) {
    throw new SluiceError({ id: 'runs_unreadable', workspace, runs: page.unreadable.length })
  }
  if (flags.json) {
    const unreadable = page.unreadable.map(({ runId, message }) => ({ run_id: runId, unreadable: message }))
    await writeDocument(context.out, [...page.runs, ...unreadable])
    return
  }
  if (page.runs.length === 0) {
    await context.out.writeLine(describeNone(page, flags, workspace, context.outTerminal.commandPrefix))
    return
  }
  const columns = chooseColumns(page.runs, context.outTerminal.columns())
  const table = {
    columns: columns.map(({ column }) => column),
    rows: page.runs.map((run) => columns.map(({ toCell }) => toCell(run))),
  }
  await context.out.writeLine(formatTable(context.outTerminal, table).join('\n'))
  const shownBefore = (flags.page - 1) * (limit ?? 0)
  if (page.total > page.runs.length) {
    const shown = `${formatCount(shownBefore + 1)} to ${formatCount(shownBefore + page.runs.length)} of ${formatCounted(page.total, 'run')}`
    const isLast = shownBefore + page.runs.length >= page.total
    await context.err.writeLine(
      isLast ? `${shown}.` : `${shown}. For the next, add --page ${flags.page + 1}.`,
    )
  }
}

function toQuery(flags: ListFlags, limit: number | undefined): RunListQuery {
  const { search, type, operation, state, failed, connection, tag, since, until, sort, page } = flags
  return {
    ...(search !== undefined && { search }),
    ...(type !== undefined && { product: type }),
    ...(operation !== undefined && { operations: operation }),
    ...(state !== undefined && { states: state }),
    ...(failed && { failed }),
    ...(connection !== undefined && { connection }),
    ...(tag !== undefined && { tags: tag }),
    ...(since !== undefined && { fromMs: since }),
    ...(until !== undefined && { beforeMs: until }),
    order: sort,
    ...(limit !== undefined && { limit, offset: (page - 1) * limit }),
  }
}

function describeNone(
  { all, total }: RunPage,
  { page }: ListFlags,
  workspace: string,
  commandPrefix: string,
): string {
  if (all === 0) return `No runs in ${workspace}. To try Sluice, run: ${commandPrefix} demo`
  if (total > 0) return `Page ${page} is empty: ${formatCounted(total, 'run')} in total.`
  return `None of the ${formatCounted(all, 'run')} in ${workspace} matches.`
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/
const AGO = /^\d.*[a-z]$/

/** A date stands for its start, or for the start of the day `daysLater` days later. */
function parseMoment(text: string, daysLater: number): number {
  const trimmed = text.trim()
  const date = DATE.exec(trimmed)
  if (date !== null) {
    const [year = 0, month = 0, day = 0] = date.slice(1).map(Number)
    const isReal = new Date(year, month - 1, day).getDate() === day && month >= 1 && month <= 12
    if (isReal) return new Date(year, month - 1, day + daysLater).getTime()
  } else if (TIME.test(trimmed)) {
    const ms = Date.parse(trimmed.replace(' ', 'T'))
    if (!Number.isNaN(ms)) return ms
  } else if (AGO.test(trimmed)) return Date.now() - parseDurationMs(trimmed)
  throw new InvalidArgumentError(
    `expected a date such as 2026-11-21, a time such as 2026-11-21T09:30, or a duration such as 7d, found \`${text}\`.`,
  )
}
