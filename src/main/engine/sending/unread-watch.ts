/** How often the loop is made to poll its connections, milliseconds. */
const LOOK_EVERY_MS = 1

/**
 * Timers have a resolution of a millisecond and come a little late: a loop that polled this long ago is on
 * time.
 */
const ON_TIME_MS = 1.1

/**
 * Measures how long answers may have lain unread while its thread was busy or had no core. The operating
 * system does not tell when they came; but everything present when the loop last polled its connections was
 * read then, so nothing has waited longer than since.
 */
export class UnreadWatch {
  readonly #nowMs: () => number
  readonly #afterLook: (act: () => void) => void
  #timer: NodeJS.Timeout | undefined
  /** Everything that had arrived has been read. */
  #readUntilMs: number
  /** Everything that had arrived is being read in the current poll; null outside of one. */
  #lookingMs: number | null = null
  readonly #onLooked = (): void => {
    this.#readUntilMs = this.#lookingMs ?? this.#readUntilMs
    this.#lookingMs = null
  }

  /** `afterLook` calls back once the loop has polled its connections and everything present was read. */
  constructor(
    nowMs: () => number = () => performance.now(),
    afterLook: (act: () => void) => void = setImmediate,
  ) {
    this.#nowMs = nowMs
    this.#afterLook = afterLook
    this.#readUntilMs = nowMs()
  }

  /** Polls from now on, until it is closed. */
  start(): this {
    // A late timer says nothing about what came before it: that is read after it.
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref()
    return this
  }

  /** Notes that the loop polls its connections next. */
  look(): void {
    this.#noteLook(this.#nowMs())
  }

  /** How much too long data read at this time, by `performance.now()`, may have lain unread, milliseconds. */
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
