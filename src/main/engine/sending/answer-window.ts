/** Slower services get longer windows, up to this many times. */
const LONGER_MAX = 10
/** Only 429s, this many, or fewer after this long, milliseconds: the window is barren. */
const ALL_THROTTLED_ANSWERS = 8
const ALL_THROTTLED_SLOW = { answers: 3, afterMs: 1_000 }
/** A flood of 429s: the latest six answers, or this many of the latest sixteen. */
const FLOOD_STREAK = 0b11_1111
const LATEST = 16
const FLOOD_MIN = 12
/** 429s slow the sender down only if they refuse this many rows: one row may be refused again and again. */
const FLOOD_ROWS_MIN = 3

/** Requests sent at one pace, and their answers. Times are milliseconds of one monotonic clock. */
export class AnswerWindow {
  /** When the first request was sent, or the window before ended; null before. */
  #sinceMs: number | null
  /** When the first answer came; null before. */
  #startMs: number | null
  #sent = 0
  #answers = 0
  #throttled = 0
  /** Consecutive 429s: the longest series, and the current one. */
  #longest = 0
  #streak = 0

  /** `startMs`: when the previous window of the same pace ended; null before the first request. */
  constructor(startMs: number | null) {
    this.#sinceMs = startMs
    this.#startMs = startMs
  }

  noteSent(nowMs: number): void {
    this.#sinceMs ??= nowMs
    this.#sent += 1
  }

  noteAnswer(isThrottled: boolean, nowMs: number): void {
    this.#startMs ??= nowMs
    this.#answers += 1
    this.#streak = isThrottled ? this.#streak + 1 : 0
    this.#longest = Math.max(this.#longest, this.#streak)
    if (isThrottled) this.#throttled += 1
  }

  get answers(): number {
    return this.#answers
  }

  get throttled(): number {
    return this.#throttled
  }

  /** Consecutive 429s at present. */
  get streak(): number {
    return this.#streak
  }

  /** Share of 429s among the answers. */
  get share(): number {
    return this.#throttled / this.#answers
  }

  /** Requests sent per second, over at least `leastMs`. */
  sentPerS(nowMs: number, leastMs = 1): number {
    return (Math.max(1, this.#sent) * 1000) / Math.max(leastMs, nowMs - (this.#sinceMs ?? nowMs))
  }

  /** Requests per second that the service accepted. */
  takenPerS(nowMs: number): number {
    return ((this.#answers - this.#throttled) * 1000) / Math.max(1, this.#elapsedMs(nowMs))
  }

  /** Whether it has the given length and number of answers, or ten times the length. */
  isOver(nowMs: number, lengthMs: number, wanted: number): boolean {
    const elapsedMs = this.#elapsedMs(nowMs)
    return elapsedMs >= lengthMs && (this.#answers >= wanted || elapsedMs >= lengthMs * LONGER_MAX)
  }

  /** Whether it has shown nothing but 429s for long enough. */
  isAllThrottled(nowMs: number): boolean {
    if (this.#streak < this.#answers) return false
    const isSlow =
      this.#answers >= ALL_THROTTLED_SLOW.answers && this.#elapsedMs(nowMs) >= ALL_THROTTLED_SLOW.afterMs
    return isSlow || this.#answers >= ALL_THROTTLED_ANSWERS
  }

  /** Whether the 429s are spread randomly: a limit per second would cause them in a row. */
  get isScattered(): boolean {
    if (this.#throttled === 0) return true
    const expected = Math.log(this.#answers) / -Math.log(Math.min(0.9, this.share))
    return this.#longest <= 2 + 2 * expected
  }

  #elapsedMs(nowMs: number): number {
    return this.#startMs === null ? 0 : nowMs - this.#startMs
  }
}

/** The latest answers, to notice at once that an unlimited pace meets a much lower limit. */
export class LatestAnswers {
  /** A bit for each answer, the newest the lowest; 1 is a 429. */
  #bits = 0
  readonly #rows = new Set<number>()

  /** Notes an answer; returns whether the latest ones are a flood of 429s. */
  note(item: number, isThrottled: boolean): boolean {
    this.#bits = ((this.#bits << 1) | (isThrottled ? 1 : 0)) & (2 ** LATEST - 1)
    if (this.#bits === 0) this.#rows.clear()
    if (!isThrottled) return false
    this.#rows.add(item)
    const isStreak = (this.#bits & FLOOD_STREAK) === FLOOD_STREAK
    return (isStreak || this.#count() >= FLOOD_MIN) && this.#rows.size >= FLOOD_ROWS_MIN
  }

  /** Share of 429s; missing answers count as accepted. */
  get share(): number {
    return this.#count() / LATEST
  }

  clear(): void {
    this.#bits = 0
    this.#rows.clear()
  }

  #count(): number {
    let count = 0
    for (let bits = this.#bits; bits > 0; bits >>= 1) count += bits & 1
    return count
  }
}
