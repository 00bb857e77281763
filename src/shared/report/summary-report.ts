import { LATENCY_POINTS, type LoadFact, type LoadView, noteFewMeasured } from '../load/load-view.ts'
import { TREND_METRICS, type TrendMetric } from '../load/metrics.ts'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatFigure,
  formatRate,
} from '../messages/figure-text.ts'
import { sayCorrected } from '../messages/fix-messages.ts'
import { adviseInTerminal } from '../messages/outcome-advice.ts'
import { isStallShown } from '../messages/own-delays.ts'
import { listReadAs } from '../messages/reading-messages.ts'
import { listUsedMapping } from '../messages/used-mapping-words.ts'
import { nameRow } from '../plan/source-place.ts'
import { countSendable, sayOtherMessages, toErrorCauses } from '../run/counts.ts'
import { OUTCOMES } from '../run/item-state.ts'
import { nameTriggeredRules } from '../run/rule-names.ts'
import {
  countSucceededOf,
  type ErrorCause,
  listRowWarnings,
  noteUnsuccessful,
  type Percentiles,
  type RowCounts,
  type RunSummary,
} from '../run/run.ts'
import {
  type CountedRows,
  describeCached,
  describeCallbacks,
  describeLost,
  describeThrottling,
  listAnswers,
  listOutcomes,
  RATE_MIN_S,
} from '../run/run-view.ts'
import { listSentBefore, type SentBeforeSummary } from '../run/sent-before.ts'
import {
  bar,
  type Cell,
  code,
  count,
  type Fact,
  figure,
  foreign,
  partOf,
  type Section,
  type Sign,
  share,
  type Table,
  type Tone,
  text,
} from './report.ts'

/** Entries shown of each list; a document has more. */
const SHOWN = { terms: 5, groups: 10, rules: 15, files: 10 } as const

/** The whole run below its heading: first what one must know; then rows, requests, latency, rules, errors. */
export function toSummaryReport(summary: RunSummary, commandPrefix: string): Section[] {
  const machine = listMachineFacts(summary)
  const { limited } = summary.generator
  return [
    { facts: limited ? machine : [] },
    { facts: listWarningFacts(summary) },
    {
      facts: [
        ...listSourceFacts(summary),
        toRowsFact(summary),
        toSentBeforeFact(summary),
        ...(summary.corrected === undefined
          ? []
          : [{ label: 'Corrected', lines: [sayCorrected(summary.corrected)] }]),
      ],
    },
    { facts: listAnswerFacts(summary) },
    { facts: listRequestFacts(summary) },
    toLatency(summary),
    { facts: listRuleFacts(summary) },
    { facts: listErrorFacts(summary, commandPrefix) },
    { facts: limited ? [] : machine },
  ]
}

/** A run in a few facts: rows, answers, callbacks and durations. */
export function toBriefReport(summary: RunSummary): Section[] {
  return [
    { facts: [toRowsFact(summary), ...listAnswerFacts(summary), ...listCallbackFacts(summary)] },
    toLatency(summary, ['http_req_duration', 'callback_latency']),
  ]
}

export function toFact({ label, value, note, tone }: LoadFact): Fact {
  const said = note === undefined ? value : `${value}, ${note}`
  return { label, lines: [tone === undefined ? said : { text: said, tone }] }
}

/** How the source was read, one line per file, and what filled the fields; unknown facts are left out. */
export function listSourceFacts({
  source_read: sourceRead,
  mapping,
}: {
  source_read?: Pick<NonNullable<RunSummary['source_read']>, 'read_as'> | null | undefined
  mapping?: RunSummary['mapping'] | undefined
}): Fact[] {
  const files = sourceRead?.read_as ?? []
  const left = files.length - SHOWN.files
  return [
    {
      label: 'Read as',
      lines: [
        ...listReadAs(files.slice(0, SHOWN.files), 'terminal'),
        ...(left > 0 ? [`and ${left} more ${left === 1 ? 'file' : 'files'}`] : []),
      ],
    },
    { label: 'Mapping', lines: mapping === undefined ? [] : listUsedMapping(mapping) },
  ]
}

/** Problems on the way to the service, and warnings about rows by cause. */
export function listWarningFacts({ warnings }: Pick<RunSummary, 'warnings'>): Fact[] {
  return [
    ...warnings
      .filter(({ rows }) => rows === undefined)
      .map(({ message }) => ({ label: 'Warning', lines: [{ text: message, tone: 'warn' as const }] })),
    {
      label: 'Warnings',
      table: {
        columns: [text(''), { ...text(''), isWrapped: true }],
        rows: listRowWarnings(warnings).map(({ rows, message }) => [
          { text: formatCounted(rows, 'row'), tone: 'warn' },
          { text: message, tone: 'warn' },
        ]),
      },
    },
  ]
}

