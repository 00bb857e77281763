import { useMemo, useRef, useState } from 'react'
import type uPlot from 'uplot'
import { formatSpan } from '../../../shared/messages/figure-text.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { ActionButton } from '../controls.tsx'
import { formatClock } from '../format-time.ts'
import {
  ChartCursor,
  ChartFoot,
  createAxis,
  type LegendEntry,
  Plot,
  type PlotLook,
  type PlotOptions,
} from './plot.tsx'

/** A line of a chart over time: its look, and its value at each point; null is a gap. */
export interface TimeLine extends LegendEntry {
  values: readonly (number | null)[]
}

/** An upper limit, drawn across the chart. */
export interface TimeLimit {
  label: string
  value: number
}

const DASHES: Record<NonNullable<LegendEntry['dash']>, number[]> = {
  solid: [],
  dashed: [6, 4],
  dotted: [2, 3],
}

const SHORTEST_SECONDS = 5
const FEW_SECONDS = 120
const WHOLE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600]

/** Room for one label of the time axis, pixels. */
const LABEL_PX = 60

/** A shorter drag counts as a click. */
const DRAG_PX = 8

type Range = readonly [from: number, to: number]

/** Additions to the lines. */
interface Marks {
  pauses: readonly ChartPause[]
  limits: readonly TimeLimit[]
  /** Shaded seconds of sending, whose latencies may include delays of this machine. */
  limited: readonly number[]
}

/** Read by a chart's options when it draws; changes do not recreate the chart. */
interface Newest {
  zoom: Range | null
  onHover: (index: number | null) => void
  onZoom: (zoom: Range) => void
}

/**
 * Lines over the time of sending. The point at the pointer or the keyboard's cursor is described in figures;
 * dragging across zooms in, like + and − on the keyboard.
 */
export function TimeChart(props: {
  /** Describes the picture, with its newest figures. */
  label: string
  /** Describes the points for the keyboard, such as `Seconds of http_req_duration`. */
  points: string
  /** Seconds of sending before each point. */
  at: readonly number[]
  lines: readonly TimeLine[]
  formatAxis: (value: number) => string
  /** The figures of a point. */
  describe: (index: number) => string
  pauses: readonly ChartPause[]
  limits?: readonly TimeLimit[]
  limited?: readonly number[]
}) {
  const { at, lines, formatAxis, pauses, limits = [], limited = [] } = props
  const [hovered, setHovered] = useState<number | null>(null)
  const [keyed, setKeyed] = useState<number | null>(null)
  const [zoom, setZoom] = useState<Range | null>(null)
  const newest = useRef<Newest>({ zoom, onHover: setHovered, onZoom: setZoom })
  newest.current = { zoom, onHover: setHovered, onZoom: setZoom }
  const made = JSON.stringify({
    lines: lines.map(({ label, token, dash }) => ({ label, token, dash })),
    marks: { pauses, limits, limited } satisfies Marks,
  })
  const options = useMemo(() => createOptions(made, formatAxis, newest), [made, formatAxis])
  const data = useMemo<uPlot.AlignedData>(
    () => [[...at], ...lines.map(({ values }) => [...values])],
    [at, lines],
  )
  const index = keyed ?? hovered
  const isKnown = index !== null && index < at.length
  const zoomByKey = (key: string) => {
    if (key === 'Escape' && zoom !== null) setZoom(null)
    else if (key === '+' || key === '=') setZoom(scaleZoom(zoom, at, keyed ?? 0, 0.5))
    else if (key === '-') setZoom(scaleZoom(zoom, at, keyed ?? 0, 2))
    else return false
    return true
  }
  const reading = isKnown
    ? props.describe(index)
    : 'Point at a second for its figures; drag across to zoom in'
  return (
    <figure>
      <div className="relative">
        <Plot options={options} data={data} label={props.label} cursor={keyed} zoom={zoom} />
        <ChartCursor
          label={props.points}
          count={at.length}
          index={index}
          text={reading}
          onIndex={setKeyed}
          onOtherKey={zoomByKey}
        />
      </div>
      <ChartFoot entries={lines} reading={reading}>
        {zoom !== null && <ActionButton label="Show all" small onClick={() => setZoom(null)} />}
      </ChartFoot>
    </figure>
  )
}

