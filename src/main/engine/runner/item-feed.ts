import type { ClaimedItem, ItemClaims } from '../journal/item-claims.ts'
import type { Journal } from '../journal/journal.ts'

/** Items that one watermark may cover at most; everything in the block becomes unknown in a crash. */
const BLOCK_MAX = 500
/** A block is about this much of the current rate, milliseconds. */
const BLOCK_MS = 50
/** Cells of the items that are marked again at once, UTF-16 code units: a few huge rows must not fill the memory. */
const BLOCK_MAX_CHARACTERS = 4 * 1024 * 1024
/** Items that may wait for their back-off before no fresh one is started. */
const BACKING_OFF_MAX = 10_000

/** Calls back after a delay; the returned function calls it off. */
export type Schedule = (delayMs: number, callback: () => void) => () => void

/**
 * The items to send, in the order of the source, those whose back-off is over first. Nothing leaves it that is not
 * marked on disk.
 */
export class ItemFeed {
  readonly #journal: Journal
  readonly #claims: ItemClaims
  readonly #schedule: Schedule
  readonly #onDue: () => void
  /** Marked on disk, not handed out yet. */
  #fresh: ClaimedItem[] = []
  #again: ClaimedItem[] = []
  /** Back-off over, not marked yet. */
  #due: { item: number; attempts: number }[] = []
  /** To be split in two and sent again; refused whole for their size. */
  #toSplit: { item: number; attempts: number }[] = []
  readonly #backingOff = new Map<number, { attempts: number; cancel: () => void }>()
  /** Items that an earlier session left to be sent again are read up to this one. */
  #pendingRead = 0
  #pendingExhausted = false
  #freshExhausted = false
  #freshLeft = Infinity

  constructor(
    journal: Journal,
    claims: ItemClaims,
    options: { schedule: Schedule /** A back-off is over. */; onDue: () => void },
  ) {
    this.#journal = journal
    this.#claims = claims
    this.#schedule = options.schedule
    this.#onDue = options.onDue
  }

  /** Hands out at most this many fresh items from now on. */
  limitFresh(items: number): void {
    this.#freshLeft = items
    this.#freshExhausted = false
  }

  /** The next item that is marked on disk; null where {@link refill} has to mark some first. */
  next(): ClaimedItem | null {
    const again = this.#again.shift()
    if (again !== undefined) return again
    return this.#fresh.shift() ?? null
  }

  /** Whether {@link refill} may find something to mark. */
  get canRefill(): boolean {
    return this.#due.length > 0 || this.#toSplit.length > 0 || !this.#pendingExhausted || this.#mayStartFresh
  }

  /** Whether nothing is marked that was not handed out. */
  get isEmpty(): boolean {
    return this.#fresh.length === 0 && this.#again.length === 0
  }

  /** Whether nothing is left to hand out, now or later. */
  get isExhausted(): boolean {
    return (
      this.isEmpty &&
      this.#backingOff.size === 0 &&
      this.#due.length === 0 &&
      this.#toSplit.length === 0 &&
      this.#pendingExhausted &&
      (this.#freshExhausted || this.#freshLeft <= 0)
    )
  }

  /** Marks the next items, at least `min`. The caller has a transaction of `power` durability open. */
  refill(ratePerSecond: number, min: number): void {
    const block = Math.min(BLOCK_MAX, Math.max(min, Math.ceil((ratePerSecond * BLOCK_MS) / 1000)))
    for (const { item, attempts } of this.#toSplit.splice(0)) {
      for (const part of this.#claims.split(item)) this.#due.push({ item: part, attempts })
    }
    this.#readPending(block)
    const marked = this.#markDue(block)
    const room = Math.min(block - marked, this.#freshLeft)
    if (room <= 0 || !this.#mayStartFresh) return
    const fresh = this.#claims.readFresh(room)
    this.#claims.raiseWatermark(fresh)
    this.#freshLeft -= fresh.length
    if (fresh.length === 0) this.#freshExhausted = true
    this.#fresh.push(...fresh)
  }

  /** Takes an item back that is to be sent again after a delay. Its result is `pending` in the journal. */
  backOff(item: number, attempts: number, delayMs: number): void {
    const cancel = this.#schedule(delayMs, () => {
      this.#backingOff.delete(item)
      this.#due.push({ item, attempts })
      this.#onDue()
    })
    this.#backingOff.set(item, { attempts, cancel })
  }

  /** Takes an item back that was refused whole for its size. Its results are `pending` in the journal. */
  split(item: number, attempts: number): void {
    this.#toSplit.push({ item, attempts })
  }

  /** Forgets an item that a callback has settled; returns whether it was waiting here. */
  drop(item: number): boolean {
    const isOther = (other: { item: number }) => other.item !== item
    const backingOff = this.#backingOff.get(item)
    backingOff?.cancel()
    const waiting = this.#due.length + this.#again.length + this.#fresh.length
    this.#due = this.#due.filter(isOther)
    this.#again = this.#again.filter(isOther)
    this.#fresh = this.#fresh.filter(isOther)
    const left = this.#due.length + this.#again.length + this.#fresh.length
    return this.#backingOff.delete(item) || left < waiting
  }

  /**
   * Takes an item back that {@link next} handed out last and that was not sent. Nothing may be handed out after it but
   * by {@link release}: the watermark can only be lowered below the last that went out.
   */
  putBack(claimed: ClaimedItem): void {
    if (claimed.attempts > 0) this.#again.unshift(claimed)
    else this.#fresh.unshift(claimed)
  }

  /** Calls every back-off off; what waited for it is pending in the journal. */
  cancel(): void {
    for (const { cancel } of this.#backingOff.values()) cancel()
    this.#backingOff.clear()
    this.#due = []
    this.#toSplit = []
  }

  /** Takes every mark back that was not used, so that what never went out is pending and not unknown. */
  release(): void {
    this.cancel()
    if (this.isEmpty) {
      this.#startOver()
      return
    }
    const again = this.#again
    this.#journal.transact('process', () => {
      this.#claims.lowerWatermark(this.#fresh)
      this.#claims.unmark(again)
    })
    this.#startOver()
  }

  get #mayStartFresh(): boolean {
    return !this.#freshExhausted && this.#freshLeft > 0 && this.#backingOff.size < BACKING_OFF_MAX
  }

  /** Marks at most so many items whose back-off is over; returns how many. */
  #markDue(max: number): number {
    let marked = 0
    let characters = 0
    while (marked < max && characters < BLOCK_MAX_CHARACTERS && this.#due.length > 0) {
      for (const claimed of this.#claims.markAgain(this.#due.splice(0, 1))) {
        this.#again.push(claimed)
        for (const { cells } of claimed.rows) for (const cell of cells) characters += cell.length
      }
      marked += 1
    }
    return this.#due.length > 0 ? max : marked
  }

  /** What waits in the journal is read again from its start. */
  #startOver(): void {
    this.#fresh = []
    this.#again = []
    this.#pendingRead = 0
    this.#pendingExhausted = false
    this.#freshExhausted = false
  }

  #readPending(limit: number): void {
    if (this.#pendingExhausted || this.#due.length > 0) return
    const found = this.#claims.readPending(this.#pendingRead, limit)
    this.#pendingRead = found.at(-1)?.item ?? this.#pendingRead
    this.#pendingExhausted = found.length < limit
    // Those whose back-off runs in this session come by themselves.
    this.#due.push(...found.filter(({ item }) => !this.#backingOff.has(item)))
  }
}
