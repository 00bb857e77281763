// Imports single files: the log writer creates number formats on loading, which takes 20 ms in each thread.
import type { Histogram } from 'hdr-histogram-js'
import { decodeFromCompressedBase64, encodeIntoCompressedBase64 } from 'hdr-histogram-js/dist/encoding.js'
import { build } from 'hdr-histogram-js/dist/HistogramBuilder.js'
import { JsHistogram } from 'hdr-histogram-js/dist/JsHistogram.js'
import type { LatencyBar, Percentiles } from '../run/run.ts'
import type { TrendMetric } from './metrics.ts'

/** Longest latency that can be recorded, one hour in microseconds; longer ones count as this. */
export const HIGHEST_US = 3_600_000_000

/** An empty histogram: whole microseconds from 1 to one hour, three significant figures. */
export function createHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 32,
  })
}

/** Bytes before the compressed counts, whose length is in the last four. */
const HEAD_BYTES = 8
/** Bytes of the least and largest values after the counts, which only tell the cells of these values. */
const RANGE_BYTES = 8

/** Compressed as journals keep it: the format of HdrHistogram's own tools, followed by the exact range. */
export function encodeHistogram(histogram: Histogram): string {
  const range = new DataView(new ArrayBuffer(RANGE_BYTES))
  range.setUint32(0, histogram.minNonZeroValue)
  range.setUint32(4, histogram.maxValue)
  const bytes = String.fromCharCode(...new Uint8Array(range.buffer))
  return btoa(atob(encodeIntoCompressedBase64(histogram)) + bytes)
}

/** The result of {@link encodeHistogram} for other tools, some of which refuse anything after the counts. */
export function toToolFormat(text: string): string {
  return findRange(text) === null ? text : btoa(atob(text).slice(0, -RANGE_BYTES))
}

/** The exact least and largest value of an encoded histogram; null if it was stored without them. */
function findRange(text: string): { min: number; max: number } | null {
  // Twelve characters hold nine bytes, and the last sixteen at least ten.
  const head = toView(text.slice(0, 12))
  const tail = toView(text.slice(-16))
  if (head.byteLength <= HEAD_BYTES || tail.byteLength < RANGE_BYTES) return null
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = (text.length / 4) * 3 - padding
  if (bytes !== HEAD_BYTES + head.getUint32(4) + RANGE_BYTES) return null
  const at = tail.byteLength - RANGE_BYTES
  return { min: tail.getUint32(at), max: tail.getUint32(at + 4) }
}

function toView(base64: string): DataView {
  return new DataView(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer)
}

/** Most characters of an encoded histogram: even with a million or more in every slot it is shorter. */
const ENCODED_MAX = 128 * 1024

/** Reverses {@link encodeHistogram}. Throws for text that is no histogram, or would unpack to far more. */
export function decodeHistogram(text: string): Histogram {
  if (text.length > ENCODED_MAX) throw new RangeError('a histogram is longer than any that was ever stored')
  const histogram = decodeFromCompressedBase64(text)
  const range = histogram.totalCount === 0 ? null : findRange(text.trim())
  if (range === null || !(histogram instanceof JsHistogram)) return histogram
  const isOf = (exact: number, known: number) =>
    toCellStart(histogram, exact) === toCellStart(histogram, known)
  if (isOf(range.min, histogram.minNonZeroValue)) histogram.minNonZeroValue = range.min
  if (isOf(range.max, histogram.maxValue)) histogram.maxValue = range.max
  return histogram
}

/** Records a duration; anything below one microsecond counts as one. */
export function recordUs(histogram: Histogram, us: number): void {
  histogram.recordValue(Math.min(HIGHEST_US, Math.max(1, us)))
}

/** Percentiles in milliseconds; null if nothing was recorded. */
export function toPercentiles(histogram: Histogram): Percentiles | null {
  const count = histogram.totalCount
  if (count === 0) return null
  // A percentile is the top of its bucket, which may exceed the largest recorded value.
  const at = (percentile: number) =>
    Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1000
  return {
    count,
    min: histogram.minNonZeroValue / 1000,
    mean: Math.round(histogram.mean) / 1000,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p99_9: at(99.9),
    max: histogram.maxValue / 1000,
  }
}

