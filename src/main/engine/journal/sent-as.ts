import type { ItemState, RowAnswer } from '../../../shared/run/item-state.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'

/** How a row stood after its last try, before retries and corrections put it back or made it invalid. */
interface SentAs {
  state: ItemState
  errorCode: string | null
  answer: RowAnswer | null
  /** The kinds and marks it was sent with; '' if it had none, null if no correction changed them. */
  kinds: string | null
}

/** Prepares the read of how a row that was tried so often was sent; null if it was not put back since. */
export function createSentAsReader(db: DatabaseSync): (row: number, attempts: number) => SentAs | null {
  // Several corrections may follow one try: the first of them noted how it was sent.
  const first = db.prepare(
    `SELECT state, error_code, answer, (SELECT kinds FROM earlier WHERE row = ?1 AND attempts = ?2
       AND kinds IS NOT NULL ORDER BY session LIMIT 1) AS kinds
     FROM earlier WHERE row = ?1 AND attempts = ?2 ORDER BY session LIMIT 1`,
  )
  return (row, attempts) => {
    const found = first.get(row, attempts)
    if (found === undefined) return null
    return {
      state: found['state'] as ItemState,
      errorCode: found['error_code'] === null ? null : String(found['error_code']),
      answer: (found['answer'] ?? null) as RowAnswer | null,
      kinds: found['kinds'] === null ? null : String(found['kinds']),
    }
  }
}
