import type { LoadErrorGroup, LoadReport } from '../load/load-report.ts'
import { type LoadView, listStageColumns, toLoadView } from '../load/load-view.ts'
import { isDetail, TREND_METRICS, type TrendMetric } from '../load/metrics.ts'
import { parseThreshold } from '../load/threshold-parser.ts'
import { formatCounted } from '../messages/figure-text.ts'
import {
  type Cell,
  count,
  type Fact,
  figure,
  foreign,
  ms,
  number,
  type Section,
  type Table,
  text,
} from './report.ts'
import { listSourceFacts, listWarningFacts, toErrorsFact, toFact, toLatency } from './summary-report.ts'

const SHOWN_STATUSES = 12
const SHOWN_ERRORS = 10
const SHOWN_GROUPS = 12

/** What to do about requests that failed in the same way; null if there is no advice. */
export type AdviseOnLoad = (error: LoadErrorGroup) => string | null

/** Selects the words and figures of tables: for a terminal, or for a page, which has more room. */
type Surface = 'terminal' | 'page'

/** The parts of a load test's report, in order: thresholds and requests, latency, answers, this machine. */
export interface LoadSections {
  source: Section
  requests: readonly Section[]
  latency: Section
  /** What the percentiles leave out or unexpectedly include, a sentence each. */
  caveats: readonly string[]
  answers: readonly Section[]
}

export function toLoadSections(report: LoadReport, advise: AdviseOnLoad = () => null): LoadSections {
  const view = toLoadView(report)
  const { latencyMs, readAs, warnings = [] } = report
  return {
    source: { facts: listSourceFacts(readAs === undefined ? {} : { source_read: { read_as: readAs } }) },
    requests: [{ facts: [toThresholdsFact(view)] }, { facts: [toRequestsFact(view)] }],
    latency: toLatency({ latency_ms: latencyMs }, listShown(report)),
    caveats: view.caveats,
    answers: [
      toStages(view),
      { facts: [toStatusesFact(view)] },
      { facts: [toLoadErrorsFact(view, advise)] },
      { facts: [...view.traffic.map(toFact), ...listWarningFacts({ warnings })] },
      toGroups(view),
      { facts: listGeneratorFacts(view) },
    ],
  }
}

/** Thresholds with ✓ or ✗, value and distance from the limit; a note if failures do not fail the test. */
function toThresholdsFact({ thresholds: { rows, note } }: LoadView): Fact {
  return {
    label: 'Thresholds',
    table: {
      columns: [text(''), number(''), { ...text(''), isWrapped: true }],
      rows: rows.map(({ expression, isMet, value, margin }) => [
        { text: expression, ...(isMet ? { sign: 'held', tone: 'good' } : { sign: 'crossed', tone: 'bad' }) },
        value,
        { text: margin, tone: isMet ? 'quiet' : 'bad' },
      ]),
    },
    notes: note === null ? [] : [{ text: note, tone: 'warn' }],
  }
}

/** A label within a line. */
function toInline(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1)
}

function toRequestsFact({ requests }: LoadView): Fact {
  if (requests.length === 0) return { label: 'Requests', lines: ['none sent'] }
  return {
    label: 'Requests',
    table: {
      columns: [text(''), number(''), { ...text(''), isWrapped: true }],
      rows: requests.map(({ label, value, note = '', tone }): Cell[] => [
        { text: toInline(label), tone: tone ?? 'plain' },
        // An additional space separates the note from the figure.
        `${value} `,
        { text: note, tone: 'quiet' },
      ]),
      gap: 1,
    },
  }
}

function toStatusesFact({ statuses }: LoadView): Fact {
  const more = statuses.length - SHOWN_STATUSES
  return {
    label: 'Statuses',
    table: {
      columns: [foreign(''), count(''), { ...number(''), least: 7 }],
      rows: statuses.slice(0, SHOWN_STATUSES).map(({ name, requests, share }) => [name, requests, share]),
    },
    notes: more > 0 ? [`and ${formatCounted(more, 'kind')} more; --json has them`] : [],
  }
}

