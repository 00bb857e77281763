import { formatSpan } from '../../../shared/messages/figure-text.ts'
import { DEFAULT_STOP_RULE, type StopRule } from '../../../shared/plan/plan.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { StopNotice } from '../../../shared/run/snapshot.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import type { EchoFinding, EchoMismatch } from '../service/echoes.ts'
import type { Judgement } from '../service/judgement.ts'

/** Consecutive answers 401 or 403 after which the key is considered wrong. */
const AUTH_STREAK = 5
/** Consecutive tries without reaching the service after which it is considered down. */
const UNREACHED_STREAK = 10
/** How long a service reached before may be unreachable before the run gives up, milliseconds. */
const AWAY_MAX_MS = 30_000
/** How long every answer may be 429 before the run gives up, milliseconds. */
const THROTTLED_MAX_MS = 300_000
/**
 * Number of first answers to repeat any id, all of them ids that nobody sent, after which a service seems to
 * rewrite ids.
 */
const REWRITTEN_MIN = 5

/**
 * Detects a run whose rows would fail: a wrong key, an unreachable service, mostly errors
 * (docs/architecture.md §2.3). It counts from its creation, so a new one after a pause is a fresh start.
 */
export class FailureGuard {
  readonly #nowMs: () => number
  readonly #origin: string
  readonly #readKeySource: () => string | null
  readonly #throttledMaxMs: number
  readonly #stop: StopRule
  readonly #isGoingOn: boolean
  /** Since when every answer has been 429; null otherwise. */
  #throttledSinceMs: number | null = null
  #authStreak = 0
  #unreachedStreak = 0
  #unreachedSinceMs = 0
  #reachedOnce = false
  #lastUnreached = ''
  #settled = 0
  #errors = 0
  /** Whether an answer repeated what was sent, or another row's id: the service does not rewrite ids. */
  #isEchoing = false
  #rewritten: EchoMismatch[] = []

  constructor(options: {
    nowMs: () => number
    origin: string
    /** Source of the key in use, as said after "the API key"; null without one (docs/interface.md §5.6). */
    readKeySource: () => string | null
    /** How long every answer may be 429, milliseconds (default: five minutes). */
    throttledMaxMs?: number | undefined
    /** How many errors are too many (default: as for a plan without such a rule). */
    stop?: StopRule | undefined
    /** Whether rows were settled before it began to count (default: false). */
    isGoingOn?: boolean
  }) {
    this.#nowMs = options.nowMs
    this.#origin = options.origin
    this.#readKeySource = options.readKeySource
    this.#throttledMaxMs = options.throttledMaxMs ?? THROTTLED_MAX_MS
    this.#stop = options.stop ?? DEFAULT_STOP_RULE
    this.#isGoingOn = options.isGoingOn ?? false
  }

  /** Whether so many consecutive tries failed to reach the service that sending should slow to probing. */
  get isAway(): boolean {
    return this.#unreachedStreak >= UNREACHED_STREAK
  }

