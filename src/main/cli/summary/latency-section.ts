import { LATENCY_POINTS } from '../../../shared/load/load-view.ts'
import { TREND_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import { formatCount, formatFigure } from '../../../shared/messages/figure-text.ts'
import type { Percentiles, RunSummary } from '../../../shared/run/run.ts'
import { formatTable, type TableColumn } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatSection } from './section.ts'

/** On narrower terminals only these are shown. */
const FEW_POINTS: readonly (keyof Percentiles)[] = ['p50', 'p95', 'p99', 'max']

const FULL_COLUMNS = 96

/** A table of latency series that were measured, in milliseconds; all of them unless some are named. */
export function formatLatency(
  terminal: Terminal,
  { latency_ms }: RunSummary,
  wanted: readonly TrendMetric[] = TREND_METRICS,
): string[] {
  const measured = wanted.flatMap((name) => {
    const series: Percentiles | undefined = latency_ms[name]
    return series === undefined || series.count === 0 ? [] : [{ name, series }]
  })
  if (measured.length === 0) return []
  const isFull = terminal.columns() >= FULL_COLUMNS
  const points = LATENCY_POINTS.filter(([point]) => isFull || FEW_POINTS.includes(point))
  const columns: TableColumn[] = [
    { title: '', align: 'left' },
    { title: 'count', align: 'right' },
    ...points.map(([, title]) => ({ title, align: 'right' as const })),
  ]
  const rows = measured.map(({ name, series }) => [
    name,
    formatCount(series.count),
    ...points.map(([point]) => formatFigure(series[point])),
  ])
  return [...formatSection(terminal, 'Latency in ms', ['']), ...formatTable(terminal, columns, rows, 2)]
}