/** A range of a chart around a point, `factor` times as wide, in seconds of sending; null for the whole. */
export function scaleZoom(
  zoom: Range | null,
  at: readonly number[],
  index: number,
  factor: number,
): Range | null {
  const end = Math.max(SHORTEST_SECONDS, at.at(-1) ?? 0)
  const [from, to] = zoom ?? [0, end]
  const width = Math.max(SHORTEST_SECONDS, (to - from) * factor)
  if (width >= end) return null
  const start = Math.min(end - width, Math.max(0, (at[index] ?? 0) - width / 2))
  return [start, start + width]
}

function createOptions(
  made: string,
  formatAxis: (value: number) => string,
  newest: { current: Newest },
): PlotOptions {
  const { lines, marks } = JSON.parse(made) as { lines: LegendEntry[]; marks: Marks }
  const highestLimit = Math.max(0, ...marks.limits.map(({ value }) => value))
  return (look) => ({
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: DRAG_PX }, points: { size: 6 } },
    scales: {
      x: {
        time: false,
        range: (plot) => {
          const { zoom } = newest.current
          return zoom === null ? [0, Math.max(SHORTEST_SECONDS, plot.data[0].at(-1) ?? 0)] : [...zoom]
        },
      },
      y: {
        range: (_plot, _min, max) => [0, Math.max(0.1, (max ?? 1) * 1.1, toShownLimit(highestLimit, max))],
      },
    },
    axes: [
      { ...createAxis(look, { format: formatClock, sizePx: 30 }), incrs: WHOLE_STEPS, space: LABEL_PX },
      createAxis(look, { format: formatAxis, sizePx: 64 }),
    ],
    series: [
      {},
      ...lines.map(({ label, token, dash = 'solid' }) => ({
        label,
        stroke: look.color(token),
        width: 1.5,
        dash: DASHES[dash],
        points: { show: (plot: uPlot) => plot.data[0].length < FEW_SECONDS, size: 4 },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [(plot: uPlot) => newest.current.onHover(plot.cursor.idx ?? null)],
      setSelect: [
        (plot: uPlot) => {
          const { left, width } = plot.select
          if (width < DRAG_PX) return
          newest.current.onZoom([plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')])
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
      draw: [(plot: uPlot) => drawMarks(plot, marks, look)],
    },
  })
}

/** A limit far above all values would flatten the lines, so it is left out. */
function toShownLimit(limit: number, highest: number | null): number {
  return limit <= (highest ?? 0) * 3 ? limit * 1.1 : 0
}

function drawMarks(plot: uPlot, { pauses, limits, limited }: Marks, look: PlotLook): void {
  const { ctx, bbox } = plot
  const right = bbox.left + bbox.width
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.fillStyle = look.color('--chart-limited')
  for (const at of limited) {
    const from = plot.valToPos(at - 0.5, 'x', true)
    ctx.fillRect(from, bbox.top, plot.valToPos(at + 0.5, 'x', true) - from, bbox.height)
  }
  ctx.strokeStyle = look.text
  ctx.fillStyle = look.text
  ctx.font = look.font
  ctx.textBaseline = 'top'
  ctx.setLineDash([3, 3])
  for (const { at, lengthS } of pauses) {
    const x = plot.valToPos(at - 0.5, 'x', true)
    drawLine(ctx, [x, bbox.top], [x, bbox.top + bbox.height])
    const text = `paused ${formatSpan(lengthS * 1000)}`
    const isRight = x + ctx.measureText(text).width + 8 > right
    ctx.textAlign = isRight ? 'right' : 'left'
    ctx.fillText(text, x + (isRight ? -4 : 4), bbox.top + 2)
  }
  ctx.strokeStyle = look.color('--state-failed')
  ctx.fillStyle = look.color('--state-failed')
  ctx.setLineDash([8, 4])
  ctx.textAlign = 'right'
  ctx.textBaseline = 'bottom'
  for (const { label, value } of limits) {
    const y = plot.valToPos(value, 'y', true)
    if (y < bbox.top) continue
    drawLine(ctx, [bbox.left, y], [right, y])
    ctx.fillText(label, right - 4, y - 2)
  }
  ctx.restore()
}

function drawLine(ctx: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  ctx.beginPath()
  ctx.moveTo(...from)
  ctx.lineTo(...to)
  ctx.stroke()
}

/** Most points in a chart; more than the pixels of a wide one would only cost time. */
const CHART_MAX_POINTS = 1_200

export interface LatencySecond {
  /** Seconds since sending began, including pauses. */
  second: number
  /** Null if nothing was measured in it. */
  percentiles: Percentiles | null
}

/** One second in a chart of requests; null if unknown. */
export interface RequestSecond {
  second: number
  /** As scheduled; null without a schedule. */
  scheduled: number | null
  sent: number | null
  succeeded: number | null
  /** Requests that ended without success, including dropped ones. */
  unsuccessful: number | null
}

/** A second's place in a chart. */
interface Placed {
  second: number
  /** Seconds of sending before it; pauses take no room. */
  at: number
}

/** A stretch without sending: its place in the chart, and its length in seconds. */
interface ChartPause {
  at: number
  lengthS: number
}

interface ChartSeconds<Second> {
  points: (Second & Placed)[]
  pauses: ChartPause[]
}

/** Fewest seconds without a request that count as a pause; a shorter gap is a slow pace. */
const PAUSE_MIN_S = 5

/** If there are too many seconds, each stretch shows the one with the worst p99, so that no spike is lost. */
export function toChartSeconds(seconds: readonly LatencySecond[]): ChartSeconds<LatencySecond> {
  const toWorst = (among: readonly (LatencySecond & Placed)[], first: LatencySecond & Placed) =>
    among.reduce(
      (kept, second) => ((second.percentiles?.p99 ?? -1) > (kept.percentiles?.p99 ?? -1) ? second : kept),
      first,
    )
  return placeSeconds(seconds, toWorst, (second) => ({ second, percentiles: null }))
}

/** If there are too many seconds, each stretch is represented by their mean. */
export function toRequestSeconds(seconds: readonly RequestSecond[]): ChartSeconds<RequestSecond> {
  const toMean = (among: readonly (RequestSecond & Placed)[], first: RequestSecond & Placed) => {
    const mean = (name: 'scheduled' | 'sent' | 'succeeded' | 'unsuccessful') =>
      first[name] === null ? null : among.reduce((sum, one) => sum + (one[name] ?? 0), 0) / among.length
    return {
      ...first,
      scheduled: mean('scheduled'),
      sent: mean('sent'),
      succeeded: mean('succeeded'),
      unsuccessful: mean('unsuccessful'),
    }
  }
  const nothing = { scheduled: null, sent: null, succeeded: null, unsuccessful: null }
  return placeSeconds(seconds, toMean, (second) => ({ second, ...nothing }))
}

/**
 * At most {@link CHART_MAX_POINTS} points, one for each stretch of seconds. A long pause is cut out and
 * listed, since a night's pause would leave no room for the minutes of sending; a short gap breaks the line.
 */
function placeSeconds<Second extends { second: number }>(
  seconds: readonly Second[],
  merge: (among: readonly (Second & Placed)[], first: Second & Placed) => Second & Placed,
  toGap: (second: number) => Second,
): ChartSeconds<Second> {
  const pauses: ChartPause[] = []
  let takenOutS = 0
  const placed = seconds.map((second, index) => {
    const gapS = second.second - (seconds[index - 1]?.second ?? second.second) - 1
    if (gapS >= PAUSE_MIN_S) {
      takenOutS += gapS
      pauses.push({ at: second.second - takenOutS, lengthS: gapS })
    }
    return { ...second, at: second.second - takenOutS }
  })
  const stretch = Math.ceil(placed.length / CHART_MAX_POINTS)
  const thinned: (Second & Placed)[] = []
  for (let from = 0; from < placed.length; from += stretch) {
    const first = placed[from]
    if (first !== undefined) thinned.push(merge(placed.slice(from, from + stretch), first))
  }
  // The greatest distance between neighbouring points without a missing second.
  const mostApart = Math.max(1, stretch * 2 - 1)
  const points = thinned.flatMap((point, index) => {
    const next = thinned[index + 1]
    const isBroken = next !== undefined && next.second - point.second > mostApart
    return isBroken ? [point, { ...toGap(point.second + 1), at: point.at + 0.5 }] : [point]
  })
  return { points, pauses }
}
