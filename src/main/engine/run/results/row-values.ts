import { type ScoreBand, toScoreBands } from '../../../../shared/run/score-bands.ts'

/** Most sets of values of one kind that are kept apart; the rows of all others count as one. */
const SETS_MAX = 20_000
const FURTHER_VALUES = '(further values)'

/** Stands in {@link RowScores.toBands} for a row without a score. */
export const NO_BAND = 0xff

/** The values that each row has of a kind: 2 bytes a row, since few sets of values occur. */
export class RowValues {
  /** Each set that occurs, behind the empty one and that of all further ones. */
  readonly sets: string[][]
  readonly #numberOf: Map<string, number>
  /** The number of each row's set. */
  of = new Uint16Array(0)

  constructor(before?: RowValues) {
    this.sets = before?.sets ?? [[], [FURTHER_VALUES]]
    this.#numberOf = before === undefined ? new Map([['[]', 0]]) : before.#numberOf
  }

  begin(length: number): void {
    this.of = new Uint16Array(length)
  }

  copy(row: number, before: RowValues): void {
    this.of[row] = before.of[row] ?? 0
  }

  set(row: number, values: readonly string[]): void {
    this.of[row] = this.#toNumber([...values].sort())
  }

  #toNumber(values: string[]): number {
    const key = JSON.stringify(values)
    const known = this.#numberOf.get(key)
    if (known !== undefined) return known
    if (this.sets.length >= SETS_MAX) return 1
    const number = this.sets.push(values) - 1
    this.#numberOf.set(key, number)
    return number
  }
}

/** The score of each row in one class. */
export class RowScores {
  readonly of: Float32Array
  #highest = 0
  #isWhole = true
  #banded: { bands: ScoreBand[]; of: Uint8Array } | null = null

  constructor(length: number) {
    this.of = new Float32Array(length).fill(Number.NaN)
  }

  set(row: number, score: number): void {
    this.of[row] = score
    this.#highest = Math.max(this.#highest, score)
    this.#isWhole &&= Number.isInteger(score)
  }

  toBands(): { bands: ScoreBand[]; of: Uint8Array } {
    this.#banded ??= this.#band()
    return this.#banded
  }

  #band(): { bands: ScoreBand[]; of: Uint8Array } {
    const bands = toScoreBands({ highest: this.#highest, isWhole: this.#isWhole })
    const bounds = bands.map(({ from }) => Math.fround(from))
    const perBand = (bands.length - 1) / (bounds.at(-1) || 1)
    const of = new Uint8Array(this.of.length).fill(NO_BAND)
    for (const [row, score] of this.of.entries()) {
      if (Number.isNaN(score)) continue
      let band = Math.max(0, Math.min(bands.length - 1, Math.floor(score * perBand)))
      // The bounds decide, as they do where rows are narrowed; the product is only near.
      while (band > 0 && score < (bounds[band] ?? 0)) band -= 1
      while (band < bands.length - 1 && score >= (bounds[band + 1] ?? 0)) band += 1
      of[row] = band
    }
    return { bands, of }
  }
}
