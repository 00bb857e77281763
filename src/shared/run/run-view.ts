import type { LoadFact } from '../load/load-view.ts'
import {
  describeSlowest,
  formatCount,
  formatCounted,
  formatDuration,
  formatMs,
  formatRate,
  formatShare,
} from '../messages/figure-text.ts'
import { describeState } from '../messages/state-name.ts'
import { findOperation } from '../operations/operations.ts'
import { COUNTED_STATES, type CountTone, ROW_STATES } from './item-state.ts'
import { countTrial, countUnsuccessful, isStoppedWaiting, type RunSummary } from './run.ts'
import { formatPace } from './snapshot.ts'

export interface CountedRows {
  name: string
  rows: number
  /** Explains the name; '' if it is clear. */
  meaning: string
  tone: CountTone
}

/** How far a run went: `trial of the first 10 rows`, `all rows sent`; null if its state tells. */
export function describeExtent(
  summary: Pick<RunSummary, 'state' | 'started_at' | 'thresholds' | 'rows'>,
): string | null {
  if (summary.state === 'interrupted' && summary.started_at === null) return 'nothing sent'
  if (isStoppedWaiting(summary)) return 'all rows sent'
  const tried = countTrial(summary)
  if (tried === null) return null
  return `trial of the first ${tried === 1 ? 'row' : formatCounted(tried, 'row')}`
}

/** Rows by outcome; outcomes without rows are left out, except `succeeded`. */
export function listOutcomes({ operation, rows, to_repeat: repeat }: RunSummary): CountedRows[] {
  const outcomes: CountedRows[] = COUNTED_STATES.map(({ state, count }) => ({
    name: describeState({ state, attempts: 0 }),
    rows: (rows[count] ?? 0) - (state === 'pending' ? repeat.rows : 0),
    tone: ROW_STATES[state].tone,
    // A look-up changes nothing that a service could have accepted.
    meaning:
      state === 'unknown' && operation === 'appeal-status' ? 'no usable answer' : ROW_STATES[state].note,
  }))
  const again = describeState({ state: 'pending', attempts: 1 })
  outcomes.push({ name: again, rows: repeat.rows, tone: 'quiet', meaning: 'tried before, to be sent again' })
  return outcomes.filter(({ name, rows: count }) => count > 0 || name === 'succeeded')
}

/** What a run that was cut off left open: `348 rows not sent, 16 rows to be repeated`; '' if nothing. */
export function describeLeft({ rows, to_repeat: repeat }: Pick<RunSummary, 'rows' | 'to_repeat'>): string {
  const notSent = rows.not_sent - repeat.rows
  return [
    ...(notSent > 0 ? [`${formatCounted(notSent, 'row')} not sent`] : []),
    ...(repeat.rows > 0 ? [`${formatCounted(repeat.rows, 'row')} to be repeated`] : []),
    ...(rows.awaiting > 0 ? [`${formatCounted(rows.awaiting, 'callback')} still awaited`] : []),
    ...(rows.unknown > 0 ? [`${formatCounted(rows.unknown, 'row')} with an unknown outcome`] : []),
  ].join(', ')
}

/** What the service did with terms, items or appeals: each answer with any rows; null for tasks. */
export function listAnswers(summary: RunSummary): { title: string; answers: CountedRows[] } | null {
  const found = listAllAnswers(summary)
  return found === null ? null : { ...found, answers: found.answers.filter(({ rows }) => rows > 0) }
}

function listAllAnswers({ terms, items, appeals }: RunSummary): ReturnType<typeof listAnswers> {
  const answer = (tone: CountTone, name: string, rows: number, meaning = ''): CountedRows => ({
    name,
    rows,
    meaning,
    tone,
  })
  if (terms !== undefined) {
    const { added, pre_existing: known, added_or_pre_existing: either = 0, non_existent: absent } = terms
    return {
      title: 'Terms',
      answers: [
        answer('good', 'added', added),
        answer(
          'good',
          'pre-existing',
          known,
          'already in the watchlist; any new notes replaced the old ones',
        ),
        answer(
          'good',
          'added or pre-existing',
          either,
          'an earlier try got no answer about it, so it is unknown which',
        ),
        answer('good', 'updated', terms.updated),
        answer('bad', 'non-existent', absent, 'not in the watchlist; add them with `watchlist add`'),
        answer('bad', 'not processed', terms.failed.length, 'the service could not process them'),
      ],
    }
  }
  if (items !== undefined) {
    return {
      title: 'Items',
      answers: [
        answer('good', 'added', items.added, 'the export has their ids, for `index remove`'),
        answer('good', 'removed', items.removed),
      ],
    }
  }
  if (appeals === undefined) return null
  const { in_review: open, overturned, upheld, reviewed, other_status: other } = appeals
  return {
    title: 'Appeals',
    answers: [
      answer('accent', 'In Review', open, 'no final decision yet'),
      answer('warn', 'overturned', overturned, 'the original decision no longer applies'),
      answer('good', 'upheld', upheld, 'the original decision stands'),
      answer('plain', 'Reviewed', reviewed, 'decided, neither overturned nor upheld'),
      answer('warn', 'other status', other, 'a status or judgment that Sluice does not know; see the export'),
    ],
  }
}

/** The operation with its variants: mode and version for tasks, mode for indexes. */
export function describeOperation({ operation, mode, api, target }: RunSummary): string {
  if (operation === 'task') return `${operation} ${mode} ${api}`
  const name = findOperation(operation)?.modeOf === undefined ? operation : `${operation} ${mode}`
  return target === undefined ? name : `${name} "${target}"`
}

