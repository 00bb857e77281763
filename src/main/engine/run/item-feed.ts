import type { Journal } from '../journal/journal.ts'
import type { ClaimedItem, ItemClaims } from './journal/item-claims.ts'

/** Most items under one watermark; in a crash the whole block becomes unknown. */
const BLOCK_MAX = 500
/** Approximate size of a block at the current rate, milliseconds. */
const BLOCK_MS = 50
/** Cells of items that are marked again at once, UTF-16 code units, so that huge rows do not fill memory. */
const BLOCK_MAX_CHARACTERS = 4 * 1024 * 1024
/**
 * The next items are marked when no more are left than are sent in this time, milliseconds, and at most this
 * number.
 */
const AHEAD_MS = 10
const AHEAD_MAX = 150
/** Most items in back-off before no fresh one is started. */
const BACKING_OFF_MAX = 10_000

interface ItemFeedOptions {
  /** Calls back after a delay; the returned function cancels that. */
  schedule: (delayMs: number, callback: () => void) => () => void
  /** Called when a back-off is over. */
  onDue: () => void
  /** Called when marked items may be sent. */
  onConfirmed: () => void
  /** Called if marks could not be written to disk. */
  onError: (error: unknown) => void
}

/** Items to send, in source order, those after a back-off first. None leaves before it is marked on disk. */
export class ItemFeed {
  readonly #journal: Journal
  readonly #claims: ItemClaims
  readonly #options: ItemFeedOptions
  /** Marked on disk, not handed out yet. */
  #fresh: ClaimedItem[] = []
  #again: ClaimedItem[] = []
  /** Marked, but perhaps not on disk yet. */
  #marking: { fresh: ClaimedItem[]; again: ClaimedItem[] } = { fresh: [], again: [] }
  #isConfirming = false
  #confirmed: Promise<void> = Promise.resolve()
  /** Number of items left at which the next are marked. */
  #low = 0
  /**
   * Ready to be resent after a back-off or an earlier session, and not marked yet. `isCounted`: the limit has
   * counted the item, which has not been sent since.
   */
  #due: { item: number; attempts: number; isCounted?: boolean }[] = []
  /** To be split in two and resent: refused for their size. */
  #toSplit: { item: number; attempts: number }[] = []
  readonly #backingOff = new Map<number, { attempts: number; dueMs: number; cancel: () => void }>()
  /** The last item read of those that an earlier session left to be resent. */
  #pendingRead = 0
  #pendingExhausted = false
  #freshExhausted = false
  #itemsLeft = Infinity
  /** Items of earlier sessions already counted by the limit: their further tries do not count again. */
  readonly #counted = new Set<number>()

  constructor(journal: Journal, claims: ItemClaims, options: ItemFeedOptions) {
    this.#journal = journal
    this.#claims = claims
    this.#options = options
  }

  /** Hands out at most this many items from now on; items handed out again do not count again. */
  limit(items: number): void {
    this.#itemsLeft = items
    this.#freshExhausted = false
  }

  /** How many items the limit still allows; an item taken back counts again. */
  get itemsLeft(): number {
    return this.#itemsLeft
  }

  /** The next item marked on disk; null if there is none at the moment. */
  next(): ClaimedItem | null {
    const again = this.#again.shift()
    if (again !== undefined) return again
    return this.#fresh.shift() ?? null
  }

