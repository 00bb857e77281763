import { createHash } from 'node:crypto'

const SLOTS_FIRST = 1 << 10
/** Largest share of slots in use. */
const FULL = 0.6

/** Texts seen before, as 64 bits each: with 10 million, one file in 300,000 has two texts taken for one. */
export class SeenTexts {
  #slots = new BigUint64Array(SLOTS_FIRST)
  #size = 0

  /** Remembers a text; false if it was seen before. */
  add(text: string): boolean {
    // 0 is an empty slot.
    const hash = createHash('sha256').update(text).digest().readBigUInt64LE() || 1n
    if (!this.#place(hash)) return false
    this.#size += 1
    if (this.#size > this.#slots.length * FULL) this.#grow()
    return true
  }

  #place(hash: bigint): boolean {
    const mask = this.#slots.length - 1
    let at = Number(hash & BigInt(mask))
    for (let found = this.#slots[at]; found !== 0n; found = this.#slots[at]) {
      if (found === hash) return false
      at = (at + 1) & mask
    }
    this.#slots[at] = hash
    return true
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new BigUint64Array(before.length * 2)
    for (const hash of before) if (hash !== 0n) this.#place(hash)
  }
}
