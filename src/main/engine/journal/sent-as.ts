import type { ItemState, RowAnswer } from '../../../shared/run/item-state.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { selectSentItem } from './item-rows.ts'

/** The state of a row after its last try, before a retry or correction requeued it or made it invalid. */
interface SentAs {
  state: ItemState
  errorCode: string | null
  answer: RowAnswer | null
  /** The kinds and marks it was sent with; '' if it had none, null if no correction changed them. */
  kinds: string | null
}

/** Prepares the read of how a row with this many tries was sent; null if it has not been requeued since. */
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

/** What a row was sent with before a correction replaced its content, and the outcome. */
export interface ReplacedContent {
  /** The entry of `earlier` that says how it ended. */
  session: number
  /** Tries of the row when this content was replaced, and when it came into use. */
  attempts: number
  attemptsBefore: number
  state: ItemState
  errorCode: string | null
  answer: RowAnswer | null
  /** The kinds and marks that it was mapped by. */
  kinds: string | null
  /** Ids of the tasks that its acknowledgements named. */
  taskIds: readonly string[]
  /** Whether one of its tries went unanswered and may have been accepted. */
  mayBeTaken: boolean
}

const MAY_BE_TAKEN: ReadonlySet<unknown> = new Set<ItemState>([
  'unknown',
  'overdue',
  'acknowledged',
  'sending',
])

/** Prepares the read of a row's earlier contents, oldest first. */
export function createReplacedReader(db: DatabaseSync): (row: number) => ReplacedContent[] {
  const entries = db.prepare(
    `SELECT session, state, attempts, error_code, answer, task_id, kinds FROM earlier WHERE row = ? ORDER BY session`,
  )
  const lostTries = db.prepare(
    `SELECT count(*) AS n FROM attempt WHERE item = ?1 AND outcome = 'unknown' AND number > ?2 AND number <= ?3`,
  )
  const lostBefore = db.prepare('SELECT 1 FROM lost_try WHERE item = ?')
  const sentItem = db.prepare(`SELECT ${selectSentItem('row')} AS item FROM row WHERE id = ?`)
  return (row) => {
    const contents: ReplacedContent[] = []
    let open: Record<string, unknown>[] = []
    for (const entry of entries.all(row)) {
      const attempts = Number(entry['attempts'])
      const last = contents.at(-1)
      // It was corrected again before it was sent with this content.
      if (last !== undefined && attempts === last.attempts && open.length === 0) continue
      open.push(entry)
      if (entry['kinds'] === null) continue
      // A row that was waiting to be resent keeps the state in which the retry found it.
      const end = open.findLast(({ state }) => state !== 'pending') ?? entry
      const attemptsBefore = last?.attempts ?? 0
      const item = Number(sentItem.get(row)?.['item'])
      const isLost =
        Number(lostTries.get(item, attemptsBefore, attempts)?.['n']) > 0 ||
        (last === undefined && lostBefore.get(item) !== undefined)
      contents.push({
        session: Number(end['session']),
        attempts,
        attemptsBefore,
        state: end['state'] as ItemState,
        errorCode: end['error_code'] === null ? null : String(end['error_code']),
        answer: (end['answer'] ?? null) as RowAnswer | null,
        kinds: String(entry['kinds']) || null,
        taskIds: open.flatMap(({ task_id: task }) => (task === null ? [] : [String(task)])),
        mayBeTaken: isLost || open.some(({ state }) => MAY_BE_TAKEN.has(state)),
      })
      open = []
    }
    return contents
  }
}

/**
 * SQL expression for the number of tries of a row, sent alone, whose content a correction has since replaced;
 * `row` is an expression for its number.
 */
export function selectReplacedTries(row: string): string {
  return `coalesce((SELECT max(stood.attempts) FROM earlier AS stood WHERE stood.row = ${row} AND stood.kinds IS NOT NULL), 0)`
}

/** Whether a row was sent, or is being sent, with its present content. */
export function isSentSince(
  replaced: readonly Pick<ReplacedContent, 'attempts'>[],
  { item, state, attempts }: { item: number | null; state: string | null; attempts: number },
): boolean {
  const last = replaced.at(-1)
  if (last === undefined) return true
  return item !== null && (state !== 'pending' || attempts > last.attempts)
}

/** Prepares the read of a row's kinds and marks in try `number`; null if no correction changed them since. */
export function createSentKindsReader(
  db: DatabaseSync,
): (row: number, number: number) => { kinds: string | null } | null {
  const first = db.prepare(
    'SELECT kinds FROM earlier WHERE row = ? AND attempts >= ? AND kinds IS NOT NULL ORDER BY session LIMIT 1',
  )
  return (row, number) => {
    const found = first.get(row, number)
    return found === undefined ? null : { kinds: String(found['kinds']) || null }
  }
}