const SIGNS: Readonly<Record<string, Sign>> = {
  succeeded: 'ok',
  rejected: 'rejected',
  failed: 'failed',
  unknown: 'unknown',
  overdue: 'unknown',
  invalid: 'skipped',
  'left out': 'skipped',
  skipped: 'skipped',
}

export function toRowsFact(summary: RunSummary): Fact {
  const { read } = summary.rows
  return {
    label: 'Rows',
    table: {
      columns: [
        { ...text(''), least: 12 },
        count(''),
        { ...share(''), least: 8 },
        { ...text(''), isOptional: true },
      ],
      rows: [
        [{ text: 'read', sign: 'none' }, read, '', ''],
        ...listOutcomes(summary).map(({ name, rows, tone, meaning }) => [
          { text: name, tone, sign: SIGNS[name] ?? ('dot' as const) },
          ...[rows, partOf(rows, read), toMeaning(meaning)],
        ]),
      ],
      gap: 1,
    },
  }
}

function toMeaning(meaning: string): Cell {
  return { text: meaning === '' ? '' : ` ${meaning}`, tone: 'quiet' }
}

/** Rows by outcome or answer, for a page or a sheet. */
export function toCounts(counts: readonly CountedRows[], all: number): Table {
  return {
    columns: [text('outcome'), count('rows'), share('share'), bar(''), text('meaning')],
    rows: counts.map(({ name, rows, meaning, tone }) => [
      ...[name, rows, partOf(rows, all), { text: partOf(rows, all), tone }, meaning],
    ]),
  }
}

/** What earlier runs sent of the source, and what is skipped because of that; no lines if nothing. */
export function toSentBeforeFact({
  rows,
  sent_before: sentBefore,
  only_new: isOnlyNew = false,
}: {
  rows: RowCounts
  sent_before?: SentBeforeSummary | null | undefined
  only_new?: boolean | undefined
}): Fact {
  const { skipped } = rows
  const sendable = countSendable(rows)
  return {
    label: 'Sent before',
    lines: listSentBefore(sentBefore, { skipped, sendable, isOnlyNew }, 'terminal'),
  }
}

/**
 * What the service did with terms, items or appeals, with the first unprocessed terms by name; empty for
 * other operations.
 */
export function listAnswerFacts(summary: RunSummary): Fact[] {
  const found = listAnswers(summary)
  if (found === null) return []
  const { rows, terms } = summary
  const { title, answers } = found
  if (answers.length === 0) {
    const isRefused = rows.rejected > 0 && rows.rejected === countSendable(rows)
    return [{ label: title, lines: [isRefused ? 'none: every request was refused' : 'none answered'] }]
  }
  const failed = terms?.failed ?? []
  return [
    {
      label: title,
      table: {
        columns: [text(''), count(''), { ...text(''), isOptional: true }],
        rows: answers.map(({ name, rows: answered, tone, meaning }) => [
          ...[{ text: name, tone }, answered, toMeaning(meaning)],
        ]),
        gap: 1,
      },
    },
    {
      label: '',
      table: {
        columns: [foreign('', 1)],
        rows: failed
          .slice(0, SHOWN.terms)
          .map(({ term, notes, ...named }) => [
            `row ${nameRow(named)}: ${term}${notes === null || notes === '' ? '' : `, notes ${notes}`}`,
          ]),
      },
      notes: listMore(failed.length - SHOWN.terms, 'term', '--json has them'),
    },
  ]
}

function listMore(left: number, noun: string, where: string): string[] {
  return left > 0 ? [`and ${formatCounted(left, noun)} more; ${where}`] : []
}

/** Processed callbacks and their outcomes; empty for sync runs. */
export function listCallbackFacts({ callbacks }: Pick<RunSummary, 'callbacks'>): Fact[] {
  if (callbacks === undefined) return []
  const tone = callbacks.unreadable > 0 ? 'warn' : 'plain'
  return [{ label: 'Callbacks', lines: [{ text: describeCallbacks(callbacks), tone }] }]
}

