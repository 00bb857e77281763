import type { Histogram } from 'hdr-histogram-js'

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
