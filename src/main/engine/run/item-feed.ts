import type { Journal } from '../journal/journal.ts'
import type { ClaimedItem, ItemClaims } from './journal/item-claims.ts'

/** Items that one watermark may cover at most; everything in the block becomes unknown in a crash. */
const BLOCK_MAX = 500
/** A block is about this much of the current rate, milliseconds. */
const BLOCK_MS = 50
/** Cells of the items that are marked again at once, UTF-16 code units: a few huge rows must not fill the memory. */
const BLOCK_MAX_CHARACTERS = 4 * 1024 * 1024
/** Items are marked ahead where fewer are left than are sent in this time, milliseconds, or than this number. */
const AHEAD_MS = 10
const AHEAD_MAX = 150
/** Items that may wait for their back-off before no fresh one is started. */
const BACKING_OFF_MAX = 10_000

/** Calls back after a delay; the returned function calls it off. */
type Schedule = (delayMs: number, callback: () => void) => () => void

interface ItemFeedOptions {
  schedule: Schedule
  /** A back-off is over. */
  onDue: () => void
  /** What was marked may go out. */
  onConfirmed: () => void
  /** Marks could not be brought to the disk. */
  onError: (error: unknown) => void
}

/**
 * The items to send, in the order of the source, those whose back-off is over first. Nothing leaves it that is not
 * marked on disk.
 */
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
  /** Items left at which the next are marked. */
  #low = 0
  /**
   * Ready to be sent again, since their back-off is over or an earlier session left them, and not marked yet. `isCounted`: the
   * limit has counted the item, which has not gone out since.
   */
  #due: { item: number; attempts: number; isCounted?: boolean }[] = []
  /** To be split in two and sent again; refused whole for their size. */
  #toSplit: { item: number; attempts: number }[] = []
  readonly #backingOff = new Map<number, { attempts: number; dueMs: number; cancel: () => void }>()
  /** Items that an earlier session left to be sent again are read up to this one. */
  #pendingRead = 0
  #pendingExhausted = false
  #freshExhausted = false
  #itemsLeft = Infinity
  /** Items of earlier sessions that the limit has counted: their further tries do not count again. */
  readonly #counted = new Set<number>()

  constructor(journal: Journal, claims: ItemClaims, options: ItemFeedOptions) {
    this.#journal = journal
    this.#claims = claims
    this.#options = options
  }

  /** Hands out at most this many items from now on; those that it hands out again do not count again. */
  limit(items: number): void {
    this.#itemsLeft = items
    this.#freshExhausted = false
  }

  /** How many items the limit still lets out; what was taken back counts again. */
  get itemsLeft(): number {
    return this.#itemsLeft
  }

  /** The next item that is marked on disk; null if there is none at the moment. */
  next(): ClaimedItem | null {
    const again = this.#again.shift()
    if (again !== undefined) return again
    return this.#fresh.shift() ?? null
  }

  /** Whether {@link refill} is to mark the next items. */
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

  /** When the first back-off is over, monotonic milliseconds, if nothing else is left; else null. */
  get idleUntilMs(): number | null {
    if (this.#backingOff.size === 0 || !this.#isAllHandedOut) return null
    let untilMs = Infinity
    for (const { dueMs } of this.#backingOff.values()) untilMs = Math.min(untilMs, dueMs)
    return untilMs
  }

  /** Whether nothing is left but what backs off. */
  get #isAllHandedOut(): boolean {
    return (
      this.#isEmpty &&
      this.#due.length === 0 &&
      this.#toSplit.length === 0 &&
      this.#pendingExhausted &&
      (this.#freshExhausted || this.#itemsLeft <= 0)
    )
  }

  /** Marks the next items, at least `min`; {@link confirm} has them handed out. The caller has a transaction open. */
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

  /** Has what {@link refill} marked handed out once it is on disk, through a power cut too. Call it after the commit. */
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

  /** Takes an item back that is to be sent again after a delay. Its result is `pending` in the journal. */
  backOff(item: number, attempts: number, delayMs: number): void {
    const cancel = this.#options.schedule(delayMs, () => {
      this.#backingOff.delete(item)
      this.#due.push({ item, attempts })
      this.#options.onDue()
    })
    this.#backingOff.set(item, { attempts, dueMs: performance.now() + delayMs, cancel })
  }

  /** Takes an item back that was refused whole for its size. Its results are `pending` in the journal. */
  split(item: number, attempts: number): void {
    this.#toSplit.push({ item, attempts })
  }

  /** Whether an item is here, and so is not in flight. */
  isWaiting(item: number): boolean {
    const queues = [this.#due, this.#again, this.#fresh, this.#marking.fresh, this.#marking.again]
    return this.#backingOff.has(item) || queues.some((queue) => queue.some((other) => other.item === item))
  }

  /** Forgets an item that a callback has settled; returns whether it was waiting here. */
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
   * Takes an item back that {@link next} handed out last and that was not sent. Nothing may be handed out after it but
   * by {@link release}: the watermark can only be lowered below the last that went out.
   */
  putBack(claimed: ClaimedItem): void {
    if (claimed.isMarked) this.#again.unshift(claimed)
    else this.#fresh.unshift(claimed)
  }

  /** Calls every back-off off; what waited for it is pending in the journal. */
  cancel(): void {
    for (const { cancel } of this.#backingOff.values()) cancel()
    this.#backingOff.clear()
    for (const { item, isCounted } of this.#due) if (isCounted) this.#uncount(item)
    this.#due = []
    this.#toSplit = []
  }

  /** Takes every mark back that was not used, so that what never went out is pending and not unknown. */
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

  /** Marks at most so many items whose back-off is over; returns how many. Those that a callback has settled are none. */
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

  /** What waits in the journal is read again from its start. */
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
      // Those whose back-off runs in this session come on their own.
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
