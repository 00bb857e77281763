import type { Outcome } from '../../../shared/run/item-state.ts'
import { OUTCOMES } from './load-record.ts'

/** What became of the rows of a load's source: each counts as the last of its requests whose end was told of. */
export class LoadRows {
  /** Rows by outcome. */
  readonly counts: Record<Outcome, number> = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  /** By position among the valid rows: 0 before its first request has ended, else one more than its outcome's index. */
  readonly #last: Uint8Array

  /** `count`: how many rows there may be. */
  constructor(count: number) {
    this.#last = new Uint8Array(count)
  }

  /** Takes in requests that ended. */
  take(endings: readonly RowEnding[]): void {
    for (const ending of endings) {
      const position = Math.floor(ending / OUTCOMES.length)
      const index = ending % OUTCOMES.length
      const before = OUTCOMES[(this.#last[position] ?? 0) - 1]
      if (before !== undefined) this.counts[before] -= 1
      this.counts[OUTCOMES[index] ?? 'unknown'] += 1
      this.#last[position] = index + 1
    }
  }
}

/** A row's position and the index of its outcome, in one number: there are as many as requests. */
export type RowEnding = number

/** Packs them. */
export function toRowEnding(position: number, outcomeIndex: number): RowEnding {
  return position * OUTCOMES.length + outcomeIndex
}
