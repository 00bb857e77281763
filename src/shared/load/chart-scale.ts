import { formatFigure } from '../messages/figure-text.ts'
import type { LatencyBar } from '../run/run.ts'

/** Maps values to positions on an axis, with the axis' labels. */
export interface Scale {
  isLogarithmic: boolean
  /** From 0 (low end) to 1 (high end). */
  toShare(value: number): number
  ticks: readonly number[]
}

const TICKS = 5

/** Room above the highest value, so that a line at it remains visible. */
const HEADROOM = 1.04

/** An axis from 0 to a little above the highest value. */
export function createLinearScale(highest: number): Scale {
  const end = highest > 0 ? highest * HEADROOM : 1
  const step = toNiceStep(end / TICKS)
  const count = Math.max(1, Math.ceil(end / step - 1e-9))
  const top = count * step
  return {
    isLogarithmic: false,
    toShare: (value) => Math.min(1, Math.max(0, value / top)),
    ticks: Array.from({ length: count + 1 }, (_, i) => i * step),
  }
}

/** An axis of powers of ten that holds every value; values must be above 0. */
function createLogarithmicScale(lowest: number, highest: number): Scale {
  const from = Math.floor(Math.log10(lowest) + 1e-9)
  const to = Math.max(from + 1, Math.ceil(Math.log10(highest) - 1e-9))
  return {
    isLogarithmic: true,
    toShare: (value) => Math.min(1, Math.max(0, (Math.log10(value) - from) / (to - from))),
    ticks: Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)),
  }
}

/** An axis of logarithms just wide enough for the values, labelled at 1, 2 and 5 times powers of ten. */
export function createTightScale(lowest: number, highest: number): Scale {
  const room = highest / lowest > 1 ? (highest / lowest) ** TIGHT_ROOM : TIGHT_AROUND_ONE
  const [from, to] = [Math.log10(lowest / room), Math.log10(highest * room)]
  const ticks: number[] = []
  for (let power = Math.floor(from); power <= to; power += 1) {
    for (const factor of [1, 2, 5]) {
      const tick = factor * 10 ** power
      if (Math.log10(tick) >= from && Math.log10(tick) <= to) ticks.push(tick)
    }
  }
  return {
    isLogarithmic: true,
    toShare: (value) => Math.min(1, Math.max(0, (Math.log10(value) - from) / (to - from))),
    ticks,
  }
}

/** Room beyond either end of a tight axis, as a power of its span, and around a single value, as a factor. */
const TIGHT_ROOM = 0.03
const TIGHT_AROUND_ONE = 1.3

/** If the highest value exceeds the lowest by more than this factor, only powers of ten show both. */
const LOGARITHMIC_FROM = 40

/** A suitable axis for values above 0: logarithmic if they lie far apart. */
export function createValueScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  if (positive.length === 0) return createLinearScale(0)
  const [lowest, highest] = positive.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, 0],
  )
  return highest / lowest > LOGARITHMIC_FROM
    ? createLogarithmicScale(lowest, highest)
    : createLinearScale(highest)
}

/** Position of a latency, in bars from the left, logarithmic within its bar. */
function toBarPosition(bars: readonly LatencyBar[], ms: number): number {
  const index = bars.findIndex(({ upToMs }) => ms <= upToMs)
  const bar = bars[index]
  if (bar === undefined) return bars.length
  const share = Math.log(ms / bar.fromMs) / Math.log(bar.upToMs / bar.fromMs)
  return index + Math.min(1, Math.max(0, share))
}

/** A tick's label: as few digits as its place needs. */
export function formatTick(value: number): string {
  if (value === 0 || Number.isInteger(value)) return value.toLocaleString('en-US')
  return value < 1 ? String(Number(value.toPrecision(2))) : formatFigure(value).replace(/\.?0+$/, '')
}

/** The smallest 1, 2 or 5 times a power of ten that is at least `step`. */
export function toNiceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5, 10].find((one) => one * power >= step * (1 - 1e-9)) ?? 10
  return factor * power
}

/** Size of a distribution's picture and the room around its bars, in the picture's units. */
export interface DistributionFrame {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
  /** Room that a label under the bars needs. */
  labelWidth: number
}

/** A distribution laid out for drawing, independent of what draws it. */
export interface DistributionLayout {
  /** Width of a bar and the gap beside it. */
  step: number
  grid: { y: number; label: string }[]
  bars: { bar: LatencyBar; x: number; y: number; width: number; height: number }[]
  /** Round values along the axis that have room for a label. */
  ticks: { x: number; ms: number }[]
  /** Percentiles and the maximum, their labels in rows so that none covers another. */
  marks: { x: number; name: DistributionMark; ms: number; labelY: number; isLabelLeft: boolean }[]
}

