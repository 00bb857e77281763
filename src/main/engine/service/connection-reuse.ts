/** A service that closes connections on its own after an answer has done so by then, milliseconds. */
const QUIET_MS = 10

/** Before an origin has shown that it keeps connections, so many requests wait less, milliseconds. */
const PROBES_MAX = 8
const PROBE_QUIET_MS = 4

/** Unannounced closings after which an origin that is in doubt gets a new connection for each request. */
const CLOSINGS_MAX = 3

/** Answers over used connections after which an origin is no longer in doubt. */
const TRUSTED_AFTER_ANSWERS = 1_000

/** Why no connection to an origin is reused: it closes them after answers, or sends answers that nobody asked for. */
export type ReuseEnd = 'closed' | 'stray'

/**
 * Decides when the connections to an origin may carry another request, for all connections of a thread.
 *
 * Bytes or an end that the service sent unasked, and that wait unread, would be taken for the next answer or lose the
 * next request. So a request over a used connection waits until the event loop has polled all sockets once more. Where
 * the service closes connections after an answer without announcing it, that is not enough: a new origin is tried with
 * few requests, one that lost a request is waited for longer, and one that goes on closing gets no connection reused.
 * Nor does one that sends answers nobody asked for: what comes a moment too late is told to the wrong request.
 */
export class ConnectionReuse {
  readonly #onEnded: (why: ReuseEnd) => void
  #state: 'untried' | 'trusted' | 'doubted' | 'ended' = 'untried'
  /** Counts changes of state: what happens to a request that went out before one says nothing of it. */
  #epoch = 0
  #probes = 0
  #closings = 0
  #answers = 0
  /** `onEnded` is called once, when no connection will be reused any more. */
  constructor(onEnded: (why: ReuseEnd) => void = () => {}) {
    this.#onEnded = onEnded
  }

  /** Whether each request needs a new connection. */
  get isEnded(): boolean {
    return this.#state === 'ended'
  }

  /** What {@link noteDeath} wants to know of a request. */
  get epoch(): number {
    return this.#epoch
  }

  /** Calls `waiter` once its connection may be used, if it is still open. Call {@link leave} when its request has ended. */
  wait(waiter: TurnWaiter, answeredMs: number, nowMs: number): void {
    const isProbe = this.#state === 'untried' && this.#probes < PROBES_MAX
    this.#probes += 1
    const quietMs = answeredMs + (isProbe ? PROBE_QUIET_MS : QUIET_MS) - nowMs
    if (this.#state === 'trusted' || quietMs <= 0) waitForTurn(waiter)
    else setTimeout(() => waitForTurn(waiter), Math.ceil(quietMs))
  }

  /** A request that {@link wait} was called for has ended, however it did. */
  leave(): void {
    this.#probes -= 1
  }

  /** A used connection is open; `openMs`: since its first answer. */
  noteOpen(openMs: number): void {
    if (this.#state === 'untried' && openMs >= QUIET_MS) this.#enter('trusted')
  }

  /** A used connection has brought an answer. */
  noteAnswer(): void {
    if (this.#state !== 'doubted') return
    this.#answers += 1
    if (this.#answers >= TRUSTED_AFTER_ANSWERS) this.#enter('trusted')
  }

  /** A used connection ended after a request and before the first byte of its answer. */
  noteDeath(epoch: number): void {
    if (epoch !== this.#epoch) return
    if (this.#state === 'doubted') this.#noteClosing()
    else if (this.#state !== 'ended') this.#enter('doubted')
  }

  /** The service ended a connection that waited for its next request; `idleMs`: since the last answer. */
  noteIdleClosing(idleMs: number): void {
    // Services close idle connections sooner or later, and may.
    if (idleMs > 2 * QUIET_MS || this.#state === 'trusted' || this.#state === 'ended') return
    if (this.#state === 'untried') this.#enter('doubted')
    this.#noteClosing()
  }

  /** The service sent what nobody asked for. */
  noteStray(): void {
    if (this.#state !== 'ended') this.#endReuse('stray')
  }

  #noteClosing(): void {
    this.#closings += 1
    if (this.#closings < CLOSINGS_MAX) return
    this.#endReuse('closed')
  }

  #endReuse(why: ReuseEnd): void {
    this.#enter('ended')
    this.#onEnded(why)
  }

  #enter(state: 'trusted' | 'doubted' | 'ended'): void {
    this.#state = state
    this.#epoch += 1
    this.#closings = 0
    this.#answers = 0
  }
}

/** A turn of the loop that took longer, milliseconds, leaves what came meanwhile unread: another turn is needed. */
const TURN_MAX_MS = 1

/** Turns after which nobody waits any longer, however long the turns are. */
const LONG_TURNS_MAX = 10

/** Waiters that are called in one turn at most, so that the last of them knows about as much as the first. */
const CALLED_MAX = 16

/** Who waits for a turn of the event loop. */
export interface TurnWaiter {
  /** Everything that had arrived on any socket was read. */
  onTurn(): void
}

/**
 * Turns of this thread's event loop, for all its connections together: one `setImmediate` a turn, however many wait.
 * Immediates run after sockets were polled, and those set while sockets are read run before the next poll. So a waiter
 * is called at the second check phase after it began to wait: only between two of them is a poll certain.
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

/** Calls `waiter` once the event loop has polled all sockets once more, and what they brought was read. */
function waitForTurn(waiter: TurnWaiter): void {
  TURNS.wait(waiter)
}
