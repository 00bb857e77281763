import type { RunSecond } from '../../../shared/results.ts'

/** Most points a chart draws; more than the pixels of a wide one would only cost time. */
export const CHART_MAX_POINTS = 1_200

/**
 * Fewer seconds for a chart: of each stretch the one whose p99 is worst, so that thinning hides no spike. A run
 * shorter than {@link CHART_MAX_POINTS} seconds is left as it is.
 */
export function thinSeconds(seconds: readonly RunSecond[]): readonly RunSecond[] {
  if (seconds.length <= CHART_MAX_POINTS) return seconds
  const stretch = Math.ceil(seconds.length / CHART_MAX_POINTS)
  const thinned: RunSecond[] = []
  for (let from = 0; from < seconds.length; from += stretch) {
    const worst = seconds.slice(from, from + stretch).reduce((kept, second) => {
      return (second.httpReqDurationMs?.p99 ?? -1) > (kept.httpReqDurationMs?.p99 ?? -1) ? second : kept
    })
    thinned.push(worst)
  }
  return thinned
}
