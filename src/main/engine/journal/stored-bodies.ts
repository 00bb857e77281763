import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CallbackDetail } from '../../../shared/run/results.ts'

/** Most that is kept of an answer or a callback, bytes of UTF-8; a longer one is cut, and says so. */
const BODY_MAX_BYTES = 4 * 1024 * 1024

/**
 * UTF-16 code units up to which a body is stored as text next to what it led to. Compressing costs about 20 µs however
 * short a body is, which the usual answer of a few hundred characters does not repay.
 */
const PLAIN_MAX_CHARACTERS = 1024

/** Where versions without compression cut a body without a word, UTF-16 code units. */
const UNMARKED_CUT_CHARACTERS = 65_536

export interface PackedBody {
  /** Length as it came, bytes of UTF-8. */
  bytes: number
  /** DEFLATE of at most {@link BODY_MAX_BYTES}. */
  content: Uint8Array
}

/** A body as the journal gives it back. */
export interface StoredBody {
  text: string
  /** How long it was before it was cut, null if nobody noted that; null for a whole body. */
  cutFrom: { bytes: number | null } | null
}

/** Prepares a body for storing: a short one as it is, a longer one compressed and cut to {@link BODY_MAX_BYTES}. */
export function packBody(text: string): string | PackedBody {
  if (text.length <= PLAIN_MAX_CHARACTERS) return text
  const whole = Buffer.from(text)
  return { bytes: whole.length, content: deflateRawSync(whole.subarray(0, findCut(whole)), { level: 1 }) }
}

/** The end of the last character that fits. */
function findCut(bytes: Buffer): number {
  if (bytes.length <= BODY_MAX_BYTES) return bytes.length
  let end = BODY_MAX_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}

/** Bytes that a prepared body takes in memory, about. */
export function toHeldBytes(body: string | PackedBody | null): number {
  return typeof body === 'string' ? body.length : (body?.content.length ?? 0)
}

/** Null for what is damaged, or is larger than anything that is stored. */
function inflate(content: Uint8Array): Buffer | null {
  try {
    return inflateRawSync(content, { maxOutputLength: BODY_MAX_BYTES })
  } catch {
    return null
  }
}

/** Reads a body from the text in its own table and the columns `content` and `bytes` of the table of long ones. */
export function readStoredBody(text: unknown, content: unknown, bytes: unknown): StoredBody | null {
  if (content instanceof Uint8Array) {
    const kept = inflate(content)
    if (kept === null) return { text: '', cutFrom: { bytes: null } }
    const cutFrom = Number(bytes) > kept.length ? { bytes: Number(bytes) } : null
    return { text: kept.toString(), cutFrom }
  }
  if (typeof text !== 'string') return null
  return { text, cutFrom: text.length === UNMARKED_CUT_CHARACTERS ? { bytes: null } : null }
}

/** Writes long bodies next to the rows they belong to. The caller has a transaction open for every call. */
export class LongBodies {
  readonly #insert: StatementSync
  readonly #remove: StatementSync

  constructor(db: DatabaseSync, table: 'long_answer' | 'long_callback') {
    this.#insert = db.prepare(`INSERT OR REPLACE INTO ${table} (id, bytes, content) VALUES (?, ?, ?)`)
    this.#remove = db.prepare(`DELETE FROM ${table} WHERE id = ?`)
  }

  /** Writes a body that is compressed; returns what stands in the row itself, null if this has it all. */
  write(id: number, body: string | PackedBody | null): string | null {
    if (body === null || typeof body === 'string') return body
    this.#insert.run(id, body.bytes, body.content)
    return null
  }

  /** Removes what a later answer takes the place of. */
  remove(id: number): void {
    this.#remove.run(id)
  }
}

/** Keeps answers in whose place others stand. The caller has a transaction open for every call. */
export class TryAnswers {
  readonly #insert: StatementSync
  readonly #move: StatementSync

  constructor(db: DatabaseSync) {
    const into = 'INSERT OR REPLACE INTO try_answer (item, number, response, bytes, content)'
    this.#insert = db.prepare(`${into} VALUES (?, ?, ?, ?, ?)`)
    // What stands in result is of the last try that was answered, cut off ones and those that stand here apart.
    this.#move = db.prepare(
      `${into} SELECT result.row, coalesce((SELECT max(number) FROM attempt WHERE attempt.item = result.row
         AND status IS NOT NULL AND NOT EXISTS (SELECT 1 FROM try_answer AS kept
           WHERE kept.item = attempt.item AND kept.number = attempt.number)), 0), response, bytes, content
       FROM result LEFT JOIN long_answer ON long_answer.id = result.row
       WHERE result.row = ? AND (response IS NOT NULL OR content IS NOT NULL)`,
    )
  }

  /** Keeps the answer to a try that does not get to stand in `result`. */
  write(item: number, number: number, body: string | PackedBody | null): void {
    if (body === null) return
    if (typeof body === 'string') this.#insert.run(item, number, body, null, null)
    else this.#insert.run(item, number, null, body.bytes, body.content)
  }

  /** Keeps the answer that stands in `result`, which is about to be replaced. */
  keep(item: number): void {
    this.#move.run(item)
  }
}

/** Prepares the reads of what the service answered to items, and posted back of them, as a journal keeps it. */
export function createExchangeReader(db: DatabaseSync) {
  const answer = db.prepare(
    `SELECT attempts, response, content, bytes FROM result LEFT JOIN long_answer ON long_answer.id = result.row
     WHERE result.row = ?`,
  )
  const callbacks = db.prepare(
    `SELECT received_at_us, effect, body, content, bytes FROM callback
     LEFT JOIN long_callback ON long_callback.id = callback.id WHERE item = ? ORDER BY callback.id`,
  )
  const ofTries = db.prepare('SELECT number, response, content, bytes FROM try_answer WHERE item = ?')
  const ofTry = db.prepare('SELECT response, content, bytes FROM try_answer WHERE item = ? AND number = ?')
  return {
    /** The answers to its tries that do not stand in the place of {@link readAnswer}, by the number of the try. */
    readTryAnswers(item: number): ReadonlyMap<number, StoredBody> {
      const answers = new Map<number, StoredBody>()
      for (const { number, response, content, bytes } of ofTries.all(item)) {
        const body = readStoredBody(response, content, bytes)
        if (body !== null) answers.set(Number(number), body)
      }
      return answers
    },
    /**
     * The last answer to an item; null if there was none. With `tries`, of an item with several rows, the answer to
     * the last try of a row that was tried so often: others may have been sent again without it, or it without them, or a
     * correction may have made the row invalid with which the answer stood.
     */
    readAnswer(item: number, tries?: number): StoredBody | null {
      const standing = answer.get(item)
      const read = ({ response, content, bytes }: Record<string, unknown> = {}) =>
        readStoredBody(response, content, bytes)
      if (tries === undefined) return read(standing)
      const own = standing?.['attempts'] === tries ? read(standing) : null
      return own ?? read(ofTry.get(item, tries))
    },
    /** The callbacks of an item in the order they came. */
    readCallbacks: (item: number): CallbackDetail[] =>
      callbacks
        .all(item)
        .map((row) => toCallback(row, readStoredBody(row['body'], row['content'], row['bytes']))),
  }
}

/** A callback of which `body` was read. */
export function toCallback(
  { received_at_us: receivedAtUs, effect }: Record<string, unknown>,
  body: StoredBody | null,
): CallbackDetail {
  return {
    receivedAt: new Date(Number(receivedAtUs) / 1000).toISOString(),
    effect: String(effect),
    body: body?.text ?? '',
    cutFrom: body?.cutFrom ?? null,
  }
}
