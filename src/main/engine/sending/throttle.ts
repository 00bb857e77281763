import { AnswerWindow, LatestAnswers } from './answer-window.ts'

/** Share of 429s, beyond those independent of the pace, tolerated while approaching a limit. */
const SHARE_TOLERATED = 0.02
/** Least number of 429s in a window before an unlimited pace is cut because of their share. */
const THROTTLED_MIN = 5
/** Largest share of 429s considered independent of the pace. */
const STRAY_SHARE_MAX = 0.5
/**
 * In the search for a limit: the share of 429s up to which there is room for more, and from which the limit
 * is still far.
 */
const ROOM_SHARE_MAX = 0.1
const FAR_SHARE_MIN = 0.3
/** Share of 429s above which a first search does not wait for its window to end, and the answers needed. */
const MOSTLY_SHARE = 0.75
const MOSTLY_ANSWERS = 8
/** A cut had no effect if the share of 429s changes by less than this factor, up or down. */
const NO_EFFECT_RATIO = 2 / 3
/** Deepest cut; a cut otherwise follows the share of 429s. */
const CUT_MAX = 1 / 8
/** Share of a measured limit from which it is approached. */
const BELOW_LIMIT = 0.98
/** Growth in the first window after a limit was measured, and after one known only roughly. */
const GROWTH_FIRST = 0.01
const GROWTH_ROUGH = 0.08
/** Factors of growth with every window without a cut: near the last measured limit, and beyond. */
const GROWTH_NEAR = 1.25
const GROWTH_BEYOND = 2
/** Up to this multiple of the limit, the pace is near it. */
const NEAR_LIMIT = 1.1
/** Windows, milliseconds and answers: to search for a limit, to measure it, and without one. */
const SEARCH = { lengthMs: 250, answers: 4 }
const MEASURE = { lengthMs: 1_000, answers: 20 }
const UNLIMITED = { lengthMs: 1_000, answers: 100 }
/** At a known pace, only 429s for this long, milliseconds, and this many of them, hold everything. */
const STREAK_MS = 250
const STREAK_MIN = 8
/** Shortest time over which a rate is calculated, milliseconds. */
const RATE_MS = 50
/** Lowest pace, requests per second. */
const PACE_MIN = 0.05
/** A pace above this multiple of what is sent does not limit; one of which this share is sent does. */
const SLACK = 2
const PACE_KEPT = 0.75
/** Requests that may be sent at once to catch up with a late timer, as a time, milliseconds. */
const CATCH_UP_MS = 40
/** Wait after only 429s if the service does not name one, milliseconds. */
const HOLD_MS = 1_000
/** Shortest wait after a probe was answered 429, milliseconds: doubled from the first to the last. */
const AGAIN_FIRST_MS = 250
const AGAIN_LAST_MS = 10_000

/** An answered request. Times are milliseconds of one monotonic clock. */
interface AnsweredRequest {
  item: number
  isThrottled: boolean
  retryAfterMs: number | null
  sentAtMs: number
  nowMs: number
}

/**
 * Finds the pace at which a service stops answering 429 and keeps it there: additive increase and
 * multiplicative decrease, driven by the share of 429s (RFC 5681 describes the same for packets). A share
 * that a lower pace does not change is independent of the pace, so stray 429s do not slow anything down. If
 * every answer is 429 it holds all requests, then lets single probes through. It has no clock or timer of its
 * own.
 */
export class Throttle {
  readonly #maxWaitMs: number
  /** Requests per second; Infinity while nothing limits them. */
  #pace = Infinity
  #mode: 'unlimited' | 'search' | 'measure' = 'unlimited'
  /** Requests that may be sent now. */
  #tokens = 0
  #tokensAtMs = 0
  /** Requests sent before this time say nothing about the current pace. */
  #sinceMs = Number.NEGATIVE_INFINITY
  #window = new AnswerWindow(null)
  readonly #latest = new LatestAnswers()
  /** Share of 429s that does not depend on the pace. */
  #strayShare = 0
  /** The pace and share before a cut whose effect is being measured. */
  #before: { pace: number; share: number } | null = null
  #growth = GROWTH_FIRST
  /** What the service accepted when last measured, requests per second; null before. */
  #limit: number | null = null
  /** Whether a window of the current search had room for more. */
  #hasRoom = false
  /** Whether the last window of a search had nothing but 429s. */
  #wasAllThrottled = false
  #holdUntilMs = Number.NEGATIVE_INFINITY
  #holds = 0
  #probe: 'none' | 'due' | 'out' = 'none'

