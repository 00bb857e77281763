import type { Load } from '../../../shared/load/load.ts'
import type { LoadSample } from '../../../shared/load/load-report.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { KeptRequest } from './load-threads.ts'
import { FIELD } from './request-record.ts'

/** Most UTF-16 code units of a body that a sample keeps. */
const SAMPLE_MAX_CHARACTERS = 16 * 1024

/** A request kept in full, from its record and what the record has no room for. */
export function createSample(
  record: Float64Array,
  whole: { row: number; postId: string; request: string; exchange: Exchange; judgement: Judgement },
): KeptRequest['sample'] {
  const { row, postId, request, exchange, judgement } = whole
  const toMs = (field: number) => {
    const us = record[field] ?? Number.NaN
    return Number.isNaN(us) ? null : us / 1000
  }
  return {
    sentMs: ((record[FIELD.endUs] ?? 0) - (record[FIELD.durationUs] ?? 0)) / 1000,
    row,
    postId,
    outcome: judgement.outcome,
    status: judgement.status,
    errorCode: judgement.errorCode,
    message: judgement.message,
    taskId: judgement.taskId,
    ...(exchange.traceparent !== undefined && { traceparent: exchange.traceparent }),
    request: request.slice(0, SAMPLE_MAX_CHARACTERS),
    response: exchange.kind === 'answer' ? exchange.body.slice(0, SAMPLE_MAX_CHARACTERS) : null,
    httpReqDurationMs: toMs(FIELD.durationUs),
    httpReqWaitingMs: toMs(FIELD.waitingUs),
    httpReqConnectingMs: toMs(FIELD.connectUs),
    httpReqTlsHandshakingMs: toMs(FIELD.tlsUs),
    responseTimeMs: toMs(FIELD.responseUs),
    startLagMs: toMs(FIELD.lagUs),
  }
}

/** Why a chosen request is kept: for the sample (with its draw), as an error, or both. */
export interface KeepReason {
  draw: number | null
  isError: boolean
}

/**
 * Chooses which of a thread's requests are handed over in full: candidates for an even sample of all threads'
 * requests, and the first ones that did not succeed.
 */
export class RequestKeeper {
  readonly #size: number
  readonly #errorLimit: number
  readonly #random: () => number
  #kept: KeptRequest[] = []
  #seen = 0
  #errors = 0

  constructor(
    { sampleSize, errorLimit }: Pick<Load, 'sampleSize' | 'errorLimit'>,
    random: () => number = Math.random,
  ) {
    this.#size = sampleSize
    this.#errorLimit = errorLimit
    this.#random = random
  }

  /** Decides whether and why a request is kept; null if it is not, so that no sample need be made. */
  consider(outcome: Outcome): KeepReason | null {
    this.#seen += 1
    const draw = this.#random()
    const isSample = draw < this.#drawBelow()
    const isError = outcome !== 'succeeded' && this.#errors < this.#errorLimit
    if (isError) this.#errors += 1
    return isSample || isError ? { draw: isSample ? draw : null, isError } : null
  }

  /** Keeps a request that {@link consider} chose. */
  keep({ draw, isError }: KeepReason, sample: KeptRequest['sample']): void {
    if (draw !== null) this.#kept.push({ draw, sample })
    if (isError) this.#kept.push({ draw: null, sample })
  }

  /** Requests kept since the last call. */
  take(): KeptRequest[] {
    return this.#kept.splice(0)
  }

  /** Draws at or above this are hardly ever among the smallest: five standard deviations above the last. */
  #drawBelow(): number {
    return this.#size === 0 ? 0 : (this.#size + 5 * Math.sqrt(this.#size) + 10) / this.#seen
  }
}

/**
 * The requests that stay kept in full: the `sampleSize` with the smallest draws, an even sample however many
 * threads drew, and the first `errorLimit` that did not succeed. Each has a slot in the journal.
 */
export class SampleSlots {
  readonly #size: number
  readonly #errorLimit: number
  /** Draws by slot; the sample's slots come first. */
  readonly #draws: number[] = []
  #errors = 0
  readonly #changed = new Map<number, LoadSample>()

  constructor({ sampleSize, errorLimit }: Pick<Load, 'sampleSize' | 'errorLimit'>) {
    this.#size = sampleSize
    this.#errorLimit = errorLimit
  }

  /** Takes in requests that may be kept. */
  add(kept: readonly KeptRequest[]): void {
    for (const { draw, sample } of kept) {
      if (draw === null) this.#addError(sample)
      else this.#addSample(draw, sample)
    }
  }

  /** Slots whose request has changed since {@link committed}. */
  get changed(): ReadonlyMap<number, LoadSample> {
    return this.#changed
  }

  /** Marks the changes as written. */
  committed(): void {
    this.#changed.clear()
  }

  #addError(sample: KeptRequest['sample']): void {
    if (this.#errors >= this.#errorLimit) return
    this.#changed.set(this.#size + this.#errors, { ...sample, kept: 'error', callbackLatencyMs: null })
    this.#errors += 1
  }

  #addSample(draw: number, sample: KeptRequest['sample']): void {
    const slot = this.#draws.length < this.#size ? this.#draws.length : this.#findLargest(draw)
    if (slot === -1) return
    this.#draws[slot] = draw
    this.#changed.set(slot, { ...sample, kept: 'sample', callbackLatencyMs: null })
  }

  /** The slot with the largest draw above this one; -1 if there is none. */
  #findLargest(draw: number): number {
    let slot = -1
    let largest = draw
    // An iterator would take ten times as long, in a process that measures.
    for (let index = 0; index < this.#draws.length; index += 1) {
      const other = this.#draws[index] ?? 0
      if (other <= largest) continue
      largest = other
      slot = index
    }
    return slot
  }
}
