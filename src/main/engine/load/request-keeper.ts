import type { Load } from '../../../shared/load/load.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { KeptRequest } from './load-messages.ts'
import { FIELD } from './load-record.ts'

/** Most of a body that a sample keeps, UTF-16 code units. */
const SAMPLE_MAX_CHARACTERS = 16 * 1024

/** A request as it is kept whole, from its record and what the record has no room for. */
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

/** What a chosen request is kept as: one of the sample by its draw, one of the errors, or both. */
export interface Kept {
  draw: number | null
  isError: boolean
}

/**
 * Chooses which of a thread's requests are handed over whole: those that may be of the sample, which is an even one of
 * all threads' requests, and the first ones that did not succeed.
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

  /** Draws for a request: whether it is kept, and as what; null where it is not, and it need not be made a sample. */
  consider(outcome: Outcome): Kept | null {
    this.#seen += 1
    const draw = this.#random()
    const isSample = draw < this.#drawBelow()
    const isError = outcome !== 'succeeded' && this.#errors < this.#errorLimit
    if (isError) this.#errors += 1
    return isSample || isError ? { draw: isSample ? draw : null, isError } : null
  }

  /** Keeps a request that {@link consider} chose. */
  keep({ draw, isError }: Kept, sample: KeptRequest['sample']): void {
    if (draw !== null) this.#kept.push({ draw, sample })
    if (isError) this.#kept.push({ draw: null, sample })
  }

  /** What was kept since the last call. */
  take(): KeptRequest[] {
    return this.#kept.splice(0)
  }

  /** Draws at or above this are as good as surely not among the smallest: five standard deviations above the last. */
  #drawBelow(): number {
    return this.#size === 0 ? 0 : (this.#size + 5 * Math.sqrt(this.#size) + 10) / this.#seen
  }
}
