import { toErrorKey } from '../../../../shared/run/error-groups.ts'
import type { Journal } from '../../journal/journal.ts'
import { readRunRecord, updateRunRecord } from '../../journal/run-record.ts'

/** What a row is told whose request may have gone out just before its run was cut off. */
export const CUT_OFF_MESSAGE =
  'the run was cut off before the answer was journaled; it may or may not have been sent'

/**
 * Puts a journal right whose process died: every item that was marked and has no outcome becomes `unknown`, never
 * failed, never resent without a word. Does nothing to a run that ended in order. Returns the items it found.
 */
export function recoverUnknown(journal: Journal): number {
  const { db, counters } = journal
  const record = readRunRecord(db)
  if (record === null || record.state !== 'running') return 0
  const unmarked = db
    .prepare(
      `SELECT id, item FROM row WHERE id <= ? AND item IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) ORDER BY id`,
    )
    .all(record.claimed)
    .map((row) => ({ row: Number(row['id']), item: Number(row['item']), number: 1 }))
  const marked = db
    .prepare(
      "SELECT row, item, attempts FROM result JOIN row ON row.id = result.row WHERE state = 'sending' ORDER BY row",
    )
    .all()
    .map((row) => ({
      row: Number(row['row']),
      item: Number(row['item']),
      number: Number(row['attempts']) + 1,
    }))
  const settle = db.prepare(
    `INSERT INTO result (row, state, attempts, message) VALUES (?, 'unknown', ?, ?) ON CONFLICT (row) DO UPDATE SET
     state = 'unknown', attempts = excluded.attempts, message = excluded.message, status = NULL, error_code = NULL`,
  )
  const attempt = db.prepare(
    "INSERT INTO attempt (item, number, outcome, message) VALUES (?, ?, 'unknown', ?)",
  )
  const cutOff = [...unmarked, ...marked]
  counters.add('state', 'sending', -marked.length)
  counters.add('state', 'unknown', cutOff.length)
  counters.add('error', toErrorKey('unknown', null, null, CUT_OFF_MESSAGE), cutOff.length)
  const items = cutOff.filter(({ row, item }) => row === item)
  counters.add('request', 'unknown', items.length)
  counters.add('request', 'retried', items.filter(({ number }) => number > 1).length)
  journal.transact('power', () => {
    for (const { row, number } of cutOff) settle.run(row, number, CUT_OFF_MESSAGE)
    for (const { item, number } of items) attempt.run(item, number, CUT_OFF_MESSAGE)
    updateRunRecord(db, { state: 'interrupted' })
  })
  return items.length
}

/** Puts every item of unknown outcome back into the queue, with its post_id and body as they were. */
export function resendUnknown(journal: Journal): void {
  const { db, counters } = journal
  const rows = counters.get('state', 'unknown')
  if (rows === 0) return
  counters.add('state', 'unknown', -rows)
  counters.add('state', 'pending', rows)
  for (const [group, n] of counters.entries('error')) {
    if (group.startsWith('["unknown"')) counters.add('error', group, -n)
  }
  journal.transact('power', () => {
    db.exec("UPDATE result SET state = 'pending' WHERE state = 'unknown'")
    // A run that had completed has not any more.
    updateRunRecord(db, { state: 'interrupted' })
  })
}
