/** How often the loop is made to look at its connections, milliseconds. */
const LOOK_EVERY_MS = 1

/** Timers resolve a millisecond and come a little after it: a loop that looked this long ago is on time. */
const ON_TIME_MS = 1.1

/**
 * Tells how long answers may have lain unread while the thread it runs in was busy, or had no core to run on. The
 * operating system tells nobody when they came; but what was there when the loop last looked at its connections was read
 * then, so that nothing has waited for longer than since.
 */
export class UnreadWatch {
  readonly #nowMs: () => number
  readonly #afterLook: (act: () => void) => void
  #timer: NodeJS.Timeout | undefined
  /** What had come by then was read. */
  #readUntilMs: number
  /** What had come by then is read as the loop looks now; null if it does not. */
  #lookingMs: number | null = null
  readonly #onLooked = (): void => {
    this.#readUntilMs = this.#lookingMs ?? this.#readUntilMs
    this.#lookingMs = null
  }

  /** `afterLook` calls back once the loop has looked at its connections, and everything was read that was there. */
  constructor(
    nowMs: () => number = () => performance.now(),
    afterLook: (act: () => void) => void = setImmediate,
  ) {
    this.#nowMs = nowMs
    this.#afterLook = afterLook
    this.#readUntilMs = nowMs()
  }

  /** Looks from now on, until it is closed. */
  start(): this {
    // A timer that is late tells nothing of what came before: that is read after it.
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref()
    return this
  }

  /** The loop will look at its connections next. */
  look(): void {
    this.#noteLook(this.#nowMs())
  }

  /** How long what was read at this time, by `performance.now()`, may have lain there too long, milliseconds. */
  noteRead(readMs: number): number {
    this.#noteLook(readMs)
    return Math.max(0, readMs - this.#readUntilMs - ON_TIME_MS)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #noteLook(ms: number): void {
    if (this.#lookingMs !== null) return
    this.#lookingMs = ms
    this.#afterLook(this.#onLooked)
  }
}
