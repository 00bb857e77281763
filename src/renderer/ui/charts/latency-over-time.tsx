import { useMemo } from 'react'
import type uPlot from 'uplot'
import type { RunSecond } from '../../../shared/results.ts'
import { formatAxisMs, formatMs } from '../format-number.ts'
import { formatSpan } from '../format-time.ts'
import { createAxis } from './axes.ts'
import { Legend, type LegendEntry } from './legend.tsx'
import { Plot, type PlotOptions } from './plot.tsx'
import { toChartSeconds } from './to-chart-seconds.ts'

const SERIES = [
  { label: 'p50', token: '--chart-1', dash: 'solid' },
  { label: 'p95', token: '--chart-2', dash: 'dashed' },
  { label: 'p99', token: '--chart-3', dash: 'dotted' },
] as const satisfies readonly LegendEntry[]

const DASHES: Record<(typeof SERIES)[number]['dash'], number[]> = {
  solid: [],
  dashed: [6, 4],
  dotted: [2, 3],
}

const SHORTEST_SECONDS = 5
const FEW_SECONDS = 120
const WHOLE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600]

function formatSecond(second: number): string {
  return second < 60 ? `${second} s` : formatSpan(second * 1000)
}

const options: PlotOptions = (look) => ({
  legend: { show: false },
  cursor: { show: false },
  scales: {
    x: { time: false, range: (plot) => [0, Math.max(SHORTEST_SECONDS, plot.data[0].at(-1) ?? 0)] },
    y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 1) * 1.1)] },
  },
  axes: [
    { ...createAxis(look, { format: formatSecond, sizePx: 30 }), incrs: WHOLE_STEPS },
    createAxis(look, { format: formatAxisMs, sizePx: 64 }),
  ],
  series: [
    {},
    ...SERIES.map((series) => ({
      label: series.label,
      stroke: look.color(series.token),
      width: 1.5,
      dash: DASHES[series.dash],
      points: { show: (plot: uPlot) => plot.data[0].length < FEW_SECONDS, size: 4 },
      spanGaps: false,
    })),
  ],
})

/** p50, p95 and p99 in each second of a run: of http_req_duration, or of what `name` says the seconds hold. */
export function LatencyOverTime(props: { seconds: readonly RunSecond[]; name?: string }) {
  const { seconds, name = 'Latency' } = props
  const data = useMemo<uPlot.AlignedData>(() => {
    const shown = toChartSeconds(seconds)
    return [
      shown.map((second) => second.second),
      shown.map((second) => second.httpReqDurationMs?.p50 ?? null),
      shown.map((second) => second.httpReqDurationMs?.p95 ?? null),
      shown.map((second) => second.httpReqDurationMs?.p99 ?? null),
    ]
  }, [seconds])
  const last = seconds.findLast((second) => second.httpReqDurationMs !== null)?.httpReqDurationMs
  const now = last ? `; last second p50 ${formatMs(last.p50)}, p99 ${formatMs(last.p99)}` : ''
  return (
    <figure>
      <Plot
        options={options}
        data={data}
        label={`${name} percentiles over ${formatSpan(((seconds.at(-1)?.second ?? -1) + 1) * 1000)}${now}`}
      />
      <Legend entries={SERIES} />
    </figure>
  )
}
