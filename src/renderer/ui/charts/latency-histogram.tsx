import { useMemo } from 'react'
import uPlot from 'uplot'
import type { LatencySeries } from '../../../shared/results.ts'
import type { Percentiles } from '../../../shared/run.ts'
import { formatCount, formatMs } from '../format-number.ts'
import { createAxis } from './axes.ts'
import { Plot, type PlotOptions } from './plot.tsx'

const TICK_EVERY_PX = 64

function createOptions(edges: number[]): PlotOptions {
  return (look) => {
    const bars = uPlot.paths.bars
    return {
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => [-0.5, Math.max(0.5, edges.length - 0.5)] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 1) * 1.05)] },
      },
      axes: [
        {
          ...createAxis(look, { format: (bar) => formatMs(edges[Math.round(bar)] ?? 0), sizePx: 30 }),
          splits: (plot) => {
            const every = Math.max(1, Math.ceil(edges.length / Math.max(1, plot.width / TICK_EVERY_PX)))
            return edges.map((_edge, index) => index).filter((index) => index % every === 0)
          },
          grid: { show: false },
        },
        createAxis(look, { format: formatCount, sizePx: 64 }),
      ],
      series: [
        {},
        {
          fill: look.color('--chart-1'),
          width: 0,
          points: { show: false },
          ...(bars && { paths: bars({ size: [0.9, 64] }) }),
        },
      ],
    }
  }
}

/** How many answers took how long: one bar for each step of latency, its upper edge written under it. */
export function LatencyHistogram(props: {
  histogram: LatencySeries['histogram']
  percentiles: Percentiles | null
}) {
  const { histogram, percentiles } = props
  const edgesKey = histogram.map((bar) => bar.upToMs).join(' ')
  const options = useMemo(
    () => createOptions(edgesKey === '' ? [] : edgesKey.split(' ').map(Number)),
    [edgesKey],
  )
  const data = useMemo<uPlot.AlignedData>(
    () => [histogram.map((_bar, index) => index), histogram.map((bar) => bar.count)],
    [histogram],
  )
  const words = percentiles
    ? `half of the answers within ${formatMs(percentiles.p50)}, 99 of 100 within ${formatMs(percentiles.p99)}`
    : 'no answers yet'
  return <Plot options={options} data={data} label={`Latency histogram: ${words}`} />
}
