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
export function waitForTurn(waiter: TurnWaiter): void {
  TURNS.wait(waiter)
}
