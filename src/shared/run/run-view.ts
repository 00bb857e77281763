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
import { countTrial, countUnsuccessful, type RunSummary } from './run.ts'
import { formatPace } from './snapshot.ts'

/** Rows of one kind. */
export interface CountedRows {
  name: string
  rows: number
  /** What the name says; '' where that is clear. */
  meaning: string
  tone: CountTone
}

/** What a run was a trial of: `trial of the first 10 rows`; null for other runs. */
export function describeTrial(summary: Parameters<typeof countTrial>[0]): string | null {
  const tried = countTrial(summary)
  if (tried === null) return null
  return `trial of the first ${tried === 1 ? 'row' : formatCounted(tried, 'row')}`
}

/** Rows by outcome; those without rows are left out, except `succeeded`. */
export function listOutcomes({ rows, to_repeat: repeat }: RunSummary): CountedRows[] {
  const outcomes: CountedRows[] = COUNTED_STATES.map(({ state, count }) => ({
    name: describeState({ state, attempts: 0 }),
    rows: (rows[count] ?? 0) - (state === 'pending' ? repeat.rows : 0),
    tone: ROW_STATES[state].tone,
    meaning: ROW_STATES[state].note,
  }))
  const again = describeState({ state: 'pending', attempts: 1 })
  outcomes.push({ name: again, rows: repeat.rows, tone: 'quiet', meaning: 'sent before, to be sent again' })
  return outcomes.filter(({ name, rows: count }) => count > 0 || name === 'succeeded')
}

/** What the service did with terms, items or appeals, each answer that any row has; null for tasks. */
export function listAnswers(summary: RunSummary): { title: string; answers: CountedRows[] } | null {
  const found = listAllAnswers(summary)
  return found === null ? null : { ...found, answers: found.answers.filter(({ rows }) => rows > 0) }
}

function listAllAnswers({
  terms,
  items,
  appeals,
}: RunSummary): { title: string; answers: CountedRows[] } | null {
  if (terms !== undefined) {
    return {
      title: 'Terms',
      answers: [
        { name: 'added', rows: terms.added, tone: 'good', meaning: '' },
        {
          name: 'pre-existing',
          rows: terms.pre_existing,
          tone: 'good',
          meaning: 'already in the watchlist; any new notes replaced the old ones',
        },
        {
          name: 'added or pre-existing',
          rows: terms.added_or_pre_existing ?? 0,
          tone: 'good',
          meaning: 'the first answer was lost, so it is unknown which',
        },
        { name: 'updated', rows: terms.updated, tone: 'good', meaning: '' },
        {
          name: 'non-existent',
          rows: terms.non_existent,
          tone: 'bad',
          meaning: 'not in the watchlist; add them with `watchlist add`',
        },
        {
          name: 'not processed',
          rows: terms.failed.length,
          tone: 'bad',
          meaning: 'the service could not process them',
        },
      ],
    }
  }
  if (items !== undefined) {
    const added: CountedRows = {
      name: 'added',
      rows: items.added,
      tone: 'good',
      meaning: 'the export has their ids, for `index remove`',
    }
    const removed: CountedRows = { name: 'removed', rows: items.removed, tone: 'good', meaning: '' }
    return { title: 'Items', answers: [added, removed] }
  }
  if (appeals === undefined) return null
  return {
    title: 'Appeals',
    answers: [
      { name: 'In Review', rows: appeals.in_review, tone: 'accent', meaning: 'no final decision yet' },
      {
        name: 'overturned',
        rows: appeals.overturned,
        tone: 'warn',
        meaning: 'the original decision no longer applies',
      },
      { name: 'upheld', rows: appeals.upheld, tone: 'good', meaning: 'the original decision stands' },
      {
        name: 'Reviewed',
        rows: appeals.reviewed,
        tone: 'plain',
        meaning: 'decided, neither overturned nor upheld',
      },
      {
        name: 'other status',
        rows: appeals.other_status,
        tone: 'warn',
        meaning: 'neither In Review nor Reviewed; see the export',
      },
    ],
  }
}

/** The operation with what it has a choice of: mode and version for tasks, mode for indexes. */
export function describeOperation({ operation, mode, api, target }: RunSummary): string {
  if (operation === 'task') return `${operation} ${mode} ${api}`
  const name = findOperation(operation)?.modeOf === undefined ? operation : `${operation} ${mode}`
  return target === undefined ? name : `${name} "${target}"`
}

/** How long a run took: with the wait for callbacks once it has ended, else the time it has been sending. */
export function toDurationMs({ throughput, callbacks, started_at, ended_at }: RunSummary): number {
  const sendingMs = throughput.duration_s * 1000
  if (callbacks === undefined || started_at === null || ended_at === null) return sendingMs
  return Math.max(sendingMs, Date.parse(ended_at) - Date.parse(started_at))
}

/** The shortest sending time for which a rate is shown, seconds. */
export const RATE_MIN_S = 0.1

/** Callbacks that were processed, by what they did, as a sentence. */
export function describeCallbacks({
  received,
  settled,
  early,
  late,
  doubled,
  differing,
  other_post,
  unreadable,
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
  ]
  return `${formatCount(received)} received: ${parts.join(', ')}`
}

/** What the service said about its rate, as a sentence; null where it never throttled. */
export function describeThrottling({ throttling }: RunSummary): string | null {
  if (throttling === undefined) return null
  const { answers, throttled_s, limit_per_s } = throttling
  return [
    formatCounted(answers, '429 answer'),
    ...(throttled_s > 0 ? [`throttled for ${formatDuration(throttled_s * 1000)}`] : []),
    ...(limit_per_s === null ? [] : [`last limit ${formatPace(limit_per_s)}/s`]),
  ].join(', ')
}

/** The few figures of a run that a reader looks for first; none where nothing was read. */
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
