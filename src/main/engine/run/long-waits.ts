import { formatMoment } from '../../../shared/messages/moment-text.ts'
import type { StopNotice } from '../../../shared/run/snapshot.ts'
import type { Judgement } from '../service/judgement.ts'

/** Consecutive answers asking for too long a wait that hold the run; a single one delays only its row. */
const LONG_STREAK = 3

/** A wait up to this is never too long, even if it is then cut to the plan's limit, milliseconds. */
const SHORT_MS = 60_000

/** A longer wait than this is probably not meant, so no date is reported for it, milliseconds. */
const DATED_MAX_MS = 365 * 86_400_000

interface LongWaitsOptions {
  origin: string
  /** The plan's limit on a Retry-After. */
  maxRetryAfterMs: number
  /** Unix milliseconds. */
  nowMs: () => number
}

/**
 * Detects a service that asks for a longer wait than a run sits out (Retry-After): several times in a row, or
 * for all remaining rows. The run then stops or pauses, and a person decides when to continue.
 */
export class LongWaits {
  readonly #options: LongWaitsOptions
  #streak = 0
  /** When the last requested wait ends, Unix milliseconds; null if there was none. */
  #untilMs: number | null = null
  #idleUntilMs: number | null = null

  constructor(options: LongWaitsOptions) {
    this.#options = options
  }

  isLong(retryAfterMs: number | null): boolean {
    return retryAfterMs !== null && retryAfterMs > Math.max(SHORT_MS, this.#options.maxRetryAfterMs)
  }

  note({ status, retryAfterMs }: Judgement): void {
    if (status === null) return
    if (!this.isLong(retryAfterMs)) {
      this.#streak = 0
      return
    }
    this.#streak += 1
    this.#untilMs = this.#options.nowMs() + (retryAfterMs ?? 0)
  }

  /** Notes until when all that is left waits, Unix milliseconds; null if something can be done. */
  noteIdle(untilMs: number | null): void {
    this.#idleUntilMs = untilMs
  }

  /** When the remaining rows are resent, Unix milliseconds; null while there is other work. */
  get idleUntilMs(): number | null {
    return this.#idleUntilMs
  }

  /** Why the run should not wait, with what to do; null while it may. */
  reason(): StopNotice | null {
    const { origin, nowMs } = this.#options
    const untilMs = this.#untilMs
    if (untilMs === null || !this.isLong(untilMs - nowMs())) return null
    const isIdle = this.#idleUntilMs !== null && this.isLong(this.#idleUntilMs - nowMs())
    if (this.#streak < LONG_STREAK && !isIdle) return null
    if (untilMs - nowMs() > DATED_MAX_MS) {
      return {
        code: 'asked_to_wait',
        reason: `${origin} asked to wait for more than a year (Retry-After), longer than a run waits`,
        advice:
          'Check the service, which may not mean that. Then resume the run; rows not sent yet are kept.',
      }
    }
    return {
      code: 'asked_to_wait',
      reason: `${origin} asked to wait until ${formatMoment(untilMs, nowMs())} (Retry-After), longer than a run waits`,
      advice: 'Resume the run then; rows not sent yet are kept.',
    }
  }
}
