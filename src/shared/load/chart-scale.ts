import { formatFigure } from '../messages/figure-text.ts'
import type { LatencyBar } from './latency-meter.ts'

/** Where values stand on an axis, and where the axis is labelled. */
export interface Scale {
  isLogarithmic: boolean
  /** From 0 (low end) to 1 (high end). */
  toShare(value: number): number
  ticks: readonly number[]
}

const TICKS = 5

/** Room above the highest value, so that a line along it is seen. */
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

/** Above this factor between the lowest and the highest value, only powers of ten show both. */
const LOGARITHMIC_FROM = 40

/** The axis that suits values above 0: logarithmic where they lie far apart. */
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

/** Where a latency lies, in bars from the left, evenly on the logarithm within its bar. */
export function toBarPosition(bars: readonly LatencyBar[], ms: number): number {
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

/** 1, 2 or 5 times a power of ten, at least what is asked for. */
function toNiceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5, 10].find((one) => one * power >= step * (1 - 1e-9)) ?? 10
  return factor * power
}
