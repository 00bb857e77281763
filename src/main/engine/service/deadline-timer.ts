/** Notified when its time is over. */
export interface Deadline {
  onDeadline(): void
}

/**
 * Times the requests of one connection, which come one after the other, with one timer that is set again only when it
 * fires: setting one for each request would cost more than a percent of sending it.
 */
export class DeadlineTimer {
  #timer: NodeJS.Timeout | null = null
  #deadlineMs = 0
  #current: Deadline | null = null

  /** Tells `deadline` once when the time is over, unless {@link stop} comes before; the one before it is stopped. */
  start(deadline: Deadline, nowMs: number, timeoutMs: number): void {
    this.#current = deadline
    this.#deadlineMs = nowMs + timeoutMs
    if (this.#timer === null) this.#wait(timeoutMs)
  }

  /** Calls it off, unless another one was started since. */
  stop(deadline: Deadline): void {
    if (this.#current === deadline) this.#current = null
  }

  /** Stops for good. */
  destroy(): void {
    this.#current = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #wait(ms: number): void {
    // A connection that works keeps the process alive on its own, and one that idles must not.
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = null
    const current = this.#current
    if (current === null) return
    const leftMs = this.#deadlineMs - performance.now()
    if (leftMs > 0) {
      this.#wait(Math.ceil(leftMs))
      return
    }
    this.#current = null
    current.onDeadline()
  }
}
