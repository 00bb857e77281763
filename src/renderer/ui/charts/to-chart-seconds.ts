import type { Percentiles } from '../../../shared/run/run.ts'

/** Most points a chart draws; more than the pixels of a wide one would only cost time. */
const CHART_MAX_POINTS = 1_200

/** One second as a chart over time shows it. */
export interface LatencySecond {
  /** Seconds since sending started, pauses included. */
  second: number
  /** Null where nothing was measured in it. */
  percentiles: Percentiles | null
}

/** A point of a chart over time: where it stands, and what it shows. */
export interface ChartSecond extends LatencySecond {
  /** Seconds of sending before it: pauses take no room. */
  at: number
}

/** A stretch in which nothing was sent, where it stands in the chart, and how long it was, in seconds. */
export interface ChartPause {
  at: number
  lengthS: number
}

/** Seconds without a request that count as a pause; less is a slow pace. */
const PAUSE_MIN_S = 5

/**
 * The seconds as a chart draws them. Of a run longer than {@link CHART_MAX_POINTS} seconds, of each stretch the one
 * whose p99 is worst, so that thinning hides no spike. Pauses are taken out and told apart, since a night's pause would
 * leave no room for the minutes of sending; in a short gap the line is broken.
 */
export function toChartSeconds(seconds: readonly LatencySecond[]): {
  points: ChartSecond[]
  pauses: ChartPause[]
} {
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
  const thinned: ChartSecond[] = []
  for (let from = 0; from < placed.length; from += stretch) {
    const worst = placed.slice(from, from + stretch).reduce((kept, second) => {
      return (second.percentiles?.p99 ?? -1) > (kept.percentiles?.p99 ?? -1) ? second : kept
    })
    thinned.push(worst)
  }
  // The worst of two neighbouring stretches are at most this far apart where no second is missing.
  const mostApart = Math.max(1, stretch * 2 - 1)
  const points = thinned.flatMap((point, index) => {
    const next = thinned[index + 1]
    const isBroken = next !== undefined && next.second - point.second > mostApart
    return isBroken ? [point, { second: point.second + 1, at: point.at + 0.5, percentiles: null }] : [point]
  })
  return { points, pauses }
}
