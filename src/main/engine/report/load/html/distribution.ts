import type { Histogram } from 'hdr-histogram-js'
import { listRecorded } from '../../../../../shared/latency-bars.ts'

/** A bar of a distribution: the requests that took longer than `fromMs` and at most `upToMs`. */
export interface Bar {
  fromMs: number
  upToMs: number
  count: number
}

const BARS = 60

/** Below this ratio of its edges, a bar would be narrower than the three figures that are measured. */
const RATIO_MIN = 1.004

/** Divides a histogram of microseconds into about {@link BARS} bars, each wider than the one before by one ratio. */
export function toBars(histogram: Histogram): Bar[] {
  if (histogram.totalCount === 0) return []
  const lowestUs = Math.max(1, histogram.minNonZeroValue)
  const ratio = Math.max(RATIO_MIN, (histogram.maxValue / lowestUs) ** (1 / BARS))
  const toIndex = (us: number) => Math.max(0, Math.floor(Math.log(us / lowestUs) / Math.log(ratio) - 1e-9))
  const count = toIndex(histogram.maxValue) + 1
  const bars = Array.from({ length: count }, (_, i) => ({
    fromMs: (lowestUs * ratio ** i) / 1000,
    upToMs: (lowestUs * ratio ** (i + 1)) / 1000,
    count: 0,
  }))
  for (const recorded of listRecorded(histogram)) {
    const bar = bars[Math.min(count - 1, toIndex(recorded.us))]
    if (bar !== undefined) bar.count += recorded.count
  }
  return bars
}

/** A point of a spectrum: the latency that this share of requests stayed within. */
export interface SpectrumPoint {
  /** 0 for none, 1 for 90 %, 2 for 99 %, 3 for 99.9 % of the requests. */
  nines: number
  ms: number
}

const SPECTRUM_POINTS = 160

/** How many nines a number of requests can tell apart. */
export function toNines(count: number): number {
  return Math.max(1, Math.min(6, Math.floor(Math.log10(Math.max(1, count)))))
}

/** The latency at each percentile, those near 100 drawn apart as far as `nines` goes. */
export function toSpectrum(histogram: Histogram, nines: number): SpectrumPoint[] {
  if (histogram.totalCount === 0) return []
  return Array.from({ length: SPECTRUM_POINTS + 1 }, (_, i) => {
    const at = (nines * i) / SPECTRUM_POINTS
    // The top of a histogram's bucket may lie above all that is in it.
    const us = Math.min(histogram.maxValue, histogram.getValueAtPercentile(100 * (1 - 10 ** -at)))
    return { nines: at, ms: us / 1000 }
  })
}
