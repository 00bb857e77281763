import { SluiceError } from '../../../shared/messages/errors.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import { joinAcceptedCauses } from '../../../shared/run/accepted-causes.ts'
import type { Journal } from '../journal/journal.ts'
import { readRunRecord, toStoredPlan, updateRunRecord } from '../journal/run-record.ts'
import { listOpen, readGuardedWarnings } from '../run/results/open-warnings.ts'

/**
 * Prevents sending with warnings that nobody has accepted, and records the accepted causes, so that a resumed
 * run and its retries need not ask again. Throws `NOT_CONFIRMED`.
 */
export function passWarnings(journal: Journal, codes: readonly AcceptCode[]): void {
  const record = readRunRecord(journal.db)
  if (record === null) return
  const guarded = readGuardedWarnings(journal.db)
  const open = listOpen(guarded, [record], codes)
  if (open.length > 0) throw new SluiceError({ id: 'warnings_unaccepted', groups: open })
  const { accept, accepted: before, ...plan } = record.plan
  const accepted = joinAcceptedCauses(before, record.columns, guarded)
  if (accept === undefined && JSON.stringify(accepted) === JSON.stringify(before)) return
  const passed = { ...plan, ...(accepted !== undefined && { accepted }) }
  journal.transact('power', () => updateRunRecord(journal.db, { plan: toStoredPlan(passed) }))
}
