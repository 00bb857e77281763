/** Slots of the table at first, and at most; it is kept at most three quarters full. 8 bytes a slot. */
const SLOTS_FIRST = 1 << 16
const SLOTS_MAX = 1 << 22
const FULL = 0.75

/** What {@link SeenIds} needs of the journal. */
export interface SeenIdsOptions {
  /** The id of an earlier row, read again; called where two ids may be equal. */
  idOf: (row: number) => string
  /** Remembers ids beyond what the table holds: returns the row that had the id before, or null. */
  spill: (id: string, row: number) => number | null
}

/**
 * Finds ids that occur twice in a source of any length in bounded memory: a hash table of row numbers (32 MB at most,
 * about three million ids), exact because a matching hash is checked against the row itself; ids beyond it go to disk.
 */
export class SeenIds {
  readonly #options: SeenIdsOptions
  #hashes = new Uint32Array(SLOTS_FIRST)
  /** 0 is an empty slot. */
  #rows = new Uint32Array(SLOTS_FIRST)
  #size = 0

  constructor(options: SeenIdsOptions) {
    this.#options = options
  }

  /** Remembers an id; returns the row that had it first, or null where it is new. */
  add(id: string, row: number): number | null {
    const hash = toHash(id)
    const slot = this.#find(id, hash)
    const found = this.#rows[slot] ?? 0
    if (found !== 0) return found
    if (this.#size >= SLOTS_MAX * FULL) return this.#options.spill(id, row)
    this.#put(slot, hash, row)
    if (this.#size >= this.#rows.length * FULL && this.#rows.length < SLOTS_MAX) this.#grow()
    return null
  }

  /** The slot that holds the id, or the empty one where it belongs. */
  #find(id: string, hash: number): number {
    const mask = this.#rows.length - 1
    let slot = hash & mask
    for (let row = this.#rows[slot] ?? 0; row !== 0; row = this.#rows[slot] ?? 0) {
      if (this.#hashes[slot] === hash && this.#options.idOf(row) === id) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  #put(slot: number, hash: number, row: number): void {
    this.#hashes[slot] = hash
    this.#rows[slot] = row
    this.#size += 1
  }

  #grow(): void {
    const [hashes, rows] = [this.#hashes, this.#rows]
    const mask = rows.length * 2 - 1
    this.#hashes = new Uint32Array(rows.length * 2)
    this.#rows = new Uint32Array(rows.length * 2)
    this.#size = 0
    for (const [index, row] of rows.entries()) {
      if (row === 0) continue
      const hash = hashes[index] ?? 0
      let slot = hash & mask
      while (this.#rows[slot] !== 0) slot = (slot + 1) & mask
      this.#put(slot, hash, row)
    }
  }
}

/** FNV-1a over UTF-16 code units (Fowler, Noll, Vo), its bits mixed once more for a table of a power of two. */
function toHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
