import { formatSetDuration } from '../messages/duration.ts'
import {
  describeSlowest,
  formatBytes,
  formatCount,
  formatCounted,
  formatMs,
  formatRate,
  formatShare,
  sayFewMeasured,
} from '../messages/figure-text.ts'
import { nameAnswer, nameCode } from '../messages/name-code.ts'
import { ABOUT_DELAYS, isStallShown, MAY_INCLUDE_DELAYS } from '../messages/own-delays.ts'
import { sayOtherMessages } from '../run/counts.ts'
import { type Percentiles, sayNoSuccess } from '../run/run.ts'
import type { LoadErrorGroup, LoadFirstRequest, LoadReport } from './load-report.ts'
import { sayLoadSilence } from './load-silence.ts'
import { METRICS, TREND_METRICS, type TrendMetric } from './metrics.ts'
import { parseThreshold } from './threshold-parser.ts'
import { isOfOutcome } from './threshold-tags.ts'
import { formatThresholdMargin, formatThresholdValue, type ThresholdResult } from './thresholds.ts'

/** A figure with its name; the value includes the unit. */
export interface LoadFact {
  label: string
  value: string
  note?: string
  tone?: 'good' | 'bad' | 'warn'
}

export interface Notice {
  title: string
  text: string
  details: string[]
}

export interface LoadNotice extends Notice {
  /** The service answered nothing for long, this machine limited the load test, or it ended early. */
  kind: 'silent' | 'limited' | 'ended'
}

/** Requests of one model, content size or stage. */
interface LoadGroupRow {
  /** For a stage, its number from 0 and its name, both valid in the threshold tag `stage`. */
  label: string
  requests: string
  failedShare: string
  percentiles: Percentiles | null
}

interface LoadStageRow extends Omit<LoadGroupRow, 'percentiles'> {
  /** `50 → 200/s`, or `20 in flight`. */
  level: string
  perS: string
  /** http_req_duration of all requests and of those that succeeded, the latter null if equal. */
  all: Percentiles | null
  succeeded: Percentiles | null
}

/**
 * A load test's report in words and in figures with units, for the terminal, the HTML report and the window.
 * Its texts may quote the plan, the source and the service, so they must never be used as markup.
 */
export interface LoadView {
  notices: LoadNotice[]
  thresholds: {
    /** `all 3 hold`, `1 of 3 crossed`, `2 of 2 not judged`, `none`. */
    verdict: string
    isMet: boolean
    rows: { expression: string; isMet: boolean; word: string; value: string; margin: string }[]
    /** Says that failures do not fail the test; null if a threshold judges them, or there are none. */
    note: string | null
  }
  /** What was scheduled, sent, answered and succeeded, and what failed; empty if nothing was sent. */
  requests: LoadFact[]
  /** Throttling, callbacks and connections, each if there were any. */
  traffic: LoadFact[]
  latencies: { metric: TrendMetric; meaning: string; percentiles: Percentiles }[]
  /** What the percentiles leave out or unexpectedly include, a sentence each. */
  caveats: string[]
  /** Most requests first. */
  statuses: { name: string; requests: number; share: string }[]
  errors: {
    outcome: LoadErrorGroup['outcome']
    status: string
    message: string
    /** Follows the message if the cause has others, as in {@link sayOtherMessages}. */
    more: string
    requests: number
    when: string
    group: LoadErrorGroup
  }[]
  /** Only for models or sizes of which the source has more than one. */
  groups: { by: 'model' | 'size'; rows: LoadGroupRow[] }[]
  /** Requests by stage; empty if the pace has none. */
  stages: LoadStageRow[]
  /** How this machine coped; null if k6 sent the load, which does not watch itself. */
  generator: { verdict: string; isLimited: boolean; facts: LoadFact[] } | null
}

/** A report without the data of charts. */
export type ViewedReport = Omit<LoadReport, 'seconds' | 'histograms' | 'comparison'>

