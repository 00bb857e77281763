import { isSameSubject, toBaselineSubject } from '../../../shared/lookback/baseline.ts'
import type { RunSummary } from '../../../shared/run/run.ts'

/** Runs that may be compared with one, and what they have in common with it. */
export interface CandidateGroup {
  group: string
  runs: RunSummary[]
}

/** Sorts runs by what they have in common with a run; within a group they keep their order. Empty groups are left out. */
export function groupCandidates(like: RunSummary | null, runs: readonly RunSummary[]): CandidateGroup[] {
  if (like === null) return runs.length === 0 ? [] : [{ group: 'Newest first', runs: [...runs] }]
  const subject = toBaselineSubject(like)
  const isAlike = (run: RunSummary) => isSameSubject(toBaselineSubject(run), subject)
  const isOfSource = (run: RunSummary) => run.source === like.source
  return [
    { group: 'Same source and connection', runs: runs.filter(isAlike) },
    { group: 'Same source', runs: runs.filter((run) => !isAlike(run) && isOfSource(run)) },
    { group: 'Other runs', runs: runs.filter((run) => !isOfSource(run)) },
  ].filter((one) => one.runs.length > 0)
}
