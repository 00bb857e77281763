import type { IncomingMessage } from 'node:http'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import type { CallbackTarget } from './callback-address.ts'
import { decodeBody, type InboxEntry } from './inbox.ts'
import { readBody } from './read-body.ts'
import type { ReceiverLimits } from './receiver-limits.ts'

/** Keeps an entry, and calls back when it is durable or could not be made so. */
export type StoreCallback = (entry: InboxEntry, stored: (error: Error | null) => void) => void

/** The outcome of a callback: kept, kept though it is not a result, or not kept and why. */
export type IntakeOutcome = 'stored' | 'malformed' | 'oversized' | 'overloaded' | 'unstored' | 'broken'

/** Takes callbacks in, in bounded memory: each is durable before its sender is told so. */
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

  /** Takes in the callback that a request carries, and calls back once. */
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
      if (result.kind !== 'body') {
        settle(result.kind)
        return
      }
      const receivedAtUs = Math.round(this.#nowUs())
      // What is not a result is kept as evidence anyway; its sender is told.
      const outcome = isReadable(result.body) ? 'stored' : 'malformed'
      this.#store({ ...target, receivedAtUs, body: result.body }, (error) =>
        settle(error === null ? outcome : 'unstored'),
      )
    })
  }

  get #maxWaitingBytes(): number {
    return Math.max(this.#limits.maxWaitingBytes, this.#limits.maxBytes)
  }
}

function isReadable(body: Uint8Array): boolean {
  try {
    return isJsonObject(JSON.parse(decodeBody(body)))
  } catch {
    return false
  }
}
