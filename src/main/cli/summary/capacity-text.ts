import type { CapacityPlan } from '../../../shared/load/capacity-plan.ts'
import type { CapacityProbe, CapacityReport } from '../../../shared/load/capacity-report.ts'
import {
  CAPACITY_WARNING,
  type CapacityUnit,
  type CapacityView,
  describeCapacityPlan,
  formatLevel,
  toCapacityView,
} from '../../../shared/load/capacity-view.ts'
import type { Load } from '../../../shared/load/load.ts'
import {
  formatCounted,
  formatDuration,
  formatFigure,
  formatRate,
  formatShare,
} from '../../../shared/messages/figure-text.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import { formatSection, formatTable, sectionColumns, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What a capacity search does to the service, before it begins. */
export function describeCapacitySearch(
  terminal: Terminal,
  { baseUrl, capacity, load }: { baseUrl: string; capacity: CapacityPlan; load: Load },
): string[] {
  const columns = sectionColumns(terminal)
  const wrap = (text: string) => wrapWords(toPrintable(text), columns)
  const { probes, atMost } = describeCapacityPlan(capacity, load)
  return [
    ...formatSection(terminal, 'Capacity search', [
      ...wrap(`of ${baseUrl}`),
      ...wrap(CAPACITY_WARNING).map((line) => terminal.tone('warn', line)),
    ]),
    ...formatSection(terminal, 'Probes', wrap(probes)),
    ...formatSection(terminal, 'At most', wrap(atMost)),
    ...formatSection(
      terminal,
      'Thresholds',
      load.thresholds.flatMap(({ expression }) => wrap(expression)),
    ),
  ]
}

/** One finished probe in a line: `Probe 4 at 80/s: held, p99 41.2 ms, 0 % failed`. */
export function formatProbe(
  terminal: Terminal,
  { unit }: Pick<CapacityPlan, 'unit'>,
  { level, verdict, reasons, latency_ms: latency, failed_share: failed }: CapacityProbe,
  number: number,
): string {
  const words = { held: 'held', failed: 'failed', void: 'void' } as const
  const tones = { held: 'good', failed: 'bad', void: 'warn' } as const
  const figures = [
    ...(latency === null ? [] : [`p99 ${formatFigure(latency.p99)} ms`]),
    ...(failed === null ? [] : [`${formatShare(failed)} unsuccessful`]),
  ]
  const line = `Probe ${number} at ${formatLevel(unit, level)}: ${words[verdict]}${figures.map((one) => `, ${one}`).join('')}`
  return [
    terminal.tone(tones[verdict], line),
    ...reasons.flatMap((reason) =>
      wrapWords(toPrintable(reason), terminal.columns() - 2).map((text) => `  ${text}`),
    ),
  ].join('\n')
}

/** The report of a capacity search for a person to read: the answer, how sure it is, and the curve. */
export function formatCapacityReport(terminal: Terminal, report: CapacityReport): string {
  const columns = sectionColumns(terminal)
  const wrap = (text: string) => wrapWords(toPrintable(text), columns)
  const { probes, elapsed_ms: elapsedMs, thresholds } = report
  const { unit, answer, interval, end, failure } = toCapacityView(report, 'terminal')
  return [
    formatSection(terminal, 'Capacity', [
      terminal.tone('strong', answer),
      ...wrap(interval),
      ...(end === null ? [] : wrap(end).map((line) => terminal.tone('warn', line))),
    ]),
    formatSection(terminal, 'Thresholds', thresholds.flatMap(wrap)),
    formatCurve(terminal, report, unit),
    formatFailure(terminal, failure, unit),
    formatSection(
      terminal,
      'Probes',
      wrap(
        `${formatCounted(probes.length, 'load test')} in ${formatDuration(elapsedMs)}. To list them, run: ${COMMAND_PREFIX} runs`,
      ),
    ),
  ]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

function formatCurve(terminal: Terminal, { curve, latency }: CapacityReport, unit: CapacityUnit): string[] {
  if (curve.length === 0) return []
  const { held: heldSign, crossed } = terminal.glyphs
  const rows = curve.map(({ level, held, failed, latency_ms, failed_share, succeeded_per_s }) => {
    const isHeld = held > failed
    const verdict = `${isHeld ? heldSign : crossed} ${held} of ${held + failed}`
    return [
      level.toLocaleString('en-US'),
      terminal.tone(isHeld ? 'good' : 'bad', verdict),
      ...(['p50', 'p95', 'p99'] as const).map((point) =>
        latency_ms === null ? '' : formatFigure(latency_ms[point]),
      ),
      failed_share === null ? '' : formatShare(failed_share),
      formatRate(succeeded_per_s),
    ]
  })
  return [
    `${terminal.tone('strong', `${latency} by ${unit === 'rate' ? 'rate' : 'concurrency'}`)}, ms`,
    ...formatTable(
      terminal,
      [
        { title: unit === 'rate' ? 'requests/s' : 'in flight', align: 'right' },
        { title: 'held', align: 'left' },
        { title: 'p50', align: 'right' },
        { title: 'p95', align: 'right' },
        { title: 'p99', align: 'right' },
        { title: 'unsuccessful', align: 'right' },
        { title: 'succeeded/s', align: 'right' },
      ],
      rows,
      2,
    ),
  ]
}

/** Why the lowest level that failed did so. */
function formatFailure(terminal: Terminal, lowest: CapacityView['failure'], unit: CapacityUnit): string[] {
  if (lowest === null) return []
  return formatSection(terminal, `At ${formatLevel(unit, lowest.level)}`, [
    ...lowest.reasons.flatMap((reason) => wrapWords(toPrintable(reason), sectionColumns(terminal))),
    terminal.tone('quiet', `run ${lowest.run_id}`),
  ])
}
