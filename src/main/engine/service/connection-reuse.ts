/** By then, a service that closes connections after an answer has done so, milliseconds. */
const QUIET_MS = 10

/** How long after an answer a connection's end may belong to it, milliseconds: it takes a while to arrive. */
const AFTER_ANSWER_MS = 2 * QUIET_MS

/** Before an origin has shown that it keeps connections, this many requests wait less, milliseconds. */
const PROBES_MAX = 8
const PROBE_QUIET_MS = 4

/** Approximate number of recent uses of connections that are judged. */
const RECENT = 32

/** Number and share of recent connections that ended from which on none is used twice. */
const ENDS_MIN = 3
const ENDS_SHARE = 0.25

/** How many requests over used connections must succeed before an origin in doubt is trusted. */
const TRUSTED_AFTER = 100

/** How long no connection is reused, the first time and at most, milliseconds; it doubles each time. */
const PAUSE_MS = 10_000
const PAUSE_MAX_MS = 320_000

/**
 * Why connections to an origin are not reused: it closes them after answers, drops requests over used ones,
 * or sends unrequested answers.
 */
export type ReuseEnd = 'closed' | 'dropped' | 'stray'

/**
 * Decides when connections to an origin may carry another request, for all connections of a thread.
 *
 * Unread bytes or an unread close that the service sent unasked would be taken for the next answer or lose
 * the next request. So a request over a used connection waits until the event loop has polled all sockets
 * once more. That is not enough if the service closes connections after an answer without announcing it: a
 * new origin is tried with few requests, and one that may have lost a request this way gets longer waits
 * until it has shown that it keeps connections.
 *
 * A connection that ends in the middle of a request says nothing about what happens after an answer, and
 * waiting does not prevent it. So origins are judged by the share of recent uses that ended, not by their
 * number. Above it, each request gets a new connection for a while; for drops only if new connections are
 * dropped clearly less. Connections to an origin that sends unrequested answers are never reused: such an
 * answer could be taken for that of the next request.
 */
export class ConnectionReuse {
  readonly #onEnded: (why: ReuseEnd) => void
  #state: 'untried' | 'trusted' | 'doubted' | 'paused' | 'ended' = 'untried'
  #probes = 0
  /** Used connections that stayed open since the origin came into doubt. */
  #kept = 0
  /** Whether drops went on although requests waited: the origin does not close connections after answers. */
  #isDropping = false
  /** What was sent or answered before the last counted end tells nothing: connections often end together. */
  #endedAtMs = Number.NEGATIVE_INFINITY
  #used = new RecentUses()
  #fresh = new RecentUses()
  #pauseMs = PAUSE_MS
  #pausedUntilMs = 0

  /** `onEnded` is called each time reuse stops, even for a pause. */
  constructor(onEnded: (why: ReuseEnd) => void = () => {}) {
    this.#onEnded = onEnded
  }

