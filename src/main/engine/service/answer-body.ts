import { readAnswerText } from './answer-text.ts'
import { decodeContent } from './content-codings.ts'
import {
  ANSWER_MAX_BYTES,
  ANSWER_TOO_LARGE_CODE,
  type Answer,
  AnswerError,
  RECEIVE_LIMIT_CODE,
} from './exchange.ts'
import type { AnswerHead } from './http1-heads.ts'

const MIB = 1024 * 1024

/** Memory for all answers that the threads of a process are receiving, bytes. */
export const RECEIVED_MAX_BYTES = 128 * 1024 * 1024

/** Capacity that a body starts with, bytes. */
const FIRST_CAPACITY_BYTES = 4 * 1024

/** The memory that answers being received may occupy, shared by all connections of a thread. */
export class ReceivedBytes {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number = RECEIVED_MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Memory that is in use now, bytes. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  /** Takes memory. Throws {@link AnswerError} if not enough is left. */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) {
      throw new AnswerError(
        RECEIVE_LIMIT_CODE,
        `the answers being received exceed ${this.#maxBytes / MIB} MiB together; lower --max-in-flight`,
      )
    }
    this.#usedBytes += bytes
  }

  /** Gives memory back that was taken. */
  giveBack(bytes: number): void {
    this.#usedBytes -= bytes
  }
}

/**
 * The bytes of one answer, in one growing buffer, whatever the size of the pieces. The memory is freed at
 * once, not when the garbage collector gets to it; only the initial capacity is kept for the next answer.
 */
export class ReceivedBody {
  readonly #budget: ReceivedBytes
  readonly #maxBytes: number
  /** Of {@link FIRST_CAPACITY_BYTES}, not counted while it holds nothing. */
  #spare: ReceivedBuffer | null = null
  #bytes: ReceivedBuffer = NO_BYTES
  #length = 0

  constructor(budget: ReceivedBytes, maxBytes: number = ANSWER_MAX_BYTES) {
    this.#budget = budget
    this.#maxBytes = maxBytes
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length
  }

  /** Adds a piece, which may be overwritten afterwards. Throws {@link AnswerError} beyond a limit. */
  append(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#maxBytes) throw toTooLarge()
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** The bytes so far, without a copy: valid until the next {@link append} or {@link clear}. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Drops everything after the first `length` bytes. */
  cut(length: number): void {
    this.#length = length
  }

  /** Drops everything and returns the memory. */
  clear(): void {
    this.#length = 0
    const { buffer } = this.#bytes
    this.#budget.giveBack(buffer.byteLength)
    if (buffer.byteLength === FIRST_CAPACITY_BYTES) this.#spare = this.#bytes
    else if (buffer.byteLength > 0) buffer.transfer(0)
    this.#bytes = NO_BYTES
  }

  #grow(length: number): void {
    const { buffer } = this.#bytes
    const before = buffer.byteLength
    const capacity = Math.min(this.#maxBytes, Math.max(FIRST_CAPACITY_BYTES, length, before * 2))
    this.#budget.take(capacity - before)
    if (before === 0 && capacity === FIRST_CAPACITY_BYTES && this.#spare !== null) {
      this.#bytes = this.#spare
      this.#spare = null
      return
    }
    // Detaching the old memory frees it now.
    this.#bytes = Buffer.from(before === 0 ? new ArrayBuffer(capacity) : buffer.transfer(capacity))
  }
}

type ReceivedBuffer = Buffer<ArrayBuffer>

const NO_BYTES: ReceivedBuffer = Buffer.from(new ArrayBuffer(0))

export function toTooLarge(): AnswerError {
  return new AnswerError(ANSWER_TOO_LARGE_CODE, `the answer is larger than ${ANSWER_MAX_BYTES / MIB} MiB`)
}

export type DecodedBody = Pick<Answer, 'body' | 'bodyProblem' | 'charset' | 'isDamaged'>

/**
 * Decodes a complete body; the headers are '' if missing. Sluice asks for no coding, but some services
 * compress anyway. If a body cannot be decoded within the limits, `bodyProblem` says why.
 */
export function decodeBody(
  bytes: Buffer,
  { contentEncoding, contentType }: Pick<AnswerHead, 'contentEncoding' | 'contentType'>,
): DecodedBody {
  const content = decodeContent(bytes, contentEncoding, ANSWER_MAX_BYTES)
  if (content.kind !== 'decoded') return { body: '', bodyProblem: `the body ${content.reason}` }
  const { text, charset, isDamaged } = readAnswerText(content.bytes, contentType)
  const decoded: DecodedBody = { body: text }
  if (charset !== undefined) decoded.charset = charset
  if (isDamaged) decoded.isDamaged = isDamaged
  return decoded
}