/** What failed by cause, when, and what to do about it. */
function toLoadErrorsFact({ errors }: LoadView, advise: AdviseOnLoad): Fact {
  return toErrorsFact(
    errors.slice(0, SHOWN_ERRORS).map((error) => ({
      count: error.requests,
      outcome: error.outcome,
      cause: `${error.status}: ${error.message}${error.more} (${error.when})`,
      advice: advise(error.group),
    })),
    errors.length - SHOWN_ERRORS,
    8,
  )
}

/** Requests by stage, if the pace has any. */
function toStages({ stages }: LoadView): Section {
  if (stages.length === 0) return {}
  return { title: 'Stages, http_req_duration in ms', tables: [toStagesTable(stages, 'terminal')] }
}

/** Requests by stage, with their http_req_duration. */
export function toStagesTable(stages: LoadView['stages'], surface: Surface): Table {
  const points = listStageColumns(stages)
  const { latency, rate, failed, none } = WORDS[surface]
  return {
    columns: [
      ...[text('stage'), text('level'), number('requests'), number(rate), number(failed)],
      ...points.map(({ title }) => latency(title)),
    ],
    rows: stages.map((stage) => [
      ...[stage.label, stage.level, stage.requests, stage.perS, stage.failedShare],
      ...points.map(({ read }) => read(stage) ?? none),
    ]),
  }
}

/** Words for the narrow terminal and for the page; the terminal's titles say that latencies are in ms. */
const WORDS = {
  terminal: { latency: figure, rate: 'per s', failed: 'failed', none: '' },
  page: { latency: ms, rate: 'per second', failed: 'did not succeed', none: null },
} as const

/** The latencies of a summary, without those that only a threshold can ask for and none does. */
function listShown({ thresholds }: Pick<LoadReport, 'thresholds'>): TrendMetric[] {
  const named = thresholds.flatMap(({ expression }) => {
    // k6 has expressions that Sluice does not know.
    const read = parseThreshold(expression)
    return read.ok ? [read.parsed.metric] : []
  })
  return TREND_METRICS.filter((metric) => !isDetail(metric) || named.includes(metric))
}

/** Latency by model and by content size, if the source has more than one of them. */
function toGroups({ groups }: LoadView): Section {
  if (groups.length === 0) return {}
  return {
    title: 'http_req_duration in ms',
    tables: groups.map(({ by, rows }) =>
      toGroupTable({ by: `by ${by}`, rows: rows.slice(0, SHOWN_GROUPS) }, 'terminal'),
    ),
  }
}

export const GROUP_TITLES = { model: 'By model', size: 'By size of content' } as const

/** The http_req_duration of each model or content size. */
export function toGroupTable(
  { by, rows }: { by: string; rows: LoadView['groups'][number]['rows'] },
  surface: Surface,
): Table {
  const points = ['p50', 'p90', 'p99', 'max'] as const
  const { latency, failed, none } = WORDS[surface]
  return {
    columns: [
      ...[foreign(by, 12), number('requests'), number(failed)],
      ...points.map((title) => latency(title)),
    ],
    rows: rows.map(({ label, requests, failedShare, percentiles }) => [
      ...[label, requests, failedShare],
      ...points.map((point) => percentiles?.[point] ?? none),
    ]),
  }
}

/** How this machine coped: start lag, stalls, pauses, and the share of the schedule that was sent. */
function listGeneratorFacts({ generator }: LoadView): Fact[] {
  if (generator === null || generator.facts.length === 0) return []
  const { verdict, isLimited, facts } = generator
  const texts = facts.map(({ label, value, note }) =>
    note === undefined ? `${toInline(label)} ${value}` : `${toInline(label)} ${value} (${note})`,
  )
  const said = `${verdict}: ${texts.join(', ')}`
  return [{ label: 'Generator', lines: [{ text: said, tone: isLimited ? 'warn' : 'plain' }] }]
}
