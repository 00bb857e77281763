import { type CapacityUnit, formatLevel } from '../load/capacity-level.ts'
import type { CapacityPlan } from '../load/capacity-plan.ts'
import type { CapacityProbe, CapacityReport } from '../load/capacity-report.ts'
import { CAPACITY_WARNING, describeCapacityPlan, toCapacityView } from '../load/capacity-view.ts'
import type { Load } from '../load/load.ts'
import { formatCounted, formatDuration, formatFigure, formatShare } from '../messages/figure-text.ts'
import { figure, number, rate, type Section, share, text } from './report.ts'

/** What a capacity search will do to the service. */
export function toCapacityForecast(baseUrl: string, capacity: CapacityPlan, load: Load): Section {
  const { probes, atMost } = describeCapacityPlan(capacity, load)
  return {
    facts: [
      { label: 'Capacity search', lines: [`of ${baseUrl}`, { text: CAPACITY_WARNING, tone: 'warn' }] },
      { label: 'Probes', lines: [probes] },
      { label: 'At most', lines: [atMost] },
      { label: 'Thresholds', lines: load.thresholds.map(({ expression }) => expression) },
    ],
  }
}

/** One finished probe: `Probe 4 at 80/s: held, p99 41.2 ms, 0 % unsuccessful`, and why it failed. */
export function toProbeReport(
  unit: CapacityUnit,
  { level, verdict, reasons, latency_ms: latency, failed_share: failed }: CapacityProbe,
  number: number,
): Section {
  const tones = { held: 'good', failed: 'bad', void: 'warn' } as const
  const figures = [
    ...(latency === null ? [] : [`, p99 ${formatFigure(latency.p99)} ms`]),
    ...(failed === null ? [] : [`, ${formatShare(failed)} unsuccessful`]),
  ]
  return {
    title: {
      text: `Probe ${number} at ${formatLevel(unit, level)}: ${verdict}${figures.join('')}`,
      tone: tones[verdict],
    },
    lines: reasons,
  }
}

/** The result of a search: answer, certainty and curve. `listing` is the command that lists its probes. */
export function toCapacityAnswer(report: CapacityReport, listing: string): Section[] {
  const { probes, elapsed_ms: elapsedMs, thresholds } = report
  const { unit, answer, interval, end, failure } = toCapacityView(report, 'terminal')
  const fact = (label: string, lines: NonNullable<Section['lines']>) => ({ facts: [{ label, lines }] })
  return [
    fact('Capacity', [
      { text: answer, tone: 'strong' },
      interval,
      ...report.caveats.map((text) => ({ text, tone: 'warn' as const })),
      ...(end === null ? [] : [{ text: end, tone: 'warn' as const }]),
    ]),
    fact('Thresholds', thresholds),
    toCurve(report, unit),
    ...(failure === null
      ? []
      : [
          fact(`At ${formatLevel(unit, failure.level)}`, [
            ...failure.reasons,
            { text: `run ${failure.run_id}`, tone: 'quiet' },
          ]),
        ]),
    fact('Probes', [
      `${formatCounted(probes.length, 'load test')} in ${formatDuration(elapsedMs)}. To list them, run: ${listing}`,
    ]),
  ]
}

function toCurve({ curve, latency }: CapacityReport, unit: CapacityUnit): Section {
  if (curve.length === 0) return {}
  const points = ['p50', 'p95', 'p99'] as const
  return {
    title: [
      { text: `${latency} by ${unit === 'rate' ? 'rate' : 'concurrency'}`, tone: 'strong' },
      { text: ', ms', tone: 'plain' },
    ],
    tables: [
      {
        columns: [
          ...[number(unit === 'rate' ? 'requests/s' : 'in flight'), text('held')],
          ...[...points.map((point) => figure(point)), share('unsuccessful'), rate('succeeded/s')],
        ],
        rows: curve.map(({ level, held, failed, latency_ms, failed_share, succeeded_per_s }) => [
          level.toLocaleString('en-US'),
          {
            text: `${held} of ${held + failed}`,
            ...(held > failed
              ? ({ sign: 'held', tone: 'good' } as const)
              : ({ sign: 'crossed', tone: 'bad' } as const)),
          },
          ...points.map((point) => (latency_ms === null ? '' : latency_ms[point])),
          ...[failed_share ?? '', succeeded_per_s],
        ]),
      },
    ],
  }
}
