import { type Histogram, JsHistogram } from 'hdr-histogram-js'

/** A bar of a latency distribution: the samples that took longer than `fromMs` and at most `upToMs`. */
export interface LatencyBar {
  fromMs: number
  upToMs: number
  count: number
}

const BARS = 60

/** Below this ratio of its edges, a bar would be narrower than the three figures that are measured. */
const RATIO_MIN = 1.004

/** Divides a histogram of microseconds into about {@link BARS} bars, each wider than the one before by one ratio. */
export function toLatencyBars(histogram: Histogram): LatencyBar[] {
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

/** Every value that was recorded, ascending, in microseconds, and how often. */
export function* listRecorded(histogram: Histogram): Generator<{ us: number; count: number }> {
  if (!(histogram instanceof JsHistogram)) throw new Error('only histograms of this process can be walked')
  const iterator = histogram.recordedValuesIterator
  iterator.reset()
  while (iterator.hasNext()) {
    const { valueIteratedTo, countAtValueIteratedTo } = iterator.next()
    yield { us: valueIteratedTo, count: countAtValueIteratedTo }
  }
}
