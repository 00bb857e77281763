import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CallbackDetail } from '../../../shared/run/results.ts'

/** Most bytes of UTF-8 kept of an answer or callback. A longer one is cut and marked as cut. */
const BODY_MAX_BYTES = 4 * 1024 * 1024

/**
 * UTF-16 code units up to which a body is stored as text in the row it belongs to. Compressing takes about 20
 * µs even for a short body, which the usual few hundred characters do not repay.
 */
const PLAIN_MAX_CHARACTERS = 1024

/** Length at which versions without compression silently cut a body, UTF-16 code units. */
const UNMARKED_CUT_CHARACTERS = 65_536

export interface PackedBody {
  /** Original length, bytes of UTF-8. */
  bytes: number
  /** DEFLATE of at most {@link BODY_MAX_BYTES}. */
  content: Uint8Array
}

/** A body as the journal gives it back. */
export interface StoredBody {
  text: string
  /** The length before the body was cut, its `bytes` null if not recorded; null for a whole body. */
  cutFrom: { bytes: number | null } | null
}

/** Prepares a body for storing: short ones unchanged, longer compressed, cut to {@link BODY_MAX_BYTES}. */
export function packBody(text: string): string | PackedBody {
  if (text.length <= PLAIN_MAX_CHARACTERS) return text
  const whole = Buffer.from(text)
  return { bytes: whole.length, content: deflateRawSync(whole.subarray(0, findCut(whole)), { level: 1 }) }
}

/** The end of the last whole character that fits. */
function findCut(bytes: Buffer): number {
  if (bytes.length <= BODY_MAX_BYTES) return bytes.length
  let end = BODY_MAX_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}

/** Approximate size of a prepared body in memory, bytes. */
export function toHeldBytes(body: string | PackedBody | null): number {
  return typeof body === 'string' ? body.length : (body?.content.length ?? 0)
}

/** What is stored of an answer or a callback is damaged. */
export class DamagedBodyError extends Error {}

/**
 * Throws a {@link DamagedBodyError} if the content is damaged, or larger than anything stored. With a buffer
 * of the body's length, `bytes`, instead of 16 KB, a usual body takes a third less time.
 */
function inflate(content: Uint8Array, bytes: unknown): Buffer {
  const chunkSize = Math.min(Math.max(Number(bytes) || 0, 1024), 65_536)
  let kept: Buffer
  try {
    kept = inflateRawSync(content, { maxOutputLength: BODY_MAX_BYTES, chunkSize })
  } catch (cause) {
    throw new DamagedBodyError('a stored body cannot be decompressed', { cause })
  }
  const isCut = Number(bytes) > BODY_MAX_BYTES
  if (!isCut && kept.length !== Number(bytes)) throw new DamagedBodyError('a stored body has another length')
  return kept
}

/** Whether a compressed body, of this length, can be read. */
export function isReadableBody(content: Uint8Array, bytes: unknown): boolean {
  try {
    return inflate(content, bytes).length > 0
  } catch {
    return false
  }
}

/** Reads a body from its text, or from `content` and `bytes` if it is long. Throws if it is damaged. */
export function readStoredBody(text: unknown, content: unknown, bytes: unknown): StoredBody | null {
  if (content instanceof Uint8Array) {
    const kept = inflate(content, bytes)
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

  /** Writes a compressed body; returns the text to store in the row itself, or null if there is none. */
  write(id: number, body: string | PackedBody | null): string | null {
    if (body === null || typeof body === 'string') return body
    this.#insert.run(id, body.bytes, body.content)
    return null
  }

  /** Removes a body that a later answer replaces. */
  remove(id: number): void {
    this.#remove.run(id)
  }
}

/** Keeps the answers that are not, or no longer, in `result`. The caller has a transaction open. */
export class TryAnswers {
  readonly #insert: StatementSync
  readonly #move: StatementSync

  constructor(db: DatabaseSync) {
    const into = 'INSERT OR REPLACE INTO try_answer (item, number, response, bytes, content)'
    this.#insert = db.prepare(`${into} VALUES (?, ?, ?, ?, ?)`)
    // The answer in `result` belongs to the last answered try whose answer is not kept here.
    this.#move = db.prepare(
      `${into} SELECT result.row, coalesce((SELECT max(number) FROM attempt WHERE attempt.item = result.row
         AND status IS NOT NULL AND NOT EXISTS (SELECT 1 FROM try_answer AS kept
           WHERE kept.item = attempt.item AND kept.number = attempt.number)), 0), response, bytes, content
       FROM result LEFT JOIN long_answer ON long_answer.id = result.row
       WHERE result.row = ? AND (response IS NOT NULL OR content IS NOT NULL)`,
    )
  }

  /** Keeps the answer to a try that never gets into `result`. */
  write(item: number, number: number, body: string | PackedBody | null): void {
    if (body === null) return
    if (typeof body === 'string') this.#insert.run(item, number, body, null, null)
    else this.#insert.run(item, number, null, body.bytes, body.content)
  }

  /** Keeps the answer in `result`, which is about to be replaced. */
  keep(item: number): void {
    this.#move.run(item)
  }
}

/** Prepares the reads of an item's answers and callbacks, as a journal stores them. */
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
    /** The answers to its tries other than {@link readAnswer}, by try number. */
    readTryAnswers(item: number): ReadonlyMap<number, StoredBody> {
      const answers = new Map<number, StoredBody>()
      for (const { number, response, content, bytes } of ofTries.all(item)) {
        const body = readStoredBody(response, content, bytes)
        if (body !== null) answers.set(Number(number), body)
      }
      return answers
    },
    /**
     * The last answer to an item; null if there was none. `tries` picks, for an item with several rows, the
     * answer to the last try of a row with that many tries: the other rows may have been resent without it,
     * or it without them, or a correction may have made invalid the row that stores the answer.
     */
    readAnswer(item: number, tries?: number): StoredBody | null {
      const standing = answer.get(item)
      const read = ({ response, content, bytes }: Record<string, unknown> = {}) =>
        readStoredBody(response, content, bytes)
      if (tries === undefined) return read(standing)
      const own = standing?.['attempts'] === tries ? read(standing) : null
      return own ?? read(ofTry.get(item, tries))
    },
    /** The callbacks of an item in order of arrival. */
    readCallbacks: (item: number): CallbackDetail[] =>
      callbacks
        .all(item)
        .map((row) => toCallback(row, readStoredBody(row['body'], row['content'], row['bytes']))),
  }
}

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
