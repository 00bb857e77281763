import { type ScoreBand, toScoreBands } from '../../../../shared/run/score-bands.ts'
import { FURTHER_VALUES } from '../../journal/found-writer.ts'
import { ScoreNumbers } from './score-numbers.ts'

/** Most sets of values of one kind kept apart; rows with other sets count as one. */
const SETS_MAX = 60_000
const FURTHER = 1

/** Marks a row without a score in {@link ScoreBands}. */
export const NO_BAND = 0xff

/** The values of a kind for each row: 2 bytes a row, since there are few distinct sets. */
export class RowValues {
  /** Each distinct set, after the empty one and the one for all further sets. */
  readonly sets: string[][]
  readonly #numberOf: Map<string, number>
  /** The number of each row's set. */
  readonly of: Uint16Array

  /** Takes a number of rows, or the number of each row's set. Sets numbered before keep their numbers. */
  constructor(rows: number | Uint16Array, sets: string[][] = [[], [FURTHER_VALUES]]) {
    this.sets = sets
    this.of = typeof rows === 'number' ? new Uint16Array(rows) : rows
    this.#numberOf = new Map(sets.map((set, number) => [JSON.stringify(set), number]))
  }

  /** Whether all sets are kept apart. */
  get isWhole(): boolean {
    return this.sets.length < SETS_MAX
  }

  /** The values of a row, as they were set. */
  at(row: number): readonly string[] {
    return this.sets[this.of[row] ?? 0] ?? NO_VALUES
  }

  set(row: number, values: readonly string[]): void {
    this.of[row] = values.length === 0 ? 0 : this.#toNumber(values)
  }

  #toNumber(values: readonly string[]): number {
    const key = JSON.stringify(values)
    const known = this.#numberOf.get(key)
    if (known !== undefined) return known
    if (!this.isWhole) return FURTHER
    const number = this.sets.push([...values]) - 1
    this.#numberOf.set(key, number)
    return number
  }
}

const NO_VALUES: readonly string[] = []

/** Most scores of a class that are numbered; with more, each row keeps its own. */
const NUMBERED_MAX = 0xffff

/** The bands of a class, and the band of each score: by the score's number, or by row if scores have none. */
export interface ScoreBands {
  bands: ScoreBand[]
  bandOf: Uint8Array
  /** The number of each row's score; null if each row has its own. */
  numbers: Uint16Array | null
}

/** The kept scores of a class; `numbers` is null if each row keeps its own. */
interface StoredScores {
  numbers: Uint16Array | null
  scores: Float64Array
}

/**
 * The score of each row in one class, exactly as answered: 2 bytes a row if there are few distinct ones, as
 * with whole numbers or few decimals, else 8.
 */
export class RowScores {
  readonly #length: number
  /** The number of each row's score, 0 for none. */
  #numbers: Uint16Array | null
  /** The scores by number, or by row if they are not numbered; NaN for none. */
  #scores: Float64Array
  #numbered: number
  readonly #numberOf = new ScoreNumbers()
  #banded: ScoreBands | null = null

  /** Takes a number of rows, without scores or with stored ones. */
  constructor(length: number, stored: StoredScores | null = null) {
    this.#length = length
    this.#numbers = stored === null ? new Uint16Array(length) : stored.numbers
    this.#scores = stored === null ? new Float64Array([Number.NaN]) : stored.scores
    this.#numbered = this.#scores.length
  }

  /** The data from which {@link RowScores} can be restored; read it once all are set. */
  get stored(): StoredScores {
    const [numbers, scores] = [this.#numbers, this.#scores]
    return { numbers, scores: numbers === null ? scores : scores.subarray(0, this.#numbered) }
  }

  /** The score of a row, NaN if it has none. */
  at(row: number): number {
    return this.#scores[this.#numbers === null ? row : (this.#numbers[row] ?? 0)] ?? Number.NaN
  }

  /** Sets the score of a row; NaN for none. */
  set(row: number, score: number): void {
    if (this.#numbers === null) {
      this.#scores[row] = score
      return
    }
    const number = Number.isNaN(score) ? 0 : this.#numberOf.find(score, this.#scores) || this.#number(score)
    if (number === null) {
      this.#keepApart()
      this.#scores[row] = score
    } else this.#numbers[row] = number
  }

  /** A new number for a score; null if there is none left. */
  #number(score: number): number | null {
    if (this.#numbered > NUMBERED_MAX) return null
    if (this.#numbered === this.#scores.length) {
      const longer = new Float64Array(this.#scores.length * 2)
      longer.set(this.#scores)
      this.#scores = longer
    }
    this.#scores[this.#numbered] = score
    this.#numberOf.add(score, this.#numbered, this.#scores)
    this.#numbered += 1
    return this.#numbered - 1
  }

  #keepApart(): void {
    this.#scores = Float64Array.from({ length: this.#length }, (_, row) => this.at(row))
    this.#numbers = null
    this.#numberOf.clear()
  }

  /** The score of each row with 24 bits, NaN without one, in new memory. Only once all are set. */
  toFloats(): Float32Array<ArrayBuffer> {
    const { numbers, scores } = this.stored
    const floats = new Float32Array(scores)
    return numbers === null
      ? floats
      : new Float32Array(this.#length).map((_, row) => floats[numbers[row] ?? 0] ?? Number.NaN)
  }

  /** The bands of all scores, and the band of each score. Only once all are set. */
  toBands(): ScoreBands {
    this.#banded ??= this.#band()
    return this.#banded
  }

  #band(): ScoreBands {
    const { numbers, scores } = this.stored
    let highest = 0
    let isWhole = true
    for (const score of scores) {
      if (Number.isNaN(score)) continue
      highest = Math.max(highest, score)
      isWhole &&= Number.isInteger(score)
    }
    const bands = toScoreBands({ highest, isWhole })
    const bounds = bands.map(({ from }) => Math.fround(from))
    const perBand = (bands.length - 1) / (bounds.at(-1) || 1)
    const bandOf = new Uint8Array(scores.length).fill(NO_BAND)
    for (let number = 0; number < scores.length; number += 1) {
      const score = Math.fround(scores[number] ?? Number.NaN)
      if (Number.isNaN(score)) continue
      let band = Math.max(0, Math.min(bands.length - 1, Math.floor(score * perBand)))
      // Bounds decide here as they do in filters; the product is only approximate.
      while (band > 0 && score < (bounds[band] ?? 0)) band -= 1
      while (band < bands.length - 1 && score >= (bounds[band + 1] ?? 0)) band += 1
      bandOf[number] = band
    }
    return { bands, bandOf, numbers }
  }
}
