import { toErrorPattern } from '../../../shared/run/error-groups.ts'
import type { Judgement } from '../service/judgement.ts'
import type { LoadErrorCause } from './load-messages.ts'

/** Causes that are told apart; further ones are counted together, by status. */
const CAUSES_MAX = 200
const FURTHER = '(further errors, each with a message of its own)'

/** Gives each cause of error a number, so that records need no text. */
export class LoadErrors {
  readonly #numbers = new Map<string, number>()
  #news: [number, LoadErrorCause][] = []

  /** The number of an error's cause. */
  toNumber({ outcome, status, errorCode, message }: Judgement): number {
    if (outcome === 'succeeded') throw new Error('a request that succeeded has no error')
    const text = errorCode !== null && status !== null ? toErrorPattern(message ?? '') : (message ?? '')
    const cause = { outcome, status, errorCode, message: text }
    const known = this.#find(cause)
    if (known !== undefined) return known
    return this.#numbers.size < CAUSES_MAX ? this.#add(cause) : this.#further(cause)
  }

  /** Causes that were met since the last call. */
  takeNews(): [number, LoadErrorCause][] {
    return this.#news.splice(0)
  }

  #further(cause: LoadErrorCause): number {
    const together = { ...cause, errorCode: null, message: FURTHER }
    return this.#find(together) ?? this.#add(together)
  }

  #find(cause: LoadErrorCause): number | undefined {
    return this.#numbers.get(JSON.stringify(Object.values(cause)))
  }

  #add(cause: LoadErrorCause): number {
    const number = this.#numbers.size
    this.#numbers.set(JSON.stringify(Object.values(cause)), number)
    this.#news.push([number, cause])
    return number
  }
}
