import { toErrorPattern } from '../../../shared/run/counts.ts'
import type { Judgement } from '../service/judgement.ts'
import type { LoadErrorCause } from './load-threads.ts'

/**
 * A measured request as plain numbers, so that the sending thread keeps no objects and hands records over
 * without copying. Times are microseconds; NaN stands for what a request did not have.
 */
export const FIELD = {
  /** The request's number in the load, from 0. */
  sequence: 0,
  /** When it ended, since measuring began. */
  endUs: 1,
  durationUs: 2,
  waitingUs: 3,
  connectUs: 4,
  tlsUs: 5,
  /** Scheduled to last byte; open pace only. */
  responseUs: 6,
  /** Scheduled to sent; open pace only. */
  lagUs: 7,
  status: 8,
  /** Index into `OUTCOMES`. */
  outcome: 9,
  /** Sum of {@link FLAG}s. */
  flags: 10,
  /** Position of its row among the valid rows, from 0. */
  position: 11,
  /** UTF-8 bytes of its content. */
  contentBytes: 12,
  /** Number that the thread gave its model. */
  model: 13,
  /** Number that the thread gave its error. */
  error: 14,
  /** What a Retry-After asked for, milliseconds. */
  retryAfterMs: 15,
  /** Handing over to first byte sent; first to last byte sent; first to last byte received. */
  blockedUs: 16,
  sendingUs: 17,
  receivingUs: 18,
  /** From handing over its first try to the end of its last one, which this is. */
  iterationUs: 19,
  /** Bytes of the request and of its answer. */
  sentBytes: 20,
  receivedBytes: 21,
  /** Bit mask of the row tags named in thresholds that its row has. */
  rowTags: 22,
  /** How long its answer may have lain unread. */
  unreadUs: 23,
  /** How long a Retry-After put it off, milliseconds. */
  waitedMs: 24,
} as const

export const RECORD_NUMBERS = 25

/** Properties of a request, a bit each. */
export const FLAG = {
  /** It has an http_req_duration. */
  timed: 1,
  /** It waited past its due time because the cap was full. */
  waited: 2,
  fromCache: 4,
  /** It followed another try of the same body. */
  retry: 8,
  /** Its callback is awaited. */
  acknowledged: 16,
  /** Some of it may have left. */
  sent: 32,
  /** A complete answer arrived, whatever its content. */
  answered: 64,
  /** It succeeded, and its answer repeats the post_id that was sent; repeats none; names another. */
  verified: 128,
  unverifiable: 256,
  mismatched: 512,
  /** Verified, but in another form. */
  alike: 1024,
  /** It succeeded, and its answer says nothing of the content. */
  noResult: 2048,
  /** It succeeded, and its answer lacks a model that was requested. */
  missingModels: 4096,
  /** It succeeded, and its answer repeats nothing of it and names the task of another request. */
  sharedTask: 8192,
  /** It went out in a burst after a stall of this machine, or directly after one. */
  inBurst: 16384,
} as const

/** Most records handed over at once. */
const CHUNK_RECORDS = 2_048

/** Collects records until they are handed over. */
export class RecordChunk {
  /** The numbers of all records, one record after the other. */
  readonly numbers = new Float64Array(CHUNK_RECORDS * RECORD_NUMBERS)
  #count = 0

  get isFull(): boolean {
    return this.#count === CHUNK_RECORDS
  }

  /** Where in {@link numbers} the next record begins; all of its fields must be written. */
  next(): number {
    const at = this.#count * RECORD_NUMBERS
    this.#count += 1
    return at
  }

  /** The records so far, to be handed over whole; the chunk is empty then. */
  take(): Float64Array {
    const taken = this.numbers.slice(0, this.#count * RECORD_NUMBERS)
    this.#count = 0
    return taken
  }
}

/** Most causes counted separately; further ones are counted together, by status. */
const CAUSES_MAX = 200
const FURTHER = '(further errors, each with a message of its own)'

/** Gives each cause of error a number, so that records need no text. */
export class LoadErrors {
  readonly #numbers = new Map<string, number>()
  #news: [number, LoadErrorCause][] = []

  /** `row` is the request's row, which the message of a cause may quote. */
  toNumber({ outcome, status, errorCode, message }: Judgement, row: number): number {
    if (outcome === 'succeeded') throw new Error('a request that succeeded has no error')
    const text = errorCode !== null && status !== null ? toErrorPattern(message ?? '') : (message ?? '')
    const cause = { outcome, status, errorCode, message: text }
    const known = this.#find(cause)
    if (known !== undefined) return known
    return this.#numbers.size < CAUSES_MAX ? this.#add(cause, row) : this.#further(cause)
  }

  /** Causes first met since the last call. */
  takeUpdates(): [number, LoadErrorCause][] {
    return this.#news.splice(0)
  }

  #further(cause: LoadErrorCause): number {
    const together = { ...cause, errorCode: null, message: FURTHER }
    return this.#find(together) ?? this.#add(together)
  }

  #find(cause: LoadErrorCause): number | undefined {
    return this.#numbers.get(JSON.stringify(Object.values(cause)))
  }

  #add(cause: LoadErrorCause, row?: number): number {
    const number = this.#numbers.size
    this.#numbers.set(JSON.stringify(Object.values(cause)), number)
    this.#news.push([number, { ...cause, ...(row !== undefined && { row }) }])
    return number
  }
}

/** Gives each set of models that a thread asks for a number for use in records. */
export class LoadModels {
  readonly #numbers = new Map<string, number>()
  #news: [number, string][] = []

  /** The number of a body's models, from 0. */
  toNumber(models: string): number {
    const known = this.#numbers.get(models)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(models, number)
    this.#news.push([number, models])
    return number
  }

  /** Numbers assigned since the last call, and what they stand for. */
  takeUpdates(): [number, string][] {
    return this.#news.splice(0)
  }
}