  /** `maxWaitMs` limits what the service may ask for with Retry-After. */
  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs
  }

  /** Most requests sent per second; Infinity while nothing limits them, 0 while only probes are sent. */
  get pacePerS(): number {
    return this.#probe === 'none' ? this.#pace : 0
  }

  /** Whether the service limits the pace. */
  get isThrottling(): boolean {
    return this.#pace !== Infinity || this.#probe !== 'none'
  }

  /** What the service accepted when last measured, requests per second; null before. */
  get limitPerS(): number | null {
    return this.#limit
  }

  /** When the next probe is sent, in the clock's milliseconds; null while there is a pace. */
  get nextProbeMs(): number | null {
    return this.#probe === 'none' ? null : this.#holdUntilMs
  }

  /** Whether a 429 says nothing about its row, since the pace or chance explains it. */
  get explains429(): boolean {
    return this.isThrottling || this.#strayShare > 0
  }

  /** Milliseconds until the next request may be sent: 0 now, Infinity while a probe is awaited. */
  waitMs(nowMs: number): number {
    if (this.#probe === 'out') return Infinity
    if (nowMs < this.#holdUntilMs) return this.#holdUntilMs - nowMs
    if (this.#probe === 'due' || this.#pace === Infinity) return 0
    this.#refill(nowMs)
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1000) / this.#pace
  }

  /** Requests that may be sent now. */
  room(nowMs: number): number {
    if (this.waitMs(nowMs) > 0) return 0
    if (this.#probe !== 'none') return 1
    return this.#pace === Infinity ? Infinity : Math.floor(this.#tokens)
  }

  /** Notes that a request is sent, after {@link waitMs} returned 0. */
  noteSent(nowMs: number): void {
    this.#window.noteSent(nowMs)
    if (this.#probe === 'due') {
      this.#probe = 'out'
      this.#sinceMs = nowMs
    } else if (this.#pace !== Infinity) {
      this.#refill(nowMs)
      this.#tokens -= 1
    }
  }

  /** Notes that a request ended without an answer; if it was a probe, it showed nothing. */
  noteUnanswered(sentAtMs: number): void {
    if (this.#probe === 'out' && sentAtMs >= this.#sinceMs) this.#probe = 'due'
  }

  noteAnswer(answer: AnsweredRequest): void {
    // Requests in flight together at a cut count as one sign, not many.
    if (answer.sentAtMs < this.#sinceMs) return
    const { item, isThrottled, retryAfterMs, nowMs } = answer
    if (this.#probe !== 'none') {
      if (isThrottled) this.#hold(retryAfterMs, nowMs)
      else this.#reopen(nowMs)
      return
    }
    if (this.#mode === 'unlimited' && this.#latest.note(item, isThrottled)) {
      this.#startSearch(nowMs)
      return
    }
    this.#window.noteAnswer(isThrottled, nowMs)
    if (this.#mode === 'unlimited') this.#judgeUnlimited(nowMs)
    else if (this.#mode === 'search') this.#judgeSearch(retryAfterMs, nowMs)
    else this.#judgeMeasured(retryAfterMs, nowMs)
  }

  #startSearch(nowMs: number): void {
    this.#mode = 'search'
    this.#hasRoom = false
    // A service that has accepted nothing so far is not tried for long.
    this.#wasAllThrottled = this.#window.streak === this.#window.answers
    const rate = this.#window.sentPerS(nowMs, RATE_MS)
    const { share } = this.#latest
    this.#latest.clear()
    this.#setPace(rate * Math.max(CUT_MAX, 1 - share), nowMs)
  }

  #hold(retryAfterMs: number | null, nowMs: number): void {
    const again = Math.min(AGAIN_LAST_MS, AGAIN_FIRST_MS * 2 ** Math.min(this.#holds - 1, 30))
    const leastMs = this.#holds === 0 ? 0 : again
    this.#holds += 1
    this.#holdUntilMs = nowMs + Math.min(this.#maxWaitMs, Math.max(leastMs, retryAfterMs ?? HOLD_MS))
    this.#sinceMs = this.#holdUntilMs
    this.#probe = 'due'
  }

  /** Reopens after a successful probe. */
  #reopen(nowMs: number): void {
    this.#probe = 'none'
    // A limit per second starts a new second; after several probes the limit may be another one.
    if (this.#holds > 1) this.#mode = 'search'
    this.#holds = 0
    this.#wasAllThrottled = false
    this.#hasRoom = false
    this.#restartWindow(nowMs)
  }

  #judgeUnlimited(nowMs: number): void {
    const window = this.#window
    if (!window.isOver(nowMs, UNLIMITED.lengthMs, UNLIMITED.answers)) return
    if (window.throttled < THROTTLED_MIN || !this.#isAboveTolerance()) this.#keepPace(nowMs)
    else {
      this.#mode = 'measure'
      this.#cut(nowMs)
    }
  }

  /** Searches for the limit's order of magnitude: down by the share of 429s, up by doubling. */
  #judgeSearch(retryAfterMs: number | null, nowMs: number): void {
    const window = this.#window
    if (window.streak === window.answers) {
      if (!window.isAllThrottled(nowMs)) return
      if (this.#wasAllThrottled) this.#hold(retryAfterMs, nowMs)
      else this.#setPace(this.#pace * CUT_MAX, nowMs)
      this.#wasAllThrottled = true
      return
    }
    const { share } = window
    const isMostly = window.answers >= MOSTLY_ANSWERS && share >= MOSTLY_SHARE && !this.#hasRoom
    if (!isMostly && !window.isOver(nowMs, SEARCH.lengthMs, SEARCH.answers)) return
    this.#wasAllThrottled = false
    const sent = window.sentPerS(nowMs)
    const base = Math.min(this.#pace, sent)
    if (share <= ROOM_SHARE_MAX) {
      this.#hasRoom = true
      if (this.#pace > SLACK * sent) this.#lift(nowMs)
      else {
        this.#pace *= 2
        this.#restartWindow(nowMs)
      }
    } else if (this.#hasRoom || share < FAR_SHARE_MIN) {
      this.#mode = 'measure'
      this.#growth = GROWTH_ROUGH
      // The pace before, half of this one, had room.
      this.#setPace(base * Math.max(0.5, 1 - share), nowMs)
    } else this.#setPace(base * Math.max(CUT_MAX, 1 - share), nowMs)
  }

  /** Goes up little by little, and down to what the service accepted. */
  #judgeMeasured(retryAfterMs: number | null, nowMs: number): void {
    const window = this.#window
    if (window.streak >= Math.max(STREAK_MIN, (this.#pace * STREAK_MS) / 1000)) {
      this.#hold(retryAfterMs, nowMs)
      return
    }
    if (!window.isOver(nowMs, MEASURE.lengthMs, MEASURE.answers)) return
    const before = this.#before
    this.#before = null
    if (before !== null && this.#hadNoEffect(before)) this.#restore(before.pace, nowMs)
    else if (window.throttled > 1 && this.#isAboveTolerance()) this.#cut(nowMs)
    else this.#grow(nowMs)
  }

  /** Whether a cut has changed nothing, because its 429s do not depend on the pace. */
  #hadNoEffect(before: { share: number }): boolean {
    const { share, throttled, isScattered } = this.#window
    this.#strayShare = Math.min(this.#strayShare, share)
    const isSame = share >= before.share * NO_EFFECT_RATIO && share <= before.share / NO_EFFECT_RATIO
    if (throttled < 2 || share > STRAY_SHARE_MAX || !isScattered || !isSame) return false
    this.#strayShare = share
    return true
  }

  #restore(pace: number, nowMs: number): void {
    if (pace === Infinity) this.#lift(nowMs)
    else this.#setPace(pace, nowMs)
    this.#growth = GROWTH_ROUGH
  }

  #grow(nowMs: number): void {
    const isSlack = this.#pace > SLACK * this.#window.sentPerS(nowMs)
    this.#keepPace(nowMs)
    if (isSlack) {
      this.#lift(nowMs)
      return
    }
    this.#pace *= 1 + this.#growth
    const isNear = this.#limit !== null && this.#pace < this.#limit * NEAR_LIMIT
    this.#growth = Math.min(1, this.#growth * (isNear ? GROWTH_NEAR : GROWTH_BEYOND))
  }

  #isAboveTolerance(): boolean {
    const stray = this.#strayShare
    const spread = 2 * Math.sqrt((stray * (1 - stray)) / this.#window.answers)
    return this.#window.share > stray + SHARE_TOLERATED + spread
  }

  /** Notices without a cut that stray 429s become rarer. */
  #keepPace(nowMs: number): void {
    this.#strayShare = Math.min(this.#strayShare, (this.#strayShare * 4 + this.#window.share) / 5)
    this.#restartWindow(nowMs)
  }

  /** Goes below what the service accepted in the last window, and measures the effect. */
  #cut(nowMs: number): void {
    const { share } = this.#window
    this.#before = { pace: this.#pace, share }
    this.#growth = GROWTH_FIRST
    // If a busy machine or a slow service did not quite keep the pace, the accepted rate would cut it too
    // deep.
    const isKept = this.#window.sentPerS(nowMs) >= this.#pace * PACE_KEPT
    const limit = isKept ? this.#pace * (1 - share) : this.#window.takenPerS(nowMs)
    this.#limit = limit
    // Strays must be sent on top for that many to be accepted.
    const sendPerS = (limit * BELOW_LIMIT) / (1 - this.#strayShare)
    this.#setPace(Math.max(sendPerS, this.#pace === Infinity ? 0 : this.#pace * CUT_MAX), nowMs)
  }

  #setPace(pace: number, nowMs: number): void {
    this.#refill(nowMs)
    this.#pace = Math.max(PACE_MIN, pace)
    this.#sinceMs = nowMs
    this.#window = new AnswerWindow(null)
  }

  #lift(nowMs: number): void {
    this.#pace = Infinity
    this.#mode = 'unlimited'
    this.#growth = GROWTH_FIRST
    this.#before = null
    this.#latest.clear()
    this.#restartWindow(nowMs)
  }

  #restartWindow(nowMs: number): void {
    this.#window = new AnswerWindow(nowMs)
  }

  #refill(nowMs: number): void {
    if (this.#pace !== Infinity) {
      const most = Math.max(1, (this.#pace * CATCH_UP_MS) / 1000)
      this.#tokens = Math.min(most, this.#tokens + ((nowMs - this.#tokensAtMs) * this.#pace) / 1000)
    }
    this.#tokensAtMs = nowMs
  }
}