/** Whether answers prove which rows they belong to; null if all do, or none was compared. */
function describeEchoes({ echoes }: Pick<RunSummary, 'echoes'>): string | null {
  if (echoes === undefined) return null
  const { verified, alike, not_verifiable: unverifiable, mismatched } = echoes
  if (alike + unverifiable + mismatched === 0) return null
  const parts = [
    ...(verified > 0 ? [`${formatCounted(verified, 'answer')} repeated the id that was sent`] : []),
    ...(alike > 0 ? [`${formatCount(alike)} of them in another case, form or spacing`] : []),
    ...(unverifiable > 0 ? [`${formatCount(unverifiable)} repeated none and cannot be verified`] : []),
    ...(mismatched > 0
      ? [
          `${formatCount(mismatched)} named another id and ${mismatched === 1 ? 'counts' : 'count'} as unknown`,
        ]
      : []),
  ]
  return parts.join('; ')
}

/** Requests by outcome, their rate, and what the service reported about rate limit, cache and callbacks. */
export function listRequestFacts(summary: RunSummary): Fact[] {
  const { requests, retry_after: asked } = summary
  const kinds = ([...OUTCOMES, 'retried'] as const)
    .filter((kind) => kind === 'succeeded' || requests[kind] > 0)
    .map((kind) => `${formatCount(requests[kind])} ${kind}`)
  const throttling = describeThrottling(summary)
  const facts: (readonly [label: string, line: string | null])[] = [
    [
      'Requests',
      requests.sent === 0 ? 'none sent' : `${formatCount(requests.sent)} sent: ${kinds.join(', ')}`,
    ],
    ['Throughput', requests.sent === 0 ? null : describeThroughput(summary)],
  ]
  const notes: typeof facts = [
    ['Throttling', throttling],
    [
      'Retry-After',
      asked.answers === 0
        ? null
        : `${formatCounted(asked.answers, 'answer')} asked to wait${asked.waited_s === 0 ? '' : `; rows were put off by ${formatDuration(asked.waited_s * 1000)} in total`}`,
    ],
    ['Echoes', describeEchoes(summary)],
    ['From cache', describeCached(summary)],
    ['No result', describeLost(summary)],
  ]
  const toFacts = (all: typeof facts) =>
    all.flatMap(([label, line]) => (line === null ? [] : [{ label, lines: [line] }]))
  return [...toFacts(facts), ...listCallbackFacts(summary), ...toFacts(notes)]
}

function describeThroughput({ throughput, callbacks }: RunSummary): string {
  const duration = formatDuration(throughput.duration_s * 1000)
  if (throughput.duration_s < RATE_MIN_S) return `sent for only ${duration}: too short for a rate`
  const rates = `${formatRate(throughput.attempted_per_s)} requests/s, ${formatRate(throughput.succeeded_per_s)} rows`
  return callbacks === undefined
    ? `${rates} succeeded/s, over ${duration}`
    : `${rates} accepted/s, over ${duration} (excludes waiting for callbacks)`
}

/** Measured latency series, in milliseconds; all of them by default. */
export function toLatency(
  { latency_ms }: Pick<RunSummary, 'latency_ms'>,
  wanted: readonly TrendMetric[] = TREND_METRICS,
): Section {
  const measured = wanted.flatMap((name) => {
    const series: Percentiles | undefined = latency_ms[name]
    return series === undefined || series.count === 0 ? [] : [{ name, series }]
  })
  if (measured.length === 0) return {}
  return {
    title: 'Latency in ms',
    tables: [
      {
        columns: [
          ...[text(''), count('count')],
          ...LATENCY_POINTS.map(([point, title]) =>
            FEW_POINTS.has(point) ? figure(title) : { ...figure(title), isOptional: true as const },
          ),
        ],
        rows: measured.map(({ name, series }) => [
          ...[name, series.count],
          ...LATENCY_POINTS.map(([point]) => series[point]),
        ]),
      },
    ],
    notes: noteFewMeasured(measured.map(({ name, series: { count } }) => ({ metric: name, count }))).map(
      (note) => ({ text: note, tone: 'quiet' }),
    ),
  }
}

/** Measured latencies in milliseconds, for a page or a sheet. */
export function toLatencyTable(latencies: LoadView['latencies']): Table {
  return {
    columns: [code(''), count('samples'), ...LATENCY_POINTS.map(([, title]) => figure(title))],
    rows: latencies.map(({ metric, meaning, percentiles }) => [
      ...[{ text: metric, meaning }, percentiles.count],
      ...LATENCY_POINTS.map(([point]) => percentiles[point]),
    ]),
  }
}