  /** Whether {@link refill} should mark the next items. */
  get isLow(): boolean {
    if (this.isMarking || this.#fresh.length + this.#again.length > this.#low) return false
    return this.#due.length > 0 || this.#toSplit.length > 0 || !this.#pendingExhausted || this.#mayStartFresh
  }

  get isMarking(): boolean {
    return this.#isConfirming || this.#marking.fresh.length + this.#marking.again.length > 0
  }

  /** Whether nothing is left to hand out, now or later. */
  get isExhausted(): boolean {
    return this.#backingOff.size === 0 && this.#isAllHandedOut
  }

  /** When the first back-off ends, monotonic milliseconds, if nothing else is left; else null. */
  get idleUntilMs(): number | null {
    if (this.#backingOff.size === 0 || !this.#isAllHandedOut) return null
    let untilMs = Infinity
    for (const { dueMs } of this.#backingOff.values()) untilMs = Math.min(untilMs, dueMs)
    return untilMs
  }

  /** Whether only items in back-off are left. */
  get #isAllHandedOut(): boolean {
    return (
      this.#isEmpty &&
      this.#due.length === 0 &&
      this.#toSplit.length === 0 &&
      this.#pendingExhausted &&
      (this.#freshExhausted || this.#itemsLeft <= 0)
    )
  }

  /** Marks the next items, at least `min`; {@link confirm} hands them out. Needs an open transaction. */
  refill(ratePerSecond: number, min: number): void {
    const block = Math.min(BLOCK_MAX, Math.max(min, Math.ceil((ratePerSecond * BLOCK_MS) / 1000)))
    const wanted = Math.max(1, block - this.#fresh.length - this.#again.length)
    this.#low = Math.min(AHEAD_MAX, Math.floor((ratePerSecond * AHEAD_MS) / 1000))
    for (const { item, attempts } of this.#toSplit.splice(0)) {
      for (const part of this.#claims.split(item)) this.#due.push({ item: part, attempts })
    }
    let marked = 0
    do {
      this.#readPending(wanted)
      marked = this.#markDue(wanted)
    } while (marked === 0 && !this.#pendingExhausted)
    const room = Math.min(wanted - marked, this.#itemsLeft)
    if (room <= 0 || !this.#mayStartFresh) return
    const fresh = this.#claims.readFresh(room)
    this.#claims.raiseWatermark(fresh)
    this.#itemsLeft -= fresh.length
    if (fresh.length === 0) this.#freshExhausted = true
    this.#marking.fresh.push(...fresh)
  }

  /**
   * Makes what {@link refill} marked available once it is safely on disk, even against a power cut. Call it
   * after the commit.
   */
  confirm(): void {
    if (!this.isMarking) return
    this.#isConfirming = true
    this.#confirmed = this.#journal.sync().then(() => {
      this.#handOut()
      this.#options.onConfirmed()
    }, this.#options.onError)
  }

  /** Settles when nothing waits for the disk. */
  get confirmed(): Promise<void> {
    return this.#confirmed
  }

  /** Takes back an item to be resent after a delay. Its result is `pending` in the journal. */
  backOff(item: number, attempts: number, delayMs: number): void {
    const cancel = this.#options.schedule(delayMs, () => {
      this.#backingOff.delete(item)
      this.#due.push({ item, attempts })
      this.#options.onDue()
    })
    this.#backingOff.set(item, { attempts, dueMs: performance.now() + delayMs, cancel })
  }

  /** Takes back an item refused for its size. Its results are `pending` in the journal. */
  split(item: number, attempts: number): void {
    this.#toSplit.push({ item, attempts })
  }

  /** Whether an item is waiting here, and so not in flight. */
  isWaiting(item: number): boolean {
    const queues = [this.#due, this.#again, this.#fresh, this.#marking.fresh, this.#marking.again]
    return this.#backingOff.has(item) || queues.some((queue) => queue.some((other) => other.item === item))
  }

  /** Drops an item that a callback has settled; returns whether it was waiting here. */
  drop(item: number): boolean {
    const isOther = (other: { item: number }) => other.item !== item
    const backingOff = this.#backingOff.get(item)
    backingOff?.cancel()
    const count = () => {
      const marking = this.#marking.fresh.length + this.#marking.again.length
      return this.#due.length + this.#again.length + this.#fresh.length + marking
    }
    const waiting = count()
    this.#due = this.#due.filter(isOther)
    this.#again = this.#again.filter(isOther)
    this.#fresh = this.#fresh.filter(isOther)
    this.#marking.fresh = this.#marking.fresh.filter(isOther)
    this.#marking.again = this.#marking.again.filter(isOther)
    return this.#backingOff.delete(item) || count() < waiting
  }

  /**
   * Takes back the item that {@link next} handed out last, unsent. After that, only {@link release} may
   * follow: the watermark can only be lowered below the last item sent.
   */
  putBack(claimed: ClaimedItem): void {
    if (claimed.isMarked) this.#again.unshift(claimed)
    else this.#fresh.unshift(claimed)
  }

  /** Cancels every back-off; its items are pending in the journal. */
  cancel(): void {
    for (const { cancel } of this.#backingOff.values()) cancel()
    this.#backingOff.clear()
    for (const { item, isCounted } of this.#due) if (isCounted) this.#uncount(item)
    this.#due = []
    this.#toSplit = []
  }

  /** Takes back every unused mark, so that items never sent are pending, not unknown. */
  release(): void {
    this.cancel()
    this.#handOut()
    if (this.#isEmpty) {
      this.#startOver()
      return
    }
    const again = this.#again
    const takeBack = () => {
      this.#claims.lowerWatermark(this.#fresh)
      this.#claims.unmark(again)
    }
    this.#journal.transact('process', takeBack, true)
    this.#itemsLeft += this.#fresh.length
    for (const { item } of again) this.#uncount(item)
    this.#startOver()
  }

  #handOut(): void {
    this.#isConfirming = false
    this.#again.push(...this.#marking.again.splice(0))
    this.#fresh.push(...this.#marking.fresh.splice(0))
  }

  get #isEmpty(): boolean {
    return this.#fresh.length === 0 && this.#again.length === 0 && !this.isMarking
  }

  get #mayStartFresh(): boolean {
    return !this.#freshExhausted && this.#itemsLeft > 0 && this.#backingOff.size < BACKING_OFF_MAX
  }

  /** Marks up to `max` items after back-off; returns how many, without those that a callback settled. */
  #markDue(max: number): number {
    let marked = 0
    let characters = 0
    while (marked < max && characters < BLOCK_MAX_CHARACTERS && this.#due.length > 0) {
      for (const claimed of this.#claims.markAgain(this.#due.splice(0, 1))) {
        this.#marking.again.push(claimed)
        for (const { cells } of claimed.rows) for (const cell of cells) characters += cell.length
        marked += 1
      }
    }
    return this.#due.length > 0 ? max : marked
  }

  /** Reads waiting items from the start of the journal again. */
  #startOver(): void {
    this.#fresh = []
    this.#again = []
    this.#low = 0
    this.#pendingRead = 0
    this.#pendingExhausted = false
    this.#freshExhausted = false
  }

  #readPending(limit: number): void {
    if (this.#pendingExhausted || this.#due.length > 0) return
    const found = this.#claims.readPending(this.#pendingRead, limit)
    this.#pendingRead = found.at(-1)?.row ?? this.#pendingRead
    this.#pendingExhausted = found.length < limit
    for (const { item, attempts } of found) {
      // Items in back-off in this session return by themselves.
      if (this.#backingOff.has(item)) continue
      if (this.#itemsLeft === Infinity || this.#counted.has(item)) {
        this.#due.push({ item, attempts })
        continue
      }
      if (this.#itemsLeft <= 0) {
        this.#pendingExhausted = true
        return
      }
      this.#itemsLeft -= 1
      this.#counted.add(item)
      this.#due.push({ item, attempts, isCounted: true })
    }
  }

  #uncount(item: number): void {
    if (this.#counted.delete(item)) this.#itemsLeft += 1
  }
}
