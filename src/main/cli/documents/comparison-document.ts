import { z } from 'zod'
import { type LoadComparison, loadComparisonSchema } from '../../../shared/load/load-comparison.ts'

const { a, b, sentence, caveats, limited, series, failedShare, succeededPerS, planDifferences } =
  loadComparisonSchema.shape
const { percentiles, isBatched, ...seriesShape } = series.element.shape
const { aMs, bMs, ...percentileShape } = percentiles.element.shape

/** A comparison of latencies, as `compare --json` shows it. */
export const comparisonShape = {
  ...{ a, b, sentence, caveats, limited },
  series: z.array(
    z.object({
      ...seriesShape,
      percentiles: z.array(z.object({ ...percentileShape, a_ms: aMs, b_ms: bMs })),
      is_batched: isBatched,
    }),
  ),
  failed_share: failedShare,
  succeeded_per_s: succeededPerS,
  plan_differences: planDifferences,
}

/** The keys of `--json` are written with underscores. */
export function toComparisonDocument(comparison: LoadComparison) {
  const {
    series: compared,
    failedShare: failed,
    succeededPerS: succeeded,
    planDifferences: differences,
  } = comparison
  const { a: labelA, b: labelB, sentence: said, caveats: minded, limited: runs } = comparison
  return {
    ...{ a: labelA, b: labelB, sentence: said },
    series: compared.map(({ percentiles: all, isBatched: batched, ...one }) => ({
      ...one,
      percentiles: all.map(({ aMs: left, bMs: right, ...rest }) => ({ ...rest, a_ms: left, b_ms: right })),
      is_batched: batched,
    })),
    failed_share: failed,
    succeeded_per_s: succeeded,
    plan_differences: differences,
    ...{ caveats: minded, limited: runs },
  }
}
