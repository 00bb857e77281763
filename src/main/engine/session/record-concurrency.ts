import type { Pace } from '../../../shared/plan/plan.ts'
import type { Journal } from '../journal/journal.ts'
import { readRunRecord, toStoredPlan, updateRunRecord } from '../journal/run-record.ts'

/** Records the number of requests in flight that was chosen during a run, if any. The caller has a transaction open. */
export function recordConcurrency({ db }: Journal, concurrency: number | null): void {
  const plan = readRunRecord(db)?.plan
  if (concurrency === null || plan === undefined) return
  const pace: Pace =
    plan.pace.kind === 'closed' ? { ...plan.pace, concurrency } : { ...plan.pace, maxInFlight: concurrency }
  updateRunRecord(db, { plan: toStoredPlan({ ...plan, pace }) })
}
