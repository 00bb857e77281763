const SHORTEST_MS = 2_000
const SHARE = 30

/**
 * How often a report is read during its load test, milliseconds: reading it takes longer the longer the test,
 * and the machine that measures has better things to do. Grows in doublings, so that it seldom changes.
 */
export function toReportInterval(elapsedMs: number): number {
  const doublings = Math.ceil(Math.log2(Math.max(1, elapsedMs / SHARE / SHORTEST_MS)))
  return SHORTEST_MS * 2 ** doublings
}