/** Narrow terminals show only these. */
const FEW_POINTS: ReadonlySet<keyof Percentiles> = new Set(['p50', 'p95', 'p99', 'max'] as const)

/** Triggered rules, most rows first. */
function listRuleFacts({ triggered_rules: rules, rows: { succeeded }, operation }: RunSummary): Fact[] {
  const label = 'Triggered rules'
  if (rules.length === 0) return succeeded === 0 || operation !== 'task' ? [] : [{ label, lines: ['none'] }]
  const nameOf = nameTriggeredRules(rules)
  return [
    {
      label,
      table: {
        columns: [foreign('', 12), count('rows'), share('of succeeded'), bar('')],
        rows: rules
          .slice(0, SHOWN.rules)
          .map((rule) => [
            ...[nameOf.get(rule.rule_id) ?? rule.rule_name, rule.rows],
            ...[partOf(countSucceededOf(rule), succeeded), rule.rows],
          ]),
        gap: 1,
      },
      notes: [
        ...noteUnsuccessful(rules),
        ...listMore(rules.length - SHOWN.rules, 'rule', '--json has them all'),
      ],
    },
  ]
}

/** The tone of an outcome without success. */
const OUTCOME_TONES: Readonly<Record<ErrorCause['outcome'], Tone>> = {
  invalid: 'warn',
  rejected: 'bad',
  failed: 'warn',
  unknown: 'odd',
  overdue: 'odd',
}

/** Unsuccessful rows by cause, most first, each with what to do about it. */
function listErrorFacts(summary: RunSummary, commandPrefix: string): Fact[] {
  // Rows that failed the checks are listed by cause, with examples, after the summary.
  const causes = toErrorCauses(summary.errors.filter((group) => group.outcome !== 'invalid'))
  return [
    toErrorsFact(
      causes.slice(0, SHOWN.groups).map((cause) => {
        const advice = adviseInTerminal(cause, summary)
        return {
          count: cause.rows,
          outcome: cause.outcome,
          cause: nameCause(cause),
          advice: advice?.text ?? null,
          ...(advice?.command === undefined ? {} : { command: `${commandPrefix} ${advice.command}` }),
        }
      }),
      causes.length - SHOWN.groups,
      10,
    ),
  ]
}

/** Failures by cause, each with advice and a command that is never wrapped. */
export function toErrorsFact(
  causes: readonly {
    count: number
    outcome: ErrorCause['outcome']
    cause: string
    advice: string | null
    command?: string
  }[],
  left: number,
  least: number,
): Fact {
  return {
    label: 'Errors',
    table: {
      columns: [count(''), { ...text(''), least }, { ...foreign(''), isWrapped: true }],
      rows: causes.map(({ count: counted, outcome, cause, advice, command }) => [
        counted,
        { text: outcome, tone: OUTCOME_TONES[outcome] },
        {
          text: cause,
          ...(advice === null ? {} : { meaning: advice }),
          ...(command === undefined ? {} : { command }),
        },
      ]),
      gap: 1,
    },
    notes: listMore(left, 'cause', '--json has them all'),
  }
}

function nameCause({ status, error_code: code, message, messages }: ErrorCause): string {
  const name = [status ?? '', code !== null && !message.includes(code) ? code : ''].filter(
    (part) => part !== '',
  )
  return [name.join(' '), message].filter(Boolean).join(': ') + sayOtherMessages(messages - 1)
}

/** Whether this machine, rather than the service, set the pace. */
function listMachineFacts({ generator }: RunSummary): Fact[] {
  const { dropped, waited, held_by_service: held = 0 } = generator
  const { start_lag_p99_ms: lagMs, event_loop_max_ms: stallMs } = generator
  const own = waited - held
  const facts = [
    ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
    ...(own > 0
      ? [`${formatCounted(own, 'request')} waited, since as many as allowed were in flight (--concurrency)`]
      : []),
    ...(held > 0
      ? [
          `${formatCounted(held, 'request')} waited while the service could not be reached or limited the rate`,
        ]
      : []),
    ...(lagMs === null ? [] : [`start lag p99 ${formatFigure(lagMs)} ms`]),
    ...(isStallShown(generator.limited, stallMs) ? [`longest stall ${formatFigure(stallMs)} ms`] : []),
  ].join(', ')
  const label = 'This machine'
  if (!generator.limited) return facts === '' ? [] : [{ label, lines: [`kept up: ${facts}`] }]
  const said = `may have added delays to latencies${facts === '' ? '' : `: ${facts}`}`
  return [{ label, lines: [{ text: said, tone: 'warn' }] }]
}
