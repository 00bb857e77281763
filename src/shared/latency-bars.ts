import { type Histogram, JsHistogram } from 'hdr-histogram-js'

/** Each bar's upper edge is this much above the one before, from 0.1 ms on. */
const EDGE_FACTOR = 1.25

/** A bar of a latency distribution: its upper edge in milliseconds, and the samples in it. */
export interface LatencyBar {
  upToMs: number
  count: number
}

/** Draws a histogram of microseconds as bars of even width on a logarithmic scale, gaps included. */
export function toLatencyBars(histogram: Histogram): LatencyBar[] {
  if (histogram.totalCount === 0) return []
  const counts = new Map<number, number>()
  for (const { us, count } of listRecorded(histogram)) {
    const edge = toEdge(us)
    counts.set(edge, (counts.get(edge) ?? 0) + count)
  }
  const edges = [...counts.keys()]
  const [first, last] = [Math.min(...edges), Math.max(...edges)]
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    upToMs: toEdgeUs(first + i) / 1000,
    count: counts.get(first + i) ?? 0,
  }))
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

function toEdge(us: number): number {
  return Math.max(0, Math.ceil(Math.log(us / 100) / Math.log(EDGE_FACTOR)))
}

function toEdgeUs(edge: number): number {
  return 100 * EDGE_FACTOR ** edge
}