/** The points of a distribution that tables show, with their titles. */
export const LATENCY_POINTS = [
  ['min', 'min'],
  ['mean', 'mean'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99_9', 'p99.9'],
  ['max', 'max'],
] as const satisfies readonly (readonly [point: keyof Percentiles, title: string])[]

/** Opening a connection is rare by nature, and its count stands beside it. */
const RARE: ReadonlySet<string> = new Set(['http_req_connecting', 'http_req_tls_handshaking'])

/** A remark on the percentiles of a table if it has too few measurements for one. */
export function noteFewMeasured(measured: readonly { metric: string; count: number }[]): string[] {
  const note = sayFewMeasured(measured.flatMap(({ metric, count }) => (RARE.has(metric) ? [] : [count])))
  return note === null ? [] : [note]
}

export function toLoadView(report: ViewedReport): LoadView {
  return {
    notices: listNotices(report),
    thresholds: { ...toThresholdView(report.thresholds), note: noteUnjudged(report) },
    requests: listRequests(report),
    traffic: listTraffic(report),
    latencies: listLatencies(report.latencyMs),
    caveats: listCaveats(report),
    statuses: listStatuses(report),
    errors: listErrors(report),
    groups: listGroups(report),
    stages: listStages(report),
    generator: toGenerator(report),
  }
}

/** The latencies that were measured, in the order of {@link METRICS}. */
export function listLatencies(
  latencyMs: Partial<Record<TrendMetric, Percentiles | null>>,
): LoadView['latencies'] {
  return TREND_METRICS.flatMap((metric) => {
    const percentiles = latencyMs[metric] ?? null
    if (percentiles === null || percentiles.count === 0) return []
    return [{ metric, meaning: METRICS[metric].meaning, percentiles }]
  })
}

/** Whether k6 sent the load: it does not watch itself. */
function isFromK6({ generator }: Pick<LoadReport, 'generator'>): boolean {
  return generator.startLagP99Ms === null && generator.eventLoopMaxMs === null
}

const HELD_UP =
  'Requests that wait hold up those that would follow, so percentiles and shares are mostly of the rest of the time.'
const ALL_SENT = 'Every request that was due meanwhile was sent, and is in percentiles and shares.'
const OPEN_LEFT =
  'Every request that was due meanwhile was sent, but those that have no answer yet are in no percentile.'

/** What a silence means for the figures; requests without a time did not end before a cut-off. */
function explainSilence(report: ViewedReport): string {
  if (holdsUp(report)) return HELD_UP
  const timed = report.latencyMs.http_req_duration?.count ?? 0
  return timed < report.counts.sent - report.counts.failed ? OPEN_LEFT : ALL_SENT
}

/**
 * Whether requests may have waited for others to end: always with a concurrency; at a rate, if the limit in
 * flight was reached.
 */
function holdsUp({ rates, generator }: ViewedReport): boolean {
  return rates.scheduledPerS === null || generator.waited > 0 || generator.dropped > 0
}

function listNotices(report: ViewedReport): LoadNotice[] {
  const { generator, state, stopReason, counts, silence } = report
  const notices: LoadNotice[] = []
  if (silence !== undefined) {
    notices.push({
      kind: 'silent',
      title: sayLoadSilence(silence),
      text: `${explainSilence(report)}${silence.isMost ? ' It was most of the measured time, so nothing shows that a threshold holds.' : ''}`,
      details: [],
    })
  }
  if (generator.limited) {
    const where = generator.limitedSeconds === 0 ? '' : ` in ${countLimited(report)}`
    notices.push({
      kind: 'limited',
      title: `${MAY_INCLUDE_DELAYS} (generator-limited${where})`,
      text: ABOUT_DELAYS,
      details: generator.reasons,
    })
  }
  if (state !== 'completed') {
    notices.push({
      kind: 'ended',
      title: stopReason === null ? `The load test was ${state} before its end` : `Stopped: ${stopReason}`,
      text: `${counts.sent === 0 ? 'Nothing was measured.' : 'What was measured until then is below.'} A load test cannot be resumed; start another one.`,
      details: [],
    })
  }
  return notices
}

/** `2 of 60 seconds`. */
function countLimited({ generator, durationMs }: ViewedReport): string {
  const seconds = Math.max(generator.limitedSeconds, Math.ceil(durationMs / 1000))
  return `${formatCount(generator.limitedSeconds)} of ${formatCounted(seconds, 'second')}`
}

function noteBehind({ generator: { behindSeconds = 0 } }: ViewedReport): Pick<LoadFact, 'note'> {
  return behindSeconds === 0
    ? {}
    : { note: `${formatCount(behindSeconds)} of them sent less than 98 % of the schedule on time` }
}

/** The state of thresholds, during the test or at its end. */
export function toThresholdView(
  thresholds: readonly ThresholdResult[],
): Omit<LoadView['thresholds'], 'note'> {
  const unanswered = thresholds.filter((one) => one.unanswered).length
  const crossed = thresholds.filter(({ ok }) => !ok).length - unanswered
  const verdict =
    thresholds.length === 0
      ? 'none'
      : crossed > 0
        ? `${crossed} of ${thresholds.length} crossed`
        : unanswered > 0
          ? `${unanswered} of ${thresholds.length} not judged`
          : thresholds.length === 1
            ? 'it holds'
            : `all ${thresholds.length} hold`
  return {
    verdict,
    isMet: crossed + unanswered === 0,
    rows: thresholds.map((result) => ({
      expression: result.expression,
      isMet: result.ok,
      word: result.ok ? 'holds' : result.unanswered ? 'not judged' : 'crossed',
      value: formatThresholdValue(result),
      margin: formatThresholdMargin(result),
    })),
  }
}

/** Says that requests did not succeed without a threshold judging that, and whether the test fails anyway. */
function noteUnjudged(report: ViewedReport): string | null {
  const { thresholds, counts, callbacks } = report
  const unsuccessful = countUnsuccessful(report)
  const isJudged = thresholds.some(({ expression }) => isOfFailures(expression))
  const noSuccess = sayNoSuccess({ requests: counts, callbacks })
  if (noSuccess !== null && thresholds.every(({ ok }) => ok))
    return `${noSuccess}, which fails the test even without a threshold on failures.`
  // Not all of k6's thresholds are known here.
  if (unsuccessful === 0 || isJudged || isFromK6(report)) return null
  const what = thresholds.length === 0 ? 'No thresholds set' : 'No threshold is about failures'
  return `${what}: ${formatCount(unsuccessful)} of ${formatCounted(counts.sent, 'request')} did not succeed, which does not fail the test. To fail it, add http_req_failed:rate<0.01.`
}

/** Whether a threshold judges failures: by their share, or by counting outcomes. */
function isOfFailures(expression: string): boolean {
  const read = parseThreshold(expression)
  if (!read.ok) return false
  const { metric, tags } = read.parsed
  const { kind } = METRICS[metric]
  return kind === 'rate' || (kind === 'counter' && tags.some(isOfOutcome))
}

function countUnsuccessful({ counts }: ViewedReport): number {
  return counts.rejected + counts.failed + counts.unknown
}

function listRequests(report: ViewedReport): LoadFact[] {
  const { counts, rates, latencyMs, generator } = report
  if (counts.sent === 0) return []
  const unsuccessful = countUnsuccessful(report)
  const ended = counts.succeeded + unsuccessful
  const duration = latencyMs.http_req_duration
  const perS = (rate: number) => `${formatRate(rate)}/s`
  const total = (count: number) => `${formatCount(count)} in total`
  const failures = [
    [counts.rejected, 'rejected'],
    [counts.failed, 'failed (not received by the service)'],
    [counts.unknown, 'unknown (sent without a usable answer, may have been accepted)'],
  ] as const
  return [
    ...(rates.scheduledPerS === null ? [] : [{ label: 'Scheduled', value: perS(rates.scheduledPerS) }]),
    {
      label: 'Sent',
      value: perS(rates.attemptedPerS),
      note: `${total(counts.sent)}${report.retried === 0 ? '' : `, ${formatCounted(report.retried, 'retry', 'retries')} included`}`,
    },
    // A k6 summary does not contain statuses.
    ...(report.statuses.length === 0
      ? []
      : [{ label: 'Answered', value: perS(rates.answeredPerS), note: total(report.answered) }]),
    {
      label: 'Succeeded',
      value: perS(rates.succeededPerS),
      note: `${total(counts.succeeded)}, ${toShare(counts.succeeded, ended)}`,
      tone: 'good' as const,
    },
    {
      label: 'Did not succeed',
      value: toShare(unsuccessful, ended),
      ...(unsuccessful > 0 && {
        note: failures
          .flatMap(([count, what]) => (count > 0 ? [`${formatCount(count)} ${what}`] : []))
          .join(', '),
        tone: 'bad' as const,
      }),
    },
    ...(generator.dropped === 0
      ? []
      : [
          {
            label: 'Dropped',
            value: formatCount(generator.dropped),
            note: `${toShare(generator.dropped, counts.sent + generator.dropped)} of those due, too many in flight`,
            tone: 'warn' as const,
          },
        ]),
    ...(duration === undefined
      ? []
      : [
          {
            label: 'Median',
            value: formatMs(duration.p50),
            note: describeSlowest(duration),
          },
        ]),
  ]
}

function toShare(part: number, whole: number): string {
  return whole === 0 ? '–' : formatShare(part / whole)
}

function listTraffic(report: ViewedReport): LoadFact[] {
  const { throttling, callbacks, connections, counts } = report
  const { answers, retryAfterAnswers, askedS } = throttling
  const facts: LoadFact[] = []
  if (report.firstRequest !== undefined) facts.push(toFirstRequestFact(report.firstRequest))
  if (answers + retryAfterAnswers > 0) {
    const ended = counts.succeeded + countUnsuccessful(report)
    const isUntold = isFromK6(report)
    facts.push({
      label: 'Throttling',
      value: `${formatCounted(answers, 'answer')} with status 429 (${toShare(answers, ended)})`,
      note:
        retryAfterAnswers > 0
          ? `${formatCounted(retryAfterAnswers, 'answer')} with Retry-After, ${formatSetDuration(Math.round(askedS) * 1000)} in total`
          : isUntold
            ? 'k6 does not report for how long'
            : 'without Retry-After',
    })
  }
  if (callbacks !== null) {
    const { received, doubled, rejected, otherPost = 0, unreadable = 0, late = 0 } = callbacks
    const { differing = 0, ofRefused = 0, overdue, outstanding } = callbacks
    const parts = [
      ...(rejected > 0 ? [`${formatCount(rejected)} with an error`] : []),
      ...(otherPost > 0 ? [`${formatCount(otherPost)} of another post`] : []),
      ...(unreadable > 0 ? [`${formatCount(unreadable)} unreadable`] : []),
      ...(ofRefused > 0 ? [`${formatCount(ofRefused)} of refused requests`] : []),
      ...(differing > 0 ? [`${formatCount(differing)} differing from another one`] : []),
      ...(doubled > 0 ? [formatCounted(doubled, 'duplicate')] : []),
      ...(overdue > 0 ? [`${formatCount(overdue)} overdue`] : []),
      ...(late > 0 ? [`${formatCount(late)} late`] : []),
      ...(outstanding > 0 ? [`${formatCount(outstanding)} outstanding`] : []),
    ]
    facts.push({
      label: 'Callbacks',
      value: `${formatCount(received)} received`,
      ...(parts.length > 0 && { note: parts.join(', ') }),
      ...(rejected + otherPost + unreadable + ofRefused + overdue + outstanding > 0 && {
        tone: 'warn' as const,
      }),
    })
  }
  const { data_sent: sent, data_received: received } = report.metrics ?? {}
  if (sent?.count !== undefined && received?.count !== undefined && sent.count > 0) {
    facts.push({
      label: 'Data',
      value: `${formatBytes(sent.count)} sent`,
      note: `${formatBytes(received.count)} received`,
    })
  }
  if (connections.opened + connections.reused > 0) {
    facts.push({
      label: 'Connections',
      value: `${formatCount(connections.opened)} opened`,
      note: `reused by ${formatCounted(connections.reused, 'request')}`,
    })
  }
  return facts
}

/** The first request, with row 1, which was sent before everything else. */
function toFirstRequestFact(first: LoadFirstRequest): LoadFact {
  const { outcome, message, durationMs } = first
  const isFine = outcome === 'succeeded'
  return {
    label: 'First request',
    value: `${nameStatus(first)} in ${formatMs(durationMs)}`,
    note: `${isFine || message === null ? '' : `${message}; `}before the test, in no other figure`,
    ...(!isFine && { tone: 'warn' as const }),
  }
}

function listCaveats({ generator, callbacks, fromCache, latencyMs }: ViewedReport): string[] {
  const { dropped, waited } = generator
  const missing = callbacks === null ? 0 : callbacks.overdue + callbacks.outstanding
  return [
    ...(dropped > 0
      ? [
          `${formatCounted(dropped, 'dropped request')} ${dropped === 1 ? 'has' : 'have'} no latency. Percentiles would be higher with ${dropped === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(missing > 0
      ? [
          `${formatCounted(missing, 'callback')} did not arrive in time. callback_latency would be higher with ${missing === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(fromCache > 0
      ? [
          `${formatCounted(fromCache, 'answer')} came from the service's cache, which lowers latencies. Use more different rows to avoid this.`,
        ]
      : []),
    ...(waited > 0 && latencyMs.response_time !== undefined
      ? [
          `${formatCounted(waited, 'request')} waited because too many were in flight. response_time and start_lag include this, http_req_duration does not.`,
        ]
      : []),
  ]
}

function listStatuses({ statuses }: ViewedReport): LoadView['statuses'] {
  const total = statuses.reduce((sum, { requests }) => sum + requests, 0)
  return statuses.map((one) => ({
    name: nameStatus(one),
    requests: one.requests,
    share: toShare(one.requests, total),
  }))
}

function nameStatus({ status, errorCode }: { status: number | null; errorCode: string | null }): string {
  if (status !== null) return nameAnswer(status, errorCode)
  return errorCode === null ? 'no answer' : `no answer: ${nameCode(errorCode)}`
}

/** What failed, with all messages of a status and code as one cause: they may quote what was sent. */
function listErrors({ errors, durationMs }: ViewedReport): LoadView['errors'] {
  const causes = Map.groupBy(errors, ({ outcome, status, errorCode, message }) =>
    JSON.stringify([outcome, status, errorCode, errorCode === null ? message : null]),
  )
  return [...causes.values()]
    .flatMap((merged) => {
      const [most] = merged
      if (most === undefined) return []
      const { outcome, message } = most
      const requests = merged.reduce((sum, one) => sum + one.requests, 0)
      const firstSecond = Math.min(...merged.map((one) => one.firstSecond))
      const lastSecond = Math.max(...merged.map((one) => one.lastSecond))
      const group = { ...most, requests, firstSecond, lastSecond }
      const more = sayOtherMessages(merged.length - 1)
      const when = describeWhen(group, durationMs)
      return [{ outcome, status: nameStatus(group), message, more, requests, when, group }]
    })
    .sort((one, other) => other.requests - one.requests)
}

function describeWhen({ firstSecond, lastSecond }: LoadErrorGroup, durationMs: number): string {
  if (firstSecond * 1000 >= durationMs) return 'after the measured time'
  return firstSecond === lastSecond
    ? `in second ${firstSecond}`
    : `in seconds ${firstSecond} to ${lastSecond}`
}

function listGroups({ groups }: ViewedReport): LoadView['groups'] {
  return (['model', 'size'] as const).flatMap((by) => {
    const members = groups.filter((group) => group.by === by)
    if (members.length < 2) return []
    const rows = members.map(({ label, requests, failed, httpReqDurationMs }) => ({
      label,
      requests: formatCount(requests),
      failedShare: toShare(failed, requests),
      percentiles: httpReqDurationMs,
    }))
    return [{ by, rows }]
  })
}

function listStages({ stages = [] }: ViewedReport): LoadStageRow[] {
  return stages.map(({ number, name, from, to, ranMs, scheduled, requests, failed, latencyMs }) => {
    const level = from === to ? String(to) : `${from} → ${to}`
    return {
      label: name === undefined ? String(number) : `${number} ${name}`,
      level: scheduled === null ? `${level} in flight` : `${level}/s`,
      requests: formatCount(requests),
      perS: ranMs > 0 ? formatRate((requests * 1000) / ranMs) : '–',
      failedShare: toShare(failed, requests),
      all: latencyMs.http_req_duration ?? null,
      succeeded: latencyMs.succeeded_duration ?? null,
    }
  })
}

/**
 * The columns of a table of stages: a title and its figure in ms. Latencies of succeeded requests have
 * columns only if some failed.
 */
export function listStageColumns(
  stages: readonly LoadStageRow[],
): { title: string; read: (stage: LoadStageRow) => number | null }[] {
  const points = ['p50', 'p95', 'p99', 'max'] as const
  return [
    ...points.map((point) => ({
      title: point as string,
      read: (stage: LoadStageRow) => stage.all?.[point] ?? null,
    })),
    ...(stages.some(({ succeeded }) => succeeded !== null)
      ? [
          {
            title: 'p95 succeeded',
            read: ({ all, succeeded, failedShare }: LoadStageRow) =>
              (succeeded ?? (failedShare === '0 %' ? all : null))?.p95 ?? null,
          },
        ]
      : []),
  ]
}

function toGenerator(report: ViewedReport): LoadView['generator'] {
  const { generator, counts } = report
  if (counts.sent === 0) return { verdict: 'nothing was sent', isLimited: false, facts: [] }
  if (isFromK6(report)) return null
  const { achievedShare, startLagP99Ms, eventLoopMaxMs, gcPauses, gcMaxMs, waited, workers } = generator
  const longest = gcPauses > 0 && gcMaxMs !== null ? { note: `longest ${formatMs(gcMaxMs)}` } : {}
  return {
    verdict: generator.limited ? 'may have added delays' : 'kept up',
    isLimited: generator.limited,
    facts: [
      ...(achievedShare === null ? [] : [{ label: 'Schedule sent', value: formatShare(achievedShare) }]),
      { label: 'Generator-limited', value: countLimited(report), ...noteBehind(report) },
      ...(startLagP99Ms === null ? [] : [{ label: 'start_lag p99', value: formatMs(startLagP99Ms) }]),
      ...(isStallShown(generator.limited, eventLoopMaxMs)
        ? [{ label: 'Longest stall', value: formatMs(eventLoopMaxMs) }]
        : []),
      { label: 'Garbage collections', value: formatCount(gcPauses), ...longest },
      { label: 'Waited', value: formatCounted(waited, 'request') },
      { label: 'Sending threads', value: formatCount(workers) },
    ],
  }
}
