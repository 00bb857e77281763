import type { Load } from '../../../shared/load/load.ts'
import type { LoadSample } from '../../../shared/load/load-report.ts'
import type { KeptRequest } from './load-messages.ts'

/**
 * Which requests stay kept whole: the `sampleSize` with the smallest draws, which is an even sample of all of them
 * however many threads drew, and the first `errorLimit` that did not succeed. Each has a slot in the journal.
 */
export class SampleSlots {
  readonly #size: number
  readonly #errorLimit: number
  /** Draws by slot; the sample's slots come first. */
  readonly #draws: number[] = []
  #errors = 0
  readonly #changed = new Map<number, LoadSample>()

  constructor({ sampleSize, errorLimit }: Pick<Load, 'sampleSize' | 'errorLimit'>) {
    this.#size = sampleSize
    this.#errorLimit = errorLimit
  }

  /** Takes in requests that may be kept. */
  add(kept: readonly KeptRequest[]): void {
    for (const { draw, sample } of kept) {
      if (draw === null) this.#addError(sample)
      else this.#addSample(draw, sample)
    }
  }

  /** Slots whose request is another one since {@link committed}. */
  get changed(): ReadonlyMap<number, LoadSample> {
    return this.#changed
  }

  /** What has changed was written, and is not to be written again. */
  committed(): void {
    this.#changed.clear()
  }

  #addError(sample: KeptRequest['sample']): void {
    if (this.#errors >= this.#errorLimit) return
    this.#changed.set(this.#size + this.#errors, { ...sample, kept: 'error', callbackLatencyMs: null })
    this.#errors += 1
  }

  #addSample(draw: number, sample: KeptRequest['sample']): void {
    const slot = this.#draws.length < this.#size ? this.#draws.length : this.#findLargest(draw)
    if (slot === -1) return
    this.#draws[slot] = draw
    this.#changed.set(slot, { ...sample, kept: 'sample', callbackLatencyMs: null })
  }

  /** The slot whose draw is the largest and larger than this one; -1 where there is none. */
  #findLargest(draw: number): number {
    let slot = -1
    let largest = draw
    // An iterator would take ten times as long, beside a thread that measures.
    for (let index = 0; index < this.#draws.length; index += 1) {
      const other = this.#draws[index] ?? 0
      if (other <= largest) continue
      largest = other
      slot = index
    }
    return slot
  }
}