  /** Why the service is unreachable and when the run gives up on it, in clock milliseconds; else null. */
  get outage(): { reason: string; givesUpAtMs: number } | null {
    if (!this.isAway) return null
    return { reason: this.#lastUnreached, givesUpAtMs: this.#unreachedSinceMs + AWAY_MAX_MS }
  }

  /** When the run gives up on a service that only answers 429, in the clock's milliseconds; else null. */
  get throttledUntilMs(): number | null {
    return this.#throttledSinceMs === null ? null : this.#throttledSinceMs + this.#throttledMaxMs
  }

  /** Notes whether an answer or a callback proves whose it is. */
  noteEcho(echo: EchoFinding): void {
    if (this.#isEchoing || echo.kind === 'unverifiable') return
    if (echo.kind === 'mismatched' && !echo.isOfOtherRow) this.#rewritten.push(echo)
    else this.#isEchoing = true
  }

  note(judgement: Judgement): void {
    this.noteEcho(judgement.echo)
    if (judgement.reached) {
      this.#reachedOnce = true
      this.#unreachedStreak = 0
    } else {
      if (this.#unreachedStreak === 0) this.#unreachedSinceMs = this.#nowMs()
      this.#unreachedStreak += 1
      this.#lastUnreached = judgement.message ?? ''
    }
    const isAuth = isKeyRefusal(judgement.status, judgement.errorCode)
    if (judgement.status !== null) this.#authStreak = isAuth ? this.#authStreak + 1 : 0
    if (judgement.status === 429) this.#throttledSinceMs ??= this.#nowMs()
    else if (judgement.status !== null) this.#throttledSinceMs = null
  }

  noteSettled(outcome: Outcome): void {
    this.#settled += 1
    if (outcome !== 'succeeded') this.#errors += 1
  }

  /** Why the run should stop, with advice; null while it may continue. */
  reason(): StopNotice | null {
    if (this.#authStreak >= AUTH_STREAK) {
      const source = this.#readKeySource()
      if (source === null) {
        return {
          code: 'access_refused',
          reason: `${this.#origin} refused access ${this.#authStreak} times in a row (401 or 403), though these requests need no key`,
          advice:
            'Check the base URL and what stands before the service, then resume; rows not sent yet are kept.',
        }
      }
      return {
        code: 'key_refused',
        reason: `${this.#origin} refused the API key ${this.#authStreak} times in a row (401, 403 or INVALID_API_KEY)`,
        advice: `Check the API key ${source}, then resume; rows not sent yet are kept.`,
      }
    }
    if (this.isAway && (!this.#reachedOnce || this.#nowMs() - this.#unreachedSinceMs >= AWAY_MAX_MS)) {
      return {
        code: 'unreachable',
        reason: `Nothing can be reached at ${this.#origin}: ${this.#lastUnreached}`,
        advice: 'Rows not sent yet are kept.',
      }
    }
    const [rewritten] = this.#rewritten
    if (!this.#isEchoing && rewritten !== undefined && this.#rewritten.length >= REWRITTEN_MIN) {
      const { field, found, expected } = rewritten
      return {
        code: 'ids_rewritten',
        reason: `The first ${this.#rewritten.length} answers of ${this.#origin} that name a ${field} all name another than was sent, such as "${found}" for "${expected}"`,
        advice:
          'If this service rewrites ids, accept that (ids_rewritten) and resume; after that, only an id of another row of the run is a mismatch. If not, these are the answers of others: ask who runs the service. Rows not sent yet are kept; those answered so far are unknown.',
      }
    }
    const throttledMs = this.#throttledSinceMs === null ? 0 : this.#nowMs() - this.#throttledSinceMs
    if (this.#throttledSinceMs !== null && throttledMs >= this.#throttledMaxMs) {
      return {
        code: 'throttled',
        reason: `${this.#origin} has answered nothing but 429 (too many requests) for ${formatSpan(throttledMs)}`,
        advice: 'Wait until the limit is lifted, or send more slowly; rows not sent yet are kept.',
      }
    }
    const { errorPercent, afterRows } = this.#stop
    if (this.#settled >= afterRows && 100 * this.#errors > errorPercent * this.#settled) {
      const percent = formatAbove((100 * this.#errors) / this.#settled, errorPercent)
      const rows = this.#isGoingOn ? `${this.#settled} rows since it went on` : `first ${this.#settled} rows`
      return {
        code: 'mostly_errors',
        reason: `${percent} % of the ${rows} did not succeed (over ${errorPercent} %)`,
        advice: 'Look at the errors, then resume; rows not sent yet are kept.',
      }
    }
    return null
  }
}

/** A number with enough decimals to show that it exceeds a limit. */
function formatAbove(value: number, limit: number): string {
  for (let decimals = 0; ; decimals += 1) {
    const text = value.toFixed(decimals)
    if (Number(text) > limit || decimals === DECIMALS_MAX) return text
  }
}

const DECIMALS_MAX = 6
