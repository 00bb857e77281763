import type { RunSecond } from '../../../shared/results.ts'

/** Most points a chart draws; more than the pixels of a wide one would only cost time. */
export const CHART_MAX_POINTS = 1_200

const NOTHING = {
  sent: 0,
  succeeded: 0,
  rejected: 0,
  failed: 0,
  unknown: 0,
  httpReqDurationMs: null,
} satisfies Omit<RunSecond, 'second'>

/**
 * The seconds as a chart draws them. Of a run longer than {@link CHART_MAX_POINTS} seconds, of each stretch the one
 * whose p99 is worst, so that thinning hides no spike; and where the run stood still, one that holds nothing, so that
 * no line says otherwise.
 */
export function toChartSeconds(seconds: readonly RunSecond[]): RunSecond[] {
  const stretch = Math.ceil(seconds.length / CHART_MAX_POINTS)
  const thinned: RunSecond[] = []
  for (let from = 0; from < seconds.length; from += stretch) {
    const worst = seconds.slice(from, from + stretch).reduce((kept, second) => {
      return (second.httpReqDurationMs?.p99 ?? -1) > (kept.httpReqDurationMs?.p99 ?? -1) ? second : kept
    })
    thinned.push(worst)
  }
  // The worst of two neighbouring stretches are at most this far apart where no second is missing.
  const mostApart = Math.max(1, stretch * 2 - 1)
  return thinned.flatMap((second, index) => {
    const next = thinned[index + 1]
    if (next === undefined || next.second - second.second <= mostApart) return [second]
    return [second, { ...NOTHING, second: second.second + 1 }]
  })
}