const MARKED = ['p50', 'p90', 'p95', 'p99', 'max'] as const

/** A point of a distribution that its picture marks. */
type DistributionMark = (typeof MARKED)[number]

const MARK_HEIGHT = 13
const MARK_LABEL_WIDTH = 90

/** Room above the bars if the label of each mark needs a row of its own. */
export const MARKS_HEIGHT = MARK_HEIGHT * MARKED.length + 12

/** Lays out bars of equal width, each covering more milliseconds than the last, with percentiles marked. */
export function layOutDistribution(
  bars: readonly LatencyBar[],
  percentiles: Readonly<Record<DistributionMark, number>> | null,
  { width, height, left, right, top, bottom, labelWidth }: DistributionFrame,
): DistributionLayout {
  const scale = createLinearScale(Math.max(...bars.map(({ count }) => count)))
  const inner = Math.max(1, width - left - right)
  const step = inner / bars.length
  const base = height - bottom
  const toX = (ms: number) => left + step * toBarPosition(bars, ms)
  const toY = (count: number) => top + (base - top) * (1 - scale.toShare(count))
  const gap = step > 4 ? 1 : 0
  const [lowest, highest] = [bars[0]?.fromMs ?? 1, bars.at(-1)?.upToMs ?? 1]
  return {
    step,
    // Counts are whole numbers, so there are no lines in between.
    grid: scale.ticks.filter(Number.isInteger).map((tick) => ({ y: toY(tick), label: formatTick(tick) })),
    bars: bars.flatMap((bar, index) => {
      if (bar.count === 0) return []
      // Even a small count gets a visible bar.
      const barHeight = Math.max(1, base - toY(bar.count))
      const x = left + step * index + gap / 2
      return [{ bar, x, y: base - barHeight, width: Math.max(1, step - gap), height: barHeight }]
    }),
    ticks: keepApart(
      listLogarithmicTicks(lowest, highest, Math.max(2, Math.floor(inner / labelWidth))).map((ms) => ({
        x: toX(ms),
        ms,
      })),
      labelWidth * 0.85,
    ),
    marks:
      percentiles === null
        ? []
        : placeMarks(
            MARKED.map((name) => ({ name, ms: percentiles[name], x: toX(percentiles[name]) })),
            width,
          ),
  }
}

/** Leaves out ticks whose label would cover the one before: on a logarithmic axis, ticks get ever closer. */
function keepApart<Tick extends { x: number }>(ticks: readonly Tick[], least: number): Tick[] {
  const kept: Tick[] = []
  for (const tick of ticks) {
    const last = kept.at(-1)
    if (last === undefined || tick.x - last.x >= least) kept.push(tick)
  }
  return kept
}

/** Puts each label into the first row in which it covers no other. */
function placeMarks(
  marks: readonly { name: DistributionMark; ms: number; x: number }[],
  width: number,
): DistributionLayout['marks'] {
  const rows: [from: number, to: number][][] = []
  return marks.map((mark) => {
    const isLabelLeft = mark.x > width - MARK_LABEL_WIDTH
    const from = isLabelLeft ? mark.x - MARK_LABEL_WIDTH : mark.x
    const to = from + MARK_LABEL_WIDTH
    const free = rows.findIndex((taken) => taken.every(([start, end]) => to <= start || from >= end))
    const row = free === -1 ? rows.length : free
    rows[row] = [...(rows[row] ?? []), [from, to]]
    return { ...mark, isLabelLeft, labelY: 12 + row * MARK_HEIGHT }
  })
}

/** Labels for a decade of a logarithmic axis, from few to many. */
const DECADES = [[1], [1, 3], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]

/** At most `most` round values from `lowest` to `highest` on a logarithmic axis. */
function listLogarithmicTicks(lowest: number, highest: number, most: number): number[] {
  const first = Math.floor(Math.log10(lowest))
  const powers = Array.from({ length: Math.ceil(Math.log10(highest)) - first + 1 }, (_, i) => first + i)
  const fitting = DECADES.map((factors) =>
    powers
      .flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)))
      .filter((value) => value >= lowest && value <= highest),
  ).filter((ticks) => ticks.length <= most)
  const densest = fitting.at(-1) ?? []
  // Within a decade the axis is almost linear, and the next round value may lie beyond its end.
  if (densest.length > 2 && highest / lowest >= 10) return densest
  const step = toNiceStep((highest - lowest) / most)
  const from = Math.ceil(lowest / step - 1e-9)
  const count = Math.floor(highest / step + 1e-9) - from + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((from + i) * step).toPrecision(12)))
}
