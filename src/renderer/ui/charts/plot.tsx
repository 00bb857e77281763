import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { SafeText } from '../text/safe-text.tsx'
import styles from './charts.module.css'

/** Colours and font of a chart, read from the tokens when it is made. */
export interface PlotLook {
  text: string
  grid: string
  font: string
  color(token: string): string
}

/** What a chart is, apart from its size and data; recreated when the theme changes. */
export type PlotOptions = (look: PlotLook) => Omit<uPlot.Options, 'width' | 'height'>

const HEIGHT_REM = 13

const NOWHERE = { left: -10, top: -10 }

/**
 * A uPlot canvas as wide as its place. `label` says in words what the picture shows; the figures themselves stand in
 * text next to it. `options` must keep its identity between renders.
 */
export function Plot(props: {
  options: PlotOptions
  data: uPlot.AlignedData
  label: string
  /** The point that the keyboard is on; null where it is on none. */
  cursor?: number | null
  /** Changes with the range of the x axis, which the options read. */
  zoom?: unknown
}) {
  const { options, data, label, cursor = null, zoom } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const newest = useRef(data)
  newest.current = data
  const scheme = useComputedColorScheme('light')

  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme changes what the tokens resolve to
  useEffect(() => {
    const element = place.current
    if (!element) return
    const look = readLook()
    const height = HEIGHT_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const made = new uPlot(
      { ...options(look), width: Math.max(1, element.clientWidth), height },
      newest.current,
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0)
      if (width > 0 && width !== made.width) made.setSize({ width, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [options, scheme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another zoom shows another part of the same data
  useEffect(() => plot.current?.setData(data), [data, zoom])

  useEffect(() => {
    const made = plot.current
    if (!made) return
    const at = cursor === null ? undefined : made.data[0][cursor]
    made.setCursor(at === undefined ? NOWHERE : { left: made.valToPos(at, 'x'), top: 1 })
  }, [cursor])

  return <div ref={place} className={`w-full overflow-hidden ${styles.plot}`} role="img" aria-label={label} />
}

function readLook(): PlotLook {
  const style = getComputedStyle(document.documentElement)
  const color = (token: string) => style.getPropertyValue(token).trim()
  const size = Number.parseFloat(style.fontSize) * 0.75
  return {
    text: color('--text-2'),
    grid: color('--chart-grid'),
    font: `${size}px ${color('--font-text')}`,
    color,
  }
}

/** An axis in the look of the tokens; `format` writes its numbers. */
export function createAxis(
  look: PlotLook,
  options: { format: (value: number) => string; sizePx?: number },
): uPlot.Axis {
  return {
    stroke: look.text,
    font: look.font,
    grid: { stroke: look.grid, width: 1 },
    ticks: { stroke: look.grid, width: 1, size: 4 },
    values: (_plot, splits) => splits.map((value) => options.format(value)),
    ...(options.sizePx !== undefined && { size: options.sizePx }),
  }
}

/** One series as the chart draws it. */
export interface LegendEntry {
  label: string
  /** A colour token's name, such as `--chart-1`. */
  token: string
  /** How the line is drawn, so that the colour is not alone. */
  dash?: 'solid' | 'dashed' | 'dotted'
}

/** What the lines of a chart are, each by colour and dash. */
export function Legend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <ul className={`small flex flex-wrap ${styles.legend}`}>
      {entries.map((entry) => (
        <li key={entry.label} className="inline-flex items-center gap-2">
          <svg width="1.5rem" height="0.5rem" viewBox="0 0 24 8" aria-hidden="true">
            <line
              x1="0"
              x2="24"
              y1="4"
              y2="4"
              stroke={`var(${entry.token})`}
              strokeWidth="2"
              strokeDasharray={toDashArray(entry.dash ?? 'solid')}
            />
          </svg>
          <SafeText text={entry.label} max={80} />
        </li>
      ))}
    </ul>
  )
}

/** How a line is drawn, as SVG takes it. */
export function toDashArray(dash: 'solid' | 'dashed' | 'dotted'): string | undefined {
  if (dash === 'solid') return undefined
  return dash === 'dashed' ? '6 4' : '2 3'
}

/** The percentiles that charts of a latency draw. */
export const PERCENTILE_LINES = [
  { label: 'p50', point: 'p50', token: '--chart-1', dash: 'solid' },
  { label: 'p95', point: 'p95', token: '--chart-2', dash: 'dashed' },
  { label: 'p99', point: 'p99', token: '--chart-3', dash: 'dotted' },
] as const satisfies readonly (LegendEntry & { point: string })[]
