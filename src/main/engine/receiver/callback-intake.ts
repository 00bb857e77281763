import type { IncomingMessage } from 'node:http'
import { formatBytes } from '../../../shared/messages/figure-text.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { readAnswerText } from '../service/answer-text.ts'
import { decodeContent } from '../service/content-codings.ts'
import type { CallbackTarget } from './addresses.ts'
import { decodeBody, type InboxEntry, REFUSAL_NOTE } from './inbox.ts'
import type { ReceiverLimits } from './receiver-limits.ts'

/** Stores an entry; calls back once it is durable, or with the error. */
export type StoreCallback = (entry: InboxEntry, stored: (error: Error | null) => void) => void

/**
 * The outcome of a callback: stored, stored although it is not a result, or why it is not stored. For
 * `oversized` and `unknown_coding` a note is stored.
 */
export type IntakeOutcome =
  | 'stored'
  | 'malformed'
  | 'oversized'
  | 'unknown_coding'
  | 'overloaded'
  | 'unstored'
  | 'broken'

/** Takes callbacks in, in bounded memory; each is durable before it is answered. */
export class CallbackIntake {
  readonly #store: StoreCallback
  readonly #limits: ReceiverLimits
  readonly #nowUs: () => number
  #waiting = 0
  #waitingBytes = 0

  /** `nowUs` is Unix microseconds. */
  constructor(store: StoreCallback, limits: ReceiverLimits, nowUs: () => number) {
    this.#store = store
    this.#limits = limits
    this.#nowUs = nowUs
  }

  /** Takes in the callback in a request, and calls back once. */
  take(target: CallbackTarget, request: IncomingMessage, settled: (outcome: IntakeOutcome) => void): void {
    if (this.#waiting >= this.#limits.maxWaiting) {
      settled('overloaded')
      return
    }
    this.#waiting += 1
    let heldBytes = 0
    const settle = (outcome: IntakeOutcome): void => {
      this.#waiting -= 1
      this.#waitingBytes -= heldBytes
      settled(outcome)
    }
    const reserve = (sizeBytes: number): boolean => {
      if (this.#waitingBytes + sizeBytes > this.#maxWaitingBytes) return false
      heldBytes += sizeBytes
      this.#waitingBytes += sizeBytes
      return true
    }
    readBody(request, { maxBytes: this.#limits.maxBytes, reserve }, (result) => {
      const receivedAtUs = Math.round(this.#nowUs())
      // A person would look for a refused callback only on its row.
      const refuse = (outcome: IntakeOutcome, reason: string): void =>
        this.#store({ ...target, receivedAtUs, body: encoder.encode(REFUSAL_NOTE + reason) }, () =>
          settle(outcome),
        )
      if (result.kind === 'oversized') {
        refuse(
          'oversized',
          `it has more than ${formatBytes(this.#limits.maxBytes)}, the limit of the receiver`,
        )
        return
      }
      if (result.kind !== 'body') {
        settle(result.kind)
        return
      }
      const codings = request.headers['content-encoding'] ?? ''
      const content = decodeContent(result.body, codings, this.#limits.maxBytes)
      if (content.kind !== 'decoded') {
        refuse(UNDECODED[content.kind], `its body ${content.reason}`)
        return
      }
      const body = toUtf8(content.bytes, request)
      if (body !== result.body && !reserve(body.length)) {
        settle('overloaded')
        return
      }
      // Anything but a result is stored as evidence, and answered with 400.
      const outcome = isReadable(body) ? 'stored' : 'malformed'
      this.#store({ ...target, receivedAtUs, body }, (error) => settle(error === null ? outcome : 'unstored'))
    })
  }

  get #maxWaitingBytes(): number {
    return Math.max(this.#limits.maxWaitingBytes, this.#limits.maxBytes)
  }
}

const encoder = new TextEncoder()

/** The outcome of a callback whose content coding cannot be undone. */
const UNDECODED = {
  unsupported: 'unknown_coding',
  damaged: 'malformed',
  oversized: 'oversized',
} as const satisfies Record<string, IntakeOutcome>

/** The body in UTF-8, like all in the inbox; the same bytes unless it came in another charset. */
function toUtf8(bytes: Buffer, { rawHeaders }: IncomingMessage): Buffer {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type')
  const { text, charset } = readAnswerText(bytes, rawHeaders[at + 1] ?? '')
  return charset === undefined ? bytes : Buffer.from(text)
}

/** Whether a body may be a result: a JSON object or, as in v2, a list of them. */
function isReadable(body: Uint8Array): boolean {
  try {
    const json: unknown = JSON.parse(decodeBody(body))
    return isJsonObject(json) || (Array.isArray(json) && json.some(isJsonObject))
  } catch {
    return false
  }
}

/** A body, or why there is none. */
type BodyResult = { kind: 'body'; body: Buffer } | { kind: 'oversized' | 'overloaded' | 'broken' }

interface BodyBounds {
  maxBytes: number
  /** Reserves this many more bytes; false if the limit is reached. */
  reserve(sizeBytes: number): boolean
}

/**
 * Reads a request's body within bounds and calls back once. The excess is read but not kept, so that a client
 * which is still sending can read its answer.
 */
function readBody(
  request: IncomingMessage,
  { maxBytes, reserve }: BodyBounds,
  read: (result: BodyResult) => void,
): void {
  const chunks: Buffer[] = []
  let sizeBytes = 0

  const finish = (result: BodyResult): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose)
    if (result.kind !== 'body') request.resume()
    read(result)
  }
  const onData = (chunk: Buffer): void => {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) finish({ kind: 'oversized' })
    else if (reserve(chunk.length)) chunks.push(chunk)
    else finish({ kind: 'overloaded' })
  }
  const onEnd = (): void => {
    const [only] = chunks
    finish({ kind: 'body', body: chunks.length === 1 && only ? only : Buffer.concat(chunks) })
  }
  const onClose = (): void => finish({ kind: 'broken' })

  // A request that announces too large a body is not read.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    finish({ kind: 'oversized' })
    return
  }
  // 'close' follows every end. An error must not be unhandled, and never comes without 'close'.
  request.on('error', ignore)
  request.on('data', onData).on('end', onEnd).on('close', onClose)
}

function ignore(): void {}
