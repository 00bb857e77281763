import type { CapacityPlan, CapacityProbe, CapacityReport } from '../../../shared/load/capacity-report.ts'
import type { Load } from '../../../shared/load/load.ts'
import { formatDurationMs } from '../../../shared/messages/duration.ts'
import {
  formatCount,
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

type Unit = CapacityPlan['unit']

/** A level with its unit: `300/s`, `16 in flight`. */
export function formatLevel(unit: Unit, level: number): string {
  return unit === 'rate' ? `${level.toLocaleString('en-US')}/s` : `${formatCount(level)} in flight`
}

function formatLongLevel(unit: Unit, level: number): string {
  return unit === 'rate'
    ? `${level.toLocaleString('en-US')} requests per second`
    : `${formatCounted(level, 'request')} in flight`
}

/** What a capacity search does to the service, before it begins. */
export function describeCapacitySearch(
  terminal: Terminal,
  { baseUrl, capacity, load }: { baseUrl: string; capacity: CapacityPlan; load: Load },
): string[] {
  const { unit, start, max, maxProbes, maxTimeMs, coolDownMs } = capacity
  const columns = sectionColumns(terminal)
  const wrap = (text: string) => wrapWords(toPrintable(text), columns)
  const measured = formatDurationMs(load.durationMs ?? 0)
  const warmup = load.warmupMs === 0 ? '' : ` after ${formatDurationMs(load.warmupMs)} of warm-up`
  return [
    ...formatSection(terminal, 'Capacity search', [
      ...wrap(`of ${baseUrl}`),
      ...wrap(
        'Overloads the service on purpose: doubles the load until a threshold fails, then narrows it down. Everyone who uses this deployment may get slow answers and errors.',
      ).map((line) => terminal.tone('warn', line)),
    ]),
    ...formatSection(
      terminal,
      'Probes',
      wrap(
        `${measured} each${warmup}, ${formatDurationMs(coolDownMs)} apart, from ${formatLongLevel(unit, start)}`,
      ),
    ),
    ...formatSection(
      terminal,
      'At most',
      wrap(
        `${formatLongLevel(unit, max)}, ${formatCounted(maxProbes, 'probe')}, ${formatDurationMs(maxTimeMs)}`,
      ),
    ),
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
  const { unit: reportUnit, capacity, probes, elapsed_ms: elapsedMs, thresholds } = report
  const unit: Unit = reportUnit === 'requests_per_second' ? 'rate' : 'concurrency'
  const isDone = report.end === 'found'
  const answer =
    capacity === null ? 'unknown' : `${isDone ? '' : 'at least '}${formatLongLevel(unit, capacity)}`
  return [
    [
      ...formatSection(terminal, 'Capacity', [
        terminal.tone('strong', answer),
        ...wrap(describeInterval(report, unit)),
        ...(isDone ? [] : wrap(describeEnd(report, unit)).map((line) => terminal.tone('warn', line))),
      ]),
    ],
    formatSection(terminal, 'Thresholds', thresholds.flatMap(wrap)),
    formatCurve(terminal, report, unit),
    formatFailure(terminal, report, unit),
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

function describeInterval({ interval: { low, high } }: CapacityReport, unit: Unit): string {
  const held = low === null ? null : `All probes up to ${formatLevel(unit, low)} held.`
  const failed = high === null ? null : `All probes from ${formatLevel(unit, high)} on failed.`
  return [held, failed].filter((sentence) => sentence !== null).join(' ')
}

function describeEnd({ end, error, probes, settings }: CapacityReport, unit: Unit): string {
  const last = probes.at(-1)
  const at = last === undefined ? '' : ` at ${formatLevel(unit, last.level)}`
  switch (end) {
    case 'found':
      return ''
    case 'max_held':
      return `The highest level allowed held: ${formatLevel(unit, settings.max)}. To search further, raise --max-level.`
    case 'none_held':
      return 'Thresholds failed at every level that was probed. To begin lower, use a smaller --rate or --concurrency.'
    case 'generator_limited':
      return `Ended because this machine was the bottleneck${at}, twice: probes there say nothing about the service. Try --workers, or a machine with less to do.`
    case 'probe_limit':
      return `Ended after ${formatCounted(settings.max_probes, 'probe')}. To search further, raise --max-probes.`
    case 'time_limit':
      return `Ended because another probe would exceed ${formatDurationMs(settings.max_time_ms)}. To search further, raise --max-time.`
    case 'interrupted':
      return 'Interrupted. A search cannot be resumed; the probes that finished are kept.'
    case 'broken_off':
      return `Ended by an error: ${error ?? 'unknown'}`
  }
}

function formatCurve(terminal: Terminal, { curve, latency }: CapacityReport, unit: Unit): string[] {
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
function formatFailure(terminal: Terminal, { probes }: CapacityReport, unit: Unit): string[] {
  const lowest = probes
    .filter(({ verdict }) => verdict === 'failed')
    .toSorted((one, other) => one.level - other.level)[0]
  if (lowest === undefined) return []
  return formatSection(terminal, `At ${formatLevel(unit, lowest.level)}`, [
    ...lowest.reasons.flatMap((reason) => wrapWords(toPrintable(reason), sectionColumns(terminal))),
    terminal.tone('quiet', `run ${lowest.run_id}`),
  ])
}
