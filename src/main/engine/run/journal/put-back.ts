import type { SQLInputValue } from 'node:sqlite'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ItemState } from '../../../../shared/run/item-state.ts'
import { uncountError } from '../../journal/counters.ts'
import type { Journal } from '../../journal/journal.ts'
import { refuseDamagedCells } from '../../journal/journal-damage.ts'
import { toRetriedStates } from '../../journal/run-family.ts'
import { readRunRecord, updateRunRecord } from '../../journal/run-record.ts'
import { insertSession, type NewSession } from '../../journal/sessions.ts'
import { hasUntried } from './copy-unsucceeded.ts'

/**
 * Begins a retry: requeues the rows that did not succeed, those of unknown outcome only if they are to be
 * resent, and keeps their earlier states. One transaction, so that a kill leaves the run unchanged or with
 * all of them queued; from then on a resume continues with it. Answers stay until others replace them. Throws
 * `RUN_NOT_RESUMABLE` if there is nothing to send.
 */
export function putBackUnsuccessful(
  journal: Journal,
  { onUnknown, session }: { onUnknown: 'resend' | 'skip'; session: NewSession },
): void {
  const { db, counters } = journal
  const record = readRunRecord(db)
  if (record === null) throw new Error('the journal has no run')
  const retried = toRetriedStates(record)
  const states = [...retried.certain, ...(onUnknown === 'resend' ? retried.unknown : [])].filter(
    (state) => state !== 'pending',
  )
  const isIn = `state IN (${states.map(() => '?').join(', ')})`
  const run = (sql: string, ...values: SQLInputValue[]) => db.prepare(sql).run(...values, ...states)
  const all = (sql: string) => db.prepare(sql).all(...states)
  const causes = all(
    `SELECT state, status, error_code, message, count(*) AS n FROM result WHERE ${isIn}
     GROUP BY state, status, error_code, message`,
  )
  const answers = all(
    `SELECT answer, count(*) AS n FROM result WHERE ${isIn} AND answer IS NOT NULL GROUP BY answer`,
  )
  const taken = causes.reduce((sum, { n }) => sum + Number(n), 0)
  if (taken === 0 && journal.counters.get('state', 'pending') === 0 && !hasUntried(journal)) {
    throw new SluiceError({ id: 'nothing_to_retry', runId: record.runId, onUnknown })
  }
  const count = (): void => {
    for (const cause of causes) {
      const state = cause['state'] as ItemState
      const n = Number(cause['n'])
      counters.add('state', state, -n)
      counters.add('state', 'pending', n)
      const told = { status: cause['status'], errorCode: cause['error_code'], message: cause['message'] }
      uncountError(counters, { state, ...toCause(told) }, n)
    }
    for (const { answer, n } of answers) counters.add('answer', String(answer), -Number(n))
  }
  journal.transact(
    'power',
    () => {
      const number = insertSession(db, { ...session, taken })
      run(
        `INSERT INTO earlier (row, session, state, attempts, status, error_code, message, task_id, duration_us, answer,
         acknowledged_at, callback_us) SELECT row, ?, state, attempts, status, error_code, message, task_id,
         duration_us, answer, acknowledged_at, callback_us FROM result WHERE ${isIn} ORDER BY row`,
        number,
      )
      // The row's next callback is the first of its next try.
      run(
        `UPDATE callback SET effect = 'settled_before' WHERE effect = 'settled'
         AND item IN (SELECT row FROM result WHERE ${isIn})`,
      )
      // A callback can settle a row that was never sent; what follows counts, and is marked, as a further
      // try.
      run(
        `UPDATE result SET state = 'pending', attempts = max(attempts, 1), answer = NULL, callback_us = NULL
         WHERE ${isIn}`,
      )
      refuseDamagedCells(db, 'main.row', "id IN (SELECT row FROM result WHERE state = 'pending')")
      count()
      // A completed run is no longer complete, and a child deleted before it sent anything has no rows.
      updateRunRecord(db, { state: 'interrupted', superseded_by: null, unknown_taken_by: null })
    },
    true,
  )
}

function toCause({ status, errorCode, message }: Record<'status' | 'errorCode' | 'message', unknown>) {
  return {
    status: status === null ? null : Number(status),
    errorCode: errorCode === null ? null : String(errorCode),
    message: message === null ? null : String(message),
  }
}
