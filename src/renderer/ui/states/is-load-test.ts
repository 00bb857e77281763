import type { RunSummary } from '../../../shared/run/run.ts'

/** Whether a run is a load test: then it counts requests, and its rows have no results of their own. */
export function isLoadTest(run: RunSummary): boolean {
  return run.thresholds !== undefined
}

/** How many of a load test's thresholds do not hold, in words: `✗ 1 of 2 thresholds crossed`; null where it has none. */
export function describeThresholds({ thresholds = [] }: RunSummary): string | null {
  if (thresholds.length === 0) return null
  const crossed = thresholds.filter(({ ok }) => !ok).length
  const noun = thresholds.length === 1 ? 'threshold' : 'thresholds'
  return crossed === 0
    ? `✓ ${thresholds.length} ${noun} held`
    : `✗ ${crossed} of ${thresholds.length} ${noun} crossed`
}
