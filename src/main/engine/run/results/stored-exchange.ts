import type { CallbackDetail } from '../../../../shared/run/results.ts'
import type { DatabaseSync } from '../../workspace/sqlite-types.ts'
import { readStoredBody, type StoredBody } from '../journal/stored-body.ts'

/** Reads what the service answered to items, and posted back of them, as the journal keeps it. */
export interface ExchangeReader {
  /** The last answer to an item; null where there was none. */
  readAnswer(item: number): StoredBody | null
  /** The callbacks of an item in the order they came. */
  readCallbacks(item: number): CallbackDetail[]
}

/** Prepares the reads of a journal. */
export function createExchangeReader(db: DatabaseSync): ExchangeReader {
  const answer = db.prepare(
    `SELECT response, content, bytes FROM result LEFT JOIN long_answer ON long_answer.id = result.row
     WHERE result.row = ?`,
  )
  const callbacks = db.prepare(
    `SELECT received_at_us, effect, body, content, bytes FROM callback
     LEFT JOIN long_callback ON long_callback.id = callback.id WHERE item = ? ORDER BY callback.id`,
  )
  return {
    readAnswer(item) {
      const row = answer.get(item)
      return row === undefined ? null : readStoredBody(row['response'], row['content'], row['bytes'])
    },
    readCallbacks: (item) =>
      callbacks.all(item).map((row) => {
        const body = readStoredBody(row['body'], row['content'], row['bytes'])
        return {
          receivedAt: new Date(Number(row['received_at_us']) / 1000).toISOString(),
          effect: String(row['effect']),
          body: body?.text ?? '',
          cutFrom: body?.cutFrom ?? null,
        }
      }),
  }
}
