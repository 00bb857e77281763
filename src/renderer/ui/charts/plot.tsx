import { Group, useComputedColorScheme } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { DistributionFrame } from '../../../shared/load/chart-scale.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './charts.module.css'

/** Colours and font of a chart, read from the tokens when it is created. */
export interface PlotLook {
  text: string
  grid: string
  font: string
  color(token: string): string
}

/** A chart's options without size and data; recreated when the theme changes. */
export type PlotOptions = (look: PlotLook) => Omit<uPlot.Options, 'width' | 'height'>

const HEIGHT_REM = 13

const NOWHERE = { left: -10, top: -10 }

/**
 * A uPlot canvas with the width of its container. `label` describes the picture in words; the figures are in
 * text beside it. `options` must keep its identity between renders.
 */
export function Plot(props: {
  options: PlotOptions
  data: uPlot.AlignedData
  label: string
  /** The point at the keyboard's cursor; null if there is none. */
  cursor?: number | null
  /** Changes together with the range of the x axis, which the options read. */
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

/** An axis styled with the tokens; `format` formats its numbers. */
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

/** One drawn series. */
export interface LegendEntry {
  label: string
  /** A colour token's name, such as `--chart-1`. */
  token: string
  /** The line's dash, so that series do not differ by colour alone. */
  dash?: 'solid' | 'dashed' | 'dotted'
}

/** The names of a chart's lines, each with colour and dash. */
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

export function toDashArray(dash: 'solid' | 'dashed' | 'dotted'): string | undefined {
  if (dash === 'solid') return undefined
  return dash === 'dashed' ? '6 4' : '2 3'
}

/** The percentiles in charts of a latency. */
export const PERCENTILE_LINES = [
  { label: 'p50', point: 'p50', token: '--chart-1', dash: 'solid' },
  { label: 'p95', point: 'p95', token: '--chart-2', dash: 'dashed' },
  { label: 'p99', point: 'p99', token: '--chart-3', dash: 'dotted' },
] as const satisfies readonly (LegendEntry & { point: string })[]

/** The left axis of a drawing: a line across for each tick, with its label; pixels. */
export function LeftAxis(props: {
  ticks: readonly { y: number; label: string }[]
  left: number
  right: number
  /** Distance between labels and lines. */
  gap?: number
}) {
  const { left, gap = 6 } = props
  return props.ticks.map(({ y, label }) => (
    <g key={y}>
      <line stroke="var(--chart-grid)" x1={left} x2={Math.max(left, props.right)} y1={y} y2={y} />
      <text fill="var(--text-2)" fontSize="0.75rem" textAnchor="end" x={left - gap} y={y + 4}>
        {label}
      </text>
    </g>
  ))
}

/** Labels below a drawing, each at its position. */
export function BottomLabels(props: {
  labels: readonly { x: number; label: string; anchor?: 'start' | 'middle' | 'end' }[]
  y: number
}) {
  return props.labels.map(({ x, label, anchor = 'middle' }) => (
    <text key={x} fill="var(--text-2)" fontSize="0.75rem" textAnchor={anchor} x={x} y={props.y}>
      {label}
    </text>
  ))
}

const PAGE = 10

/**
 * Lies over a chart and makes it usable by keyboard: arrows, Page Up, Page Down, Home and End move between
 * points, whose figures a screen reader reads. The pointer passes through it.
 */
export function ChartCursor(props: {
  /** Describes the points, such as `Bars of http_req_duration`. */
  label: string
  count: number
  /** The current point; null if there is none. */
  index: number | null
  /** The figures of that point. */
  text: string
  onIndex: (index: number | null) => void
  /** Handles other keys of the chart; returns whether it used the key. */
  onOtherKey?: (key: string) => boolean
}) {
  const { count, index, onIndex } = props
  const last = Math.max(0, count - 1)
  const move = (event: KeyboardEvent) => {
    const to = toMoved(event.key, index, last)
    if (to !== null) onIndex(to)
    else if (!props.onOtherKey?.(event.key)) return
    event.preventDefault()
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      className={styles.cursor}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={Math.min(last, index ?? 0)}
      aria-valuetext={props.text}
      onKeyDown={move}
      onFocus={() => onIndex(Math.min(last, index ?? 0))}
      onBlur={() => onIndex(null)}
    />
  )
}

function toMoved(key: string, index: number | null, last: number): number | null {
  const at = index ?? 0
  const clamp = (to: number) => Math.min(last, Math.max(0, to))
  if (key === 'ArrowRight' || key === 'ArrowUp') return clamp(at + 1)
  if (key === 'ArrowLeft' || key === 'ArrowDown') return clamp(at - 1)
  if (key === 'PageUp') return clamp(at + PAGE)
  if (key === 'PageDown') return clamp(at - PAGE)
  if (key === 'Home') return 0
  return key === 'End' ? last : null
}

/** The margins of a drawing around its plot, and its height, pixels. */
type PlotFrame = Omit<DistributionFrame, 'width' | 'labelWidth'>

/** The place of a drawing's plot, pixels: its sides, and conversions from shares of its width and height. */
export interface PlotPlace {
  width: number
  right: number
  base: number
  x: (share: number) => number
  y: (share: number) => number
}

export function placePlot(frame: PlotFrame, width: number): PlotPlace {
  const plotWidth = Math.max(1, width - frame.left - frame.right)
  const base = frame.height - frame.bottom
  return {
    width: plotWidth,
    right: frame.left + plotWidth,
    base,
    x: (share) => frame.left + share * plotWidth,
    y: (share) => base - share * (base - frame.top),
  }
}

/** A dashed vertical line through a drawing. */
export function UprightLine({ x, from, to }: { x: number; from: number; to: number }) {
  return <line stroke="var(--text-2)" strokeDasharray="3 3" x1={x} x2={x} y1={from} y2={to} />
}

/** The part below a drawing: its legend, and the reading at the pointer. */
export function ChartFoot(props: { entries: readonly LegendEntry[]; reading: string; children?: ReactNode }) {
  return (
    <Group component="figcaption" gap="var(--space-1) var(--space-4)" align="stretch" justify="space-between">
      <Legend entries={props.entries} />
      <p className={styles.reading}>{props.reading}</p>
      {props.children}
    </Group>
  )
}
