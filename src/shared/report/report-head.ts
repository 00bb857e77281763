import type { LoadReport } from '../load/load-report.ts'
import { type Notice, toLoadView } from '../load/load-view.ts'
import type { RunReport } from '../lookback/run-report.ts'
import { formatSetDuration } from '../messages/duration.ts'
import { formatCount, formatCounted, formatDuration } from '../messages/figure-text.ts'
import { joinSentences } from '../messages/join-sentences.ts'
import { ABOUT_DELAYS, MAY_INCLUDE_DELAYS } from '../messages/own-delays.ts'
import { listReadAs } from '../messages/reading-messages.ts'
import { listUsedMapping } from '../messages/used-mapping-words.ts'
import { nameRunSource } from '../plan/source-paths.ts'
import {
  isStoppedWaiting,
  listRowWarnings,
  listRunWarnings,
  type RunSummary,
  type RunWarning,
  toServiceUrl,
} from '../run/run.ts'
import { describeExtent, describeOperation, toDurationMs } from '../run/run-view.ts'
import { type Line, quote, type Section } from './report.ts'

/** A page shows above its figures how the source was read; a document shows it below. */
type Surface = 'page' | 'document'

/** What was sent, where, when, and how it ended. */
export function toRunHead({ summary, app_version: version }: RunReport, surface: Surface): Section {
  const { started_at: startedAt, state, stop_reason: reason, stop_advice: advice, mapping } = summary
  const what = describeOperation(summary)
  const source = quote(nameRunSource(summary))
  const service = quote(toServiceUrl(summary))
  const made = `run ${summary.run_id} · Sluice ${version}`
  if (surface === 'page') {
    const sent =
      startedAt === null || summary.requests.sent === 0
        ? 'Nothing was sent'
        : `Sent from ${toUtc(startedAt)}, for ${formatDuration(toDurationMs(summary))}`
    return {
      lines: [
        [quote(what), ' · rows of ', source, ' · ', service],
        ...listReadAsLines(summary.source_read?.read_as),
        ...(mapping === undefined ? [] : [quote(listUsedMapping(mapping).join(' · '))]),
        `${sent} · ${made}`,
        ...listRetries(summary),
      ],
    }
  }
  const extent = describeExtent(summary)
  const duration = startedAt === null ? '' : ` · ${formatDuration(toDurationMs(summary))}`
  return {
    warnings: reason === null ? [] : [`Stopped: ${reason}${advice === null ? '' : `. ${advice}`}`],
    lines: [
      [{ text: state, tone: 'strong' }, `${extent === null ? '' : `, ${extent}`}${duration}`],
      [`${what} · rows of `, source, ' to ', service],
      made,
      ...listRetries(summary),
    ],
  }
}

function listRetries({ retries, whole_run: whole }: RunSummary): string[] {
  const succeeded = ({ rows }: Pick<RunSummary, 'rows'>) =>
    `${formatCount(rows.succeeded)} of ${formatCounted(rows.read, 'row')} succeeded`
  return [
    ...(whole === null ? [] : [`A retry of run ${whole.run_id}, in which ${succeeded(whole)} in total.`]),
    ...retries.map(
      (retry) =>
        `With retry ${retry.run_id} from ${toUtc(retry.created_at)}: ${retry.state}, ${succeeded(retry)}.`,
    ),
  ]
}

const NOT_COMPLETED = {
  running: { title: 'Still running', text: 'The run had not ended when this report was written.' },
  interrupted: {
    title: 'The run was interrupted before its end',
    text: 'It can be resumed. The figures show what was done until then.',
  },
  waiting: {
    title: 'All rows were sent, but callbacks are missing',
    text: 'The run was stopped while it waited for them. Resume it to keep waiting.',
  },
  stopped: {
    title: 'The run was stopped before its end',
    text: 'The figures show what was done until then.',
  },
} as const

/** What readers must know before any figure of a bulk run. */
export function listRunNotices(summary: RunSummary): Notice[] {
  const { state, stop_reason: reason, stop_advice: advice, generator, warnings } = summary
  const ended = state === 'completed' ? null : NOT_COMPLETED[isStoppedWaiting(summary) ? 'waiting' : state]
  return [
    ...(ended === null
      ? []
      : [
          {
            title: reason === null ? ended.title : `Stopped: ${reason}`,
            text: advice === null ? ended.text : `${advice} ${ended.text}`,
            details: [],
          },
        ]),
    ...(generator.limited
      ? [
          {
            title: MAY_INCLUDE_DELAYS,
            text: ABOUT_DELAYS,
            details: generator.reasons ?? [],
          },
        ]
      : []),
    ...listWarningNotices(warnings),
  ]
}

/** A run's warnings, with all warnings about rows in one notice by cause. */
export function listWarningNotices(warnings: readonly RunWarning[]): Notice[] {
  const details = listRowWarnings(warnings).map(
    ({ rows, message }) => `${formatCounted(rows, 'row')}: ${message}`,
  )
  const text = 'These rows were sent unless they are invalid, too.'
  return [
    ...listRunWarnings(warnings).map((message) => ({ title: 'Warning', text: message, details: [] })),
    ...(details.length === 0 ? [] : [{ title: 'Warnings about rows', text, details }]),
  ]
}

/** What was tested, when and how. */
export function toLoadHead(report: LoadReport, surface: Surface): Section {
  const { state, startedAt, durationMs, warmupMs, thresholds } = report
  const source = quote(report.source)
  const service = quote(report.baseUrl)
  const made = `run ${report.runId} · Sluice ${report.appVersion}`
  if (surface === 'page') {
    const warmup = warmupMs === 0 ? '' : `, after ${formatSetDuration(warmupMs)} of warm-up`
    const measured =
      startedAt === null
        ? 'Nothing was measured'
        : `Measured for ${formatMeasured(durationMs)}${warmup}, from ${toUtc(startedAt)}`
    return {
      lines: [
        ['Load test of ', service, ` · ${report.operation} · rows of `, source],
        ...listReadAsLines(report.readAs),
        `${measured} · ${made}`,
      ],
    }
  }
  const { notices, thresholds: judged } = toLoadView(report)
  const measured = startedAt === null ? '' : ` · ${formatDuration(durationMs)} measured`
  const verdict =
    thresholds.length === 0 ? '' : ` · thresholds: ${judged.isMet ? '✓' : '✗'} ${judged.verdict}`
  return {
    warnings: notices.map(({ kind, title, text, details }) =>
      joinSentences([title, ...details, ...(kind === 'ended' ? [] : [text])]),
    ),
    lines: [
      [{ text: state, tone: 'strong' }, `${measured}${verdict}`],
      [`load test · ${report.operation} · rows of `, source, ' to ', service],
      report.plan.filter((phrase) => !phrase.startsWith('thresholds ')).join('; '),
      made,
    ],
  }
}

function formatMeasured(durationMs: number): string {
  return formatSetDuration(
    durationMs >= 10_000 ? Math.round(durationMs / 1000) * 1000 : Math.round(durationMs),
  )
}

function listReadAsLines(readAs: Parameters<typeof listReadAs>[0] = []): Line[] {
  return listReadAs(readAs, 'window').map((line) => ['Read as ', quote(line)])
}

function toUtc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`
}