/**
 * A run's duration: after its end including the wait for callbacks, but not the time between its sessions;
 * else the time it has been sending.
 */
export function toDurationMs({
  throughput,
  callbacks,
  started_at,
  ended_at,
  sessions,
}: Pick<RunSummary, 'throughput' | 'callbacks' | 'started_at' | 'ended_at' | 'sessions'>): number {
  const sendingMs = throughput.duration_s * 1000
  if (callbacks === undefined || started_at === null || ended_at === null) return sendingMs
  let betweenMs = 0
  for (const [at, { started_at: start, ended_at: end, duration_s: sendingS }] of sessions.entries()) {
    const next = sessions[at + 1]
    if (next === undefined) break
    // A session that was cut off lasted as long as it is known to have sent.
    const cutOffMs = Math.max(Date.parse(start), Date.parse(started_at)) + sendingS * 1000
    betweenMs += Math.max(0, Date.parse(next.started_at) - (end === null ? cutOffMs : Date.parse(end)))
  }
  return Math.max(sendingMs, Date.parse(ended_at) - Date.parse(started_at) - betweenMs)
}

/** Shortest sending time for which a rate is shown, seconds. */
export const RATE_MIN_S = 0.1

/** Processed callbacks by effect, as a sentence. */
export function describeCallbacks({
  received,
  settled,
  early,
  late,
  doubled,
  differing,
  other_post,
  unreadable,
  in_doubt = 0,
  of_refused = 0,
}: NonNullable<RunSummary['callbacks']>): string {
  const notes = [
    ...(early > 0 ? [`${formatCount(early)} before the acknowledgement`] : []),
    ...(late > 0 ? [`${formatCount(late)} late`] : []),
  ]
  const parts = [
    `${formatCount(settled)} matched${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`,
    ...(doubled > 0 ? [formatCounted(doubled, 'duplicate')] : []),
    ...(differing > 0 ? [`${formatCount(differing)} differing from the one that counts`] : []),
    ...(other_post > 0 ? [`${formatCount(other_post)} naming another id`] : []),
    ...(unreadable > 0 ? [`${formatCount(unreadable)} unreadable`] : []),
    ...(in_doubt > 0 ? [`${formatCount(in_doubt)} that may answer what was sent before a correction`] : []),
    ...(of_refused > 0 ? [`${formatCount(of_refused)} of refused requests`] : []),
  ]
  return `${formatCount(received)} received: ${parts.join(', ')}`
}

/** What the service reported about its rate limit, as a sentence; null if it never throttled. */
export function describeThrottling({ throttling }: RunSummary): string | null {
  if (throttling === undefined) return null
  const { answers, throttled_s, limit_per_s } = throttling
  return [
    formatCounted(answers, '429 answer'),
    ...(throttled_s > 0 ? [`throttled for ${formatDuration(throttled_s * 1000)}`] : []),
    ...(limit_per_s === null ? [] : [`last limit ${formatPace(limit_per_s)}/s`]),
  ].join(', ')
}

/** How many rows the service answered from its cache, as a sentence; null if none. */
export function describeCached({ from_cache: { rows } }: Pick<RunSummary, 'from_cache'>): string | null {
  if (rows === 0) return null
  return `${formatCounted(rows, 'row')} answered from the service's cache, with the latency of the cache`
}

/** How many rows succeeded without their result, as a sentence; null if none. */
export function describeLost({ result_lost: { rows } }: Pick<RunSummary, 'result_lost'>): string | null {
  if (rows === 0) return null
  return `${formatCounted(rows, 'succeeded row')} had been delivered before; the service does not repeat the result, so the triggered rules are unknown`
}

/** The figures of a run that a reader looks for first; empty if no row was read. */
export function listRunFigures(summary: RunSummary): LoadFact[] {
  const { rows, requests, throughput, latency_ms, callbacks } = summary
  if (rows.read === 0) return []
  const unsuccessful = countUnsuccessful(rows)
  const duration = latency_ms.http_req_duration
  const callback = latency_ms.callback_latency
  const toMedian = (percentiles: NonNullable<typeof duration>) => ({
    value: formatMs(percentiles.p50),
    note: describeSlowest(percentiles),
  })
  return [
    { label: 'Rows', value: formatCount(rows.read), note: describeOperation(summary) },
    {
      label: 'Succeeded',
      value: formatShare(rows.succeeded, rows.read),
      note: formatCounted(rows.succeeded, 'row'),
      tone: 'good',
    },
    {
      label: 'Did not succeed',
      value: formatShare(unsuccessful, rows.read),
      note: formatCounted(unsuccessful, 'row'),
      ...(unsuccessful > 0 && { tone: 'bad' as const }),
    },
    ...(requests.sent > 0 && throughput.duration_s >= RATE_MIN_S
      ? [
          {
            label: 'Rate',
            value: `${formatRate(throughput.attempted_per_s)}/s`,
            note: `${formatCounted(requests.sent, 'request')} in ${formatDuration(throughput.duration_s * 1000)}`,
          },
        ]
      : []),
    ...(duration === undefined ? [] : [{ label: 'Median answer', ...toMedian(duration) }]),
    ...(callbacks === undefined || callback === undefined
      ? []
      : [{ label: 'Median callback', ...toMedian(callback) }]),
  ]
}