  /** Whether each request needs a new connection. */
  isEnded(nowMs: number): boolean {
    if (this.#state === 'paused' && nowMs >= this.#pausedUntilMs) this.#enter('doubted')
    return this.#state === 'paused' || this.#state === 'ended'
  }

  /** Calls `waiter` once its connection may be used, if still open. Call {@link leave} after its request. */
  wait(waiter: TurnWaiter, answeredMs: number, nowMs: number): void {
    const isProbe = this.#state === 'untried' && this.#probes < PROBES_MAX
    this.#probes += 1
    const quietMs = answeredMs + (isProbe ? PROBE_QUIET_MS : QUIET_MS) - nowMs
    if (this.#state === 'trusted' || quietMs <= 0) waitForTurn(waiter)
    else setTimeout(() => waitForTurn(waiter), Math.ceil(quietMs))
  }

  /** Notes the end of a request for which {@link wait} was called, however it ended. */
  leave(): void {
    this.#probes -= 1
  }

  /** Notes that a used connection is still open, `openMs` after its first answer. */
  noteOpen(openMs: number): void {
    if (this.#state === 'untried' && openMs >= QUIET_MS) this.#enter('trusted')
  }

  /**
   * Notes an answered request: when it was sent, and when the answer before it came over the same connection;
   * null for the first.
   */
  noteAnswer(sentMs: number, answeredMs: number | null): void {
    if (sentMs < this.#endedAtMs) return
    if (answeredMs === null) {
      this.#fresh.note('kept')
      return
    }
    this.#used.note('kept')
    if (this.#state !== 'doubted') return
    this.#kept += 1
    if (this.#kept >= TRUSTED_AFTER) this.#enter('trusted')
  }

  /** Notes that a connection ended after a request but before the first byte of its answer. */
  noteDeath(sentMs: number, answeredMs: number | null, nowMs: number): void {
    if (sentMs < this.#endedAtMs) return
    this.#endedAtMs = nowMs
    if (answeredMs === null) {
      this.#fresh.note('dropped')
      return
    }
    this.#used.note('dropped')
    this.#judge(nowMs)
    const mayBeClosing = nowMs - answeredMs <= AFTER_ANSWER_MS
    if (this.#state === 'untried' || (this.#state === 'trusted' && mayBeClosing && !this.#isDropping)) {
      this.#enter('doubted')
    } else if (this.#state === 'doubted' && this.#used.count('closed') === 0) {
      this.#isDropping = true
      this.#enter('trusted')
    }
  }

  /** Notes that the service closed an idle connection, whose last answer came at `answeredMs`. */
  noteIdleClosing(answeredMs: number, nowMs: number): void {
    // Services may close idle connections sooner or later.
    if (nowMs - answeredMs > AFTER_ANSWER_MS || answeredMs < this.#endedAtMs) return
    this.#endedAtMs = nowMs
    this.#isDropping = false
    this.#kept = 0
    this.#used.note('closed')
    if (this.#state === 'untried') this.#enter('doubted')
    this.#judge(nowMs)
  }

  /** Notes that the service sent something unrequested. */
  noteStray(): void {
    if (this.#state === 'ended') return
    this.#enter('ended')
    this.#onEnded('stray')
  }

  /** Stops reuse for a while if too many recent uses ended. */
  #judge(nowMs: number): void {
    if (this.#state === 'paused' || this.#state === 'ended') return
    const closed = this.#used.count('closed')
    const dropped = this.#used.count('dropped')
    if (closed + dropped <= ENDS_MIN || this.#used.toShare() < ENDS_SHARE) return
    // Closings cross with requests: a connection that is sometimes closed while idle is also closed in the
    // middle of a request.
    const why = closed > 0.5 ? 'closed' : 'dropped'
    // New connections would be dropped as often.
    if (why === 'dropped' && this.#fresh.toShare() * 2 > this.#used.toShare()) return
    this.#pausedUntilMs = nowMs + this.#pauseMs
    this.#pauseMs = Math.min(PAUSE_MAX_MS, this.#pauseMs * 2)
    this.#used = new RecentUses()
    this.#enter('paused')
    this.#onEnded(why)
  }

  #enter(state: 'trusted' | 'doubted' | 'paused' | 'ended'): void {
    this.#state = state
    this.#kept = 0
    if (state === 'trusted' && !this.#isDropping) this.#pauseMs = PAUSE_MS
  }
}

/** Counts what happened to the latest uses of connections; older ones count less and less. */
class RecentUses {
  readonly #counts = { kept: 0, closed: 0, dropped: 0 }

  note(what: 'kept' | 'closed' | 'dropped'): void {
    const counts = this.#counts
    const kept = 1 - 1 / RECENT
    counts.kept *= kept
    counts.closed *= kept
    counts.dropped *= kept
    counts[what] += 1
  }

  count(what: 'closed' | 'dropped'): number {
    return this.#counts[what]
  }

  /** Share of uses that ended; 0 without any. */
  toShare(): number {
    const { kept, closed, dropped } = this.#counts
    return (closed + dropped) / Math.max(1, kept + closed + dropped)
  }
}

/** A turn of the loop that took longer, milliseconds, may have left data unread: another turn is needed. */
const TURN_MAX_MS = 1

/** Turns after which a waiter stops waiting, however long they are. */
const LONG_TURNS_MAX = 10

/** Most waiters called in one turn, so that the last knows about as much as the first. */
const CALLED_MAX = 16

/** Waits for a turn of the event loop. */
export interface TurnWaiter {
  /** Called when everything that had arrived on any socket was read. */
  onTurn(): void
}

/**
 * Turns of this thread's event loop, for all its connections together: one `setImmediate` a turn, however
 * many wait. Immediates run after sockets were polled, and those set while sockets are read run before the
 * next poll. So a waiter is called in the second check phase after it began to wait: only between two of them
 * is a poll certain.
 */
class LoopTurns {
  #fresh: TurnWaiter[] = []
  #polled: TurnWaiter[] = []
  #isArmed = false
  #checkedMs = 0
  #longTurns = 0

  wait(waiter: TurnWaiter): void {
    this.#fresh.push(waiter)
    this.#arm()
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    setImmediate(this.#onCheck)
  }

  readonly #onCheck = (): void => {
    this.#isArmed = false
    const ready = this.#polled
    this.#polled = this.#fresh
    this.#fresh = []
    const nowMs = performance.now()
    const isLong = nowMs - this.#checkedMs > TURN_MAX_MS && this.#longTurns < LONG_TURNS_MAX
    this.#longTurns = isLong ? this.#longTurns + 1 : 0
    this.#checkedMs = nowMs
    const called = isLong ? 0 : CALLED_MAX
    if (ready.length > called) this.#polled = [...ready.splice(called), ...this.#polled]
    if (this.#polled.length > 0) this.#arm()
    for (const waiter of ready) waiter.onTurn()
  }
}

const TURNS = new LoopTurns()

/** Calls `waiter` once the event loop has polled all sockets once more and read their data. */
function waitForTurn(waiter: TurnWaiter): void {
  TURNS.wait(waiter)
}