/** One histogram for each series that has samples. */
export class LatencyMeter {
  readonly #histograms = new Map<TrendMetric, Histogram>()
  /** The last computed percentiles, valid until the next recording. */
  readonly #percentiles = new Map<TrendMetric, Percentiles>()

  /** Records a duration in microseconds; null is not counted. */
  record(series: TrendMetric, us: number | null): void {
    if (us !== null) recordUs(this.#of(series), us)
  }

  /** Adds another meter's or a stored histogram's samples. */
  add(series: TrendMetric, histogram: Histogram): void {
    this.#of(series).add(histogram)
  }

  /** Adds every series of another meter. */
  addAll(other: LatencyMeter): void {
    for (const [series, histogram] of other.#histograms) this.add(series, histogram)
  }

  /** The histogram of a series; null if it has no samples. */
  histogram(series: TrendMetric): Histogram | null {
    return this.#histograms.get(series) ?? null
  }

  /**
   * Percentiles of a series in milliseconds; null if it has no samples, or equals another series: that of
   * succeeded requests does if all succeeded.
   */
  percentiles(series: TrendMetric): Percentiles | null {
    const histogram = this.#histograms.get(series)
    if (histogram === undefined || histogram.totalCount === 0 || this.#isRepeated(series)) return null
    const last = this.#percentiles.get(series)
    if (last?.count === histogram.totalCount) return last
    const percentiles = toPercentiles(histogram)
    if (percentiles !== null) this.#percentiles.set(series, percentiles)
    return percentiles
  }

  /** The series compressed; null if it has no samples. */
  encode(series: TrendMetric): string | null {
    const histogram = this.#histograms.get(series)
    return histogram === undefined || histogram.totalCount === 0 ? null : encodeHistogram(histogram)
  }

  /** Empties every series. */
  reset(): void {
    for (const histogram of this.#histograms.values()) histogram.reset()
    this.#percentiles.clear()
  }

  #isRepeated(series: TrendMetric): boolean {
    if (series !== 'succeeded_duration') return false
    const count = (one: TrendMetric) => this.#histograms.get(one)?.totalCount ?? 0
    return count(series) === count('http_req_duration')
  }

  #of(series: TrendMetric): Histogram {
    let histogram = this.#histograms.get(series)
    if (histogram === undefined) {
      histogram = createHistogram()
      this.#histograms.set(series, histogram)
    }
    return histogram
  }
}

const BARS = 60

/** If its edges had a smaller ratio, a bar would be narrower than the measured three digits. */
const RATIO_MIN = 1.004

/** The range that bars must cover, in microseconds. */
type BarRange = Pick<Histogram, 'minNonZeroValue' | 'maxValue'>

/**
 * Divides a histogram of microseconds into about {@link BARS} bars, each wider than the one before by the
 * same ratio. With a range that covers several histograms, the bars of all of them have the same edges.
 */
export function toLatencyBars(histogram: Histogram, range: BarRange = histogram): LatencyBar[] {
  if (histogram.totalCount === 0) return []
  const lowestUs = Math.max(1, range.minNonZeroValue)
  const ratio = Math.max(RATIO_MIN, (range.maxValue / lowestUs) ** (1 / BARS))
  const toIndex = (us: number) => Math.max(0, Math.floor(Math.log(us / lowestUs) / Math.log(ratio) - 1e-9))
  const count = toIndex(range.maxValue) + 1
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

/** The start of a value's cell, in microseconds: the least value that a histogram takes for the same. */
export function toCellStart(histogram: Histogram, us: number): number {
  if (!(histogram instanceof JsHistogram)) throw new Error('only histograms of this process can be walked')
  return histogram.lowestEquivalentValue(us)
}

/** Every recorded value, ascending, in microseconds, with its count. */
export function* listRecorded(histogram: Histogram): Generator<{ us: number; count: number }> {
  if (!(histogram instanceof JsHistogram)) throw new Error('only histograms of this process can be walked')
  const iterator = histogram.recordedValuesIterator
  iterator.reset()
  while (iterator.hasNext()) {
    const { valueIteratedTo, countAtValueIteratedTo } = iterator.next()
    yield { us: valueIteratedTo, count: countAtValueIteratedTo }
  }
}
