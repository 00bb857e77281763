import type { LoadReport } from '../../../shared/load/load-report.ts'
import {
  type LoadNotice,
  type LoadView,
  listStageColumns,
  toLoadView,
} from '../../../shared/load/load-view.ts'
import { isDetail, TREND_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import { formatCounted, formatDuration } from '../../../shared/messages/figure-text.ts'
import { adviseInTerminal } from '../../../shared/messages/outcome-advice.ts'
import { nameRunSource } from '../../../shared/plan/source-paths.ts'
import {
  type Cell,
  count,
  type Fact,
  figure,
  foreign,
  number,
  type Section,
  text,
} from '../../../shared/report/report.ts'
import {
  listSourceFacts,
  listWarningFacts,
  toErrorsFact,
  toFact,
  toLatency,
} from '../../../shared/report/summary-report.ts'
import { type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
import { hang, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import { formatReportSection, joinParts } from '../terminal/report-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { STATE_TONES } from './summary-text.ts'

const SHOWN_STATUSES = 12
const SHOWN_ERRORS = 10
const SHOWN_GROUPS = 12

/**
 * A load test for a person to read. What makes the figures doubtful comes before any of them; then thresholds,
 * requests, latency, answers, and how this machine did.
 */
export function formatLoadSummary(terminal: Terminal, summary: RunSummary, report: LoadReport): string {
  const view = toLoadView(report)
  const { notices, caveats, traffic } = view
  const draw = (section: Section) => formatReportSection(terminal, section)
  return joinParts([
    // A load test that another process is running has not ended.
    ...notices
      .filter(({ kind }) => kind === 'limited' || summary.state !== 'running')
      .map((notice) => formatNotice(terminal, notice)),
    formatHeading(terminal, summary, report),
    draw({ facts: listSourceFacts({ source_read: summary.source_read }) }),
    draw({ facts: [toThresholdsFact(view)] }),
    draw({ facts: [toRequestsFact(view)] }),
    [
      ...draw(toLatency(summary, listShown(summary))),
      ...caveats.flatMap((caveat) => formatCaveat(terminal, caveat)),
    ],
    draw(toStages(view)),
    draw({ facts: [toStatusesFact(view)] }),
    draw({ facts: [toLoadErrorsFact(summary, view)] }),
    draw({ facts: [...traffic.map(toFact), ...listWarningFacts(summary)] }),
    draw(toGroups(view)),
    draw({ facts: listGeneratorFacts(view) }),
  ])
}

function formatNotice(terminal: Terminal, { kind, title, details }: LoadNotice): string[] {
  const columns = terminal.columns()
  const [glyph, tone] =
    kind === 'limited'
      ? ([terminal.glyphs.failed, 'warn'] as const)
      : ([terminal.glyphs.stopped, 'bad'] as const)
  return [
    ...hang(`${glyph} `, toPrintable(title), columns).map((line) => terminal.tone(tone, line)),
    ...details.flatMap((detail) => hang('  ', toPrintable(detail), columns)),
  ]
}

function formatHeading(terminal: Terminal, summary: RunSummary, report: LoadReport): string[] {
  const { dot, arrow } = terminal.glyphs
  const state = terminal.tone(STATE_TONES[summary.state], summary.state)
  const measured = report.startedAt === null ? '' : ` ${dot} ${formatDuration(report.durationMs)} measured`
  const plan = report.plan.filter((phrase) => !phrase.startsWith('thresholds ')).join('; ')
  const quiet = [
    `run ${summary.run_id} ${dot} load test ${dot} ${report.operation}`,
    `${nameRunSource(summary)} ${arrow} ${toServiceUrl(summary)}`,
    ...wrapWords(plan, terminal.columns()),
  ]
  return [
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${measured}`,
    ...quiet.map((line) => terminal.tone('quiet', toPrintable(line))),
  ]
}

/** Thresholds with ✓ or ✗, the value and how far it is from the limit; that failures fail nothing, if so. */
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

/** A label as it stands within a line. */
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
        // The note stands further off than the figure.
        `${value} `,
        { text: note, tone: 'quiet' },
      ]),
      gap: 1,
    },
  }
}

function formatCaveat(terminal: Terminal, caveat: string): string[] {
  return hang('  ! ', caveat, terminal.columns()).map((line) => terminal.tone('warn', line))
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

/** What did not succeed by cause, when, and what to do about it. */
function toLoadErrorsFact(summary: RunSummary, { errors }: LoadView): Fact {
  return toErrorsFact(
    errors.slice(0, SHOWN_ERRORS).map((error) => ({
      ...{ count: error.requests, outcome: error.outcome },
      cause: `${error.status}: ${error.message} (${error.when})`,
      advice: adviseOnLoad(error, summary),
    })),
    errors.length - SHOWN_ERRORS,
    8,
  )
}

/** Statuses whose cause is not the load itself. */
const ADVISED: ReadonlySet<number | null> = new Set([401, 403, 404, 405, 413])

function adviseOnLoad({ group }: LoadView['errors'][number], summary: RunSummary): string | null {
  const { outcome, status, errorCode, message, requests } = group
  if (!ADVISED.has(status)) return null
  return (
    adviseInTerminal({ outcome, status, error_code: errorCode, message, rows: requests }, summary)?.text ??
    null
  )
}

/** Requests by stage, if the pace has any. */
function toStages({ stages }: LoadView): Section {
  if (stages.length === 0) return {}
  const points = listStageColumns(stages)
  return {
    title: 'Stages, http_req_duration in ms',
    tables: [
      {
        columns: [
          ...[text('stage'), text('level'), number('requests'), number('per s'), number('failed')],
          ...points.map(({ title }) => figure(title)),
        ],
        rows: stages.map((stage) => [
          ...[stage.label, stage.level, stage.requests, stage.perS, stage.failedShare],
          ...points.map(({ read }) => read(stage) ?? ''),
        ]),
      },
    ],
  }
}

/** The latencies of a summary: all but those that only thresholds ask for. */
function listShown({ thresholds = [] }: RunSummary): TrendMetric[] {
  const named = thresholds.flatMap(({ expression }) => {
    // k6 knows expressions that Sluice does not.
    const read = parseThreshold(expression)
    return read.ok ? [read.parsed.metric] : []
  })
  return TREND_METRICS.filter((metric) => !isDetail(metric) || named.includes(metric))
}

/** Latency by model and by size of content, if the source has more than one of them. */
function toGroups({ groups }: LoadView): Section {
  if (groups.length === 0) return {}
  const points = ['p50', 'p90', 'p99', 'max'] as const
  return {
    title: 'http_req_duration in ms',
    tables: groups.map(({ by, rows }) => ({
      columns: [
        ...[foreign(`by ${by}`, 12), number('requests'), number('failed')],
        ...points.map((title) => figure(title)),
      ],
      rows: rows
        .slice(0, SHOWN_GROUPS)
        .map(({ label, requests, failedShare, percentiles }) => [
          ...[label, requests, failedShare],
          ...points.map((point) => percentiles?.[point] ?? ''),
        ]),
    })),
  }
}

/** How this machine did: start lag, stalls, pauses, and what of the schedule went out. */
function listGeneratorFacts({ generator }: LoadView): Fact[] {
  if (generator === null || generator.facts.length === 0) return []
  const { verdict, isLimited, facts } = generator
  const texts = facts.map(({ label, value, note }) =>
    note === undefined ? `${toInline(label)} ${value}` : `${toInline(label)} ${value} (${note})`,
  )
  const said = `${verdict}: ${texts.join(', ')}`
  return [{ label: 'Generator', lines: [{ text: said, tone: isLimited ? 'warn' : 'plain' }] }]
}
