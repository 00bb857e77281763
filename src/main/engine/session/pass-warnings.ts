import { SluiceError } from '../../../shared/messages/errors.ts'
import { type AcceptCode, joinAccepted } from '../../../shared/run/accept-code.ts'
import type { Journal } from '../journal/journal.ts'
import { readRunRecord, toStoredPlan, updateRunRecord } from '../journal/run-record.ts'
import { readOpenWarnings } from '../run/results/open-warnings.ts'

/**
 * Lets nothing be sent whose warnings nobody has accepted, and records what was accepted, so that a resumed run and its
 * retries need not ask again. Throws `NOT_CONFIRMED`.
 */
export function passWarnings(journal: Journal, accepted: readonly AcceptCode[]): void {
  const plan = readRunRecord(journal.db)?.plan
  if (plan === undefined) return
  const accept = joinAccepted(plan.accept, accepted)
  const groups = readOpenWarnings(journal.db, accept)
  if (groups.length > 0) throw new SluiceError({ id: 'warnings_unaccepted', groups })
  if (accept.length === (plan.accept ?? []).length) return
  journal.transact('power', () => updateRunRecord(journal.db, { plan: toStoredPlan({ ...plan, accept }) }))
}
