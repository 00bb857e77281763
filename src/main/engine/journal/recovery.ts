import { toErrorKey } from '../../../shared/error-groups.ts'
import type { Journal } from './journal.ts'
import { readRunRecord, updateRunRecord } from './run-record.ts'

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
      `SELECT id FROM row WHERE id <= ? AND item = id
       AND NOT EXISTS (SELECT 1 FROM result WHERE result.item = row.id) ORDER BY id`,
    )
    .all(record.claimed)
    .map((row) => ({ item: Number(row['id']), number: 1 }))
  const marked = db
    .prepare("SELECT item, attempts FROM result WHERE state = 'sending' ORDER BY item")
    .all()
    .map((row) => ({ item: Number(row['item']), number: Number(row['attempts']) + 1 }))
  const rowsOf = db.prepare(
    `SELECT count(*) AS n FROM row WHERE id >= ?1 AND item = ?1 AND id < coalesce((SELECT id FROM row WHERE id > ?1
       AND item IS NOT NULL AND item <> ?1 ORDER BY id LIMIT 1), 9e18)`,
  )
  const settle = db.prepare(
    `INSERT INTO result (item, state, attempts, message) VALUES (?, 'unknown', ?, ?) ON CONFLICT (item) DO UPDATE SET
     state = 'unknown', attempts = excluded.attempts, message = excluded.message, status = NULL, error_code = NULL`,
  )
  const attempt = db.prepare(
    "INSERT INTO attempt (item, number, outcome, message) VALUES (?, ?, 'unknown', ?)",
  )
  const countRows = (item: number) => Number(rowsOf.get(item)?.['n'])
  for (const { item } of marked) counters.add('state', 'sending', -countRows(item))
  for (const { item, number } of [...unmarked, ...marked]) {
    const rows = countRows(item)
    counters.add('state', 'unknown', rows)
    counters.add('request', 'unknown', 1)
    if (number > 1) counters.add('request', 'retried', 1)
    counters.add('error', toErrorKey('unknown', null, null, CUT_OFF_MESSAGE), rows)
  }
  journal.transact('power', () => {
    for (const { item, number } of [...unmarked, ...marked]) {
      settle.run(item, number, CUT_OFF_MESSAGE)
      attempt.run(item, number, CUT_OFF_MESSAGE)
    }
    updateRunRecord(db, { state: 'interrupted' })
  })
  return unmarked.length + marked.length
}

/** Puts every item of unknown fate back into the queue, with its post_id and body as they were. */
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
