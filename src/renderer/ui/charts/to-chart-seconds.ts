import type { Percentiles } from '../../../shared/run/run.ts'

/** Most points a chart draws; more than the pixels of a wide one would only cost time. */
const CHART_MAX_POINTS = 1_200

/** One second as a chart of latencies shows it. */
export interface LatencySecond {
  /** Seconds since sending started, pauses included. */
  second: number
  /** Null where nothing was measured in it. */
  percentiles: Percentiles | null
}

/** One second as a chart of requests shows it; null where nothing is known of it. */
export interface RequestSecond {
  second: number
  /** What the schedule asked for; null without one. */
  scheduled: number | null
  sent: number | null
  succeeded: number | null
  /** What ended without success, dropped requests included. */
  unsuccessful: number | null
}

/** Where a second stands in a chart. */
interface Placed {
  second: number
  /** Seconds of sending before it: pauses take no room. */
  at: number
}

/** A stretch in which nothing was sent, where it stands in the chart, and how long it was, in seconds. */
export interface ChartPause {
  at: number
  lengthS: number
}

/** Seconds as a chart draws them. */
export interface ChartSeconds<Second> {
  points: (Second & Placed)[]
  pauses: ChartPause[]
}

/** Seconds without a request that count as a pause; less is a slow pace. */
const PAUSE_MIN_S = 5

/** Of a stretch that is too long for single seconds, the one whose p99 is worst, so that thinning hides no spike. */
export function toChartSeconds(seconds: readonly LatencySecond[]): ChartSeconds<LatencySecond> {
  const toWorst = (among: readonly (LatencySecond & Placed)[], first: LatencySecond & Placed) =>
    among.reduce(
      (kept, second) => ((second.percentiles?.p99 ?? -1) > (kept.percentiles?.p99 ?? -1) ? second : kept),
      first,
    )
  return placeSeconds(seconds, toWorst, (second) => ({ second, percentiles: null }))
}

/** Of a stretch that is too long for single seconds, the mean of its seconds. */
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
 * At most {@link CHART_MAX_POINTS} points, one for each stretch of seconds. A long pause is taken out and listed, since
 * a night's pause would leave no room for the minutes of sending; in a short gap the line is broken.
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
  // The points of two neighbouring stretches are at most this far apart where no second is missing.
  const mostApart = Math.max(1, stretch * 2 - 1)
  const points = thinned.flatMap((point, index) => {
    const next = thinned[index + 1]
    const isBroken = next !== undefined && next.second - point.second > mostApart
    return isBroken ? [point, { ...toGap(point.second + 1), at: point.at + 0.5 }] : [point]
  })
  return { points, pauses }
}
