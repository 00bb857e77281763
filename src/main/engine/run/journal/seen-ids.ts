/** The table grows a segment at a time, so that it never needs a second copy of all of itself. */
const SEGMENT_BITS = 6
/** First and largest number of slots in a segment, 8 bytes each, kept at most three quarters full. */
const SLOTS_FIRST = 1 << 10
const SLOTS_MAX = 1 << 16
const FULL = 0.75

interface SeenIdsOptions {
  /** Reads the id of an earlier row again, if two ids may be equal. */
  idOf: (row: number) => string
  /** Remembers ids that the table has no room for; returns the row that had the id before, or null. */
  spill: (id: string, row: number) => number | null
}

/**
 * Finds duplicate ids in a source of any length in bounded memory: a hash table of row numbers (32 MB at
 * most, about three million ids), exact because a matching hash is checked against the row itself; further
 * ids go to disk.
 */
export class SeenIds {
  readonly #options: SeenIdsOptions
  readonly #segments: Segment[] = Array.from({ length: 1 << SEGMENT_BITS }, () => createSegment(SLOTS_FIRST))

  constructor(options: SeenIdsOptions) {
    this.#options = options
  }

  /** Adds an id, with its hash if known; returns the row that had it first, or null if it is new. */
  add(id: string, row: number, hash = toHash(id)): number | null {
    const index = hash >>> (32 - SEGMENT_BITS)
    const segment = this.#segments[index] ?? createSegment(SLOTS_FIRST)
    const { pairs, mask } = segment
    let at = (hash & mask) * 2
    for (let found = pairs[at + 1] ?? 0; found !== 0; found = pairs[at + 1] ?? 0) {
      if (pairs[at] === hash && this.#options.idOf(found) === id) return found
      at = (at + 2) & (mask * 2 + 1)
    }
    if (segment.size >= SLOTS_MAX * FULL) return this.#options.spill(id, row)
    pairs[at] = hash
    pairs[at + 1] = row
    segment.size += 1
    if (segment.size >= (mask + 1) * FULL && mask + 1 < SLOTS_MAX) this.#segments[index] = grow(segment)
    return null
  }
}

/** A part of the table, chosen by an id's highest bits. */
interface Segment {
  /** Hash and row of each slot; row 0 marks an empty one. */
  pairs: Uint32Array<ArrayBuffer>
  /** One less than the number of slots, which is a power of two. */
  mask: number
  size: number
}

function createSegment(slots: number): Segment {
  return { pairs: new Uint32Array(slots * 2), mask: slots - 1, size: 0 }
}

function grow({ pairs: old, mask, size }: Segment): Segment {
  const grown = createSegment((mask + 1) * 2)
  const { pairs } = grown
  grown.size = size
  for (let from = 0; from < old.length; from += 2) {
    const row = old[from + 1] ?? 0
    if (row === 0) continue
    const hash = old[from] ?? 0
    let at = (hash & grown.mask) * 2
    while (pairs[at + 1] !== 0) at = (at + 2) & (grown.mask * 2 + 1)
    pairs[at] = hash
    pairs[at + 1] = row
  }
  // Frees the memory at once; the collector sees only a small object and would take its time.
  old.buffer.transfer(0)
  return grown
}

/**
 * FNV-1a over UTF-16 code units (Fowler, Noll, Vo), with its bits mixed once more for a table of a power of
 * two. The last code unit is only added: ascending ids, which most are, then are neighbours in the table,
 * which the processor has cached.
 */
export function toHash(text: string): number {
  const last = text.length - 1
  let hash = 0x811c9dc5
  for (let i = 0; i < last; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) + text.charCodeAt(last)) >>> 0
}
