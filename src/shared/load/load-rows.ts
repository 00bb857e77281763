import { findColumnOfName } from '../mapping/match-columns.ts'
import type { Load } from './load.ts'
import { listRowTags, type ThresholdTag } from './threshold-tags.ts'
import { readExpression } from './thresholds.ts'

/** Columns of the source that a load test needs in addition to those it sends: for tags and weights. */
export function listLoadColumns({ thresholds, weight }: Load): string[] {
  const tags = listTagsOfRows(thresholds)
  return [...new Set([...tags.map(({ name }) => name), ...(weight === undefined ? [] : [weight])])]
}

function listTagsOfRows(thresholds: Load['thresholds']): ThresholdTag[] {
  return listRowTags(thresholds.map(({ expression }) => readExpression(expression).tags))
}

/**
 * Finds threshold tags on columns whose value none of the sendable rows has. Rows with weight 0 do not count,
 * since measured requests never send them.
 */
export class RowTagWatch {
  readonly #missing: { tag: ThresholdTag; cell: number }[]
  /** Index of the cell with a row's weight; null if rows have no weights. */
  readonly #weightCell: number | null
  #hasRows = false

  constructor({ thresholds, weight }: Load, columns: readonly string[]) {
    this.#weightCell = weight === undefined ? null : findColumnOfName(columns, weight)
    this.#missing = listTagsOfRows(thresholds).map((tag) => ({
      tag,
      cell: findColumnOfName(columns, tag.name),
    }))
  }

  /** Notes a row that can be sent. */
  note(cells: readonly string[]): void {
    if (this.#weightCell !== null && parseWeight(cells[this.#weightCell] ?? '') === 0) return
    this.#hasRows = true
    for (let index = this.#missing.length - 1; index >= 0; index -= 1) {
      const one = this.#missing[index]
      if (one !== undefined && cells[one.cell] === one.tag.value) this.#missing.splice(index, 1)
    }
  }

  /** The first tag that no row has; null if every tag has a row, or there were no rows. */
  get missing(): ThresholdTag | null {
    return this.#hasRows ? (this.#missing[0]?.tag ?? null) : null
  }
}

/** How often a row is sent relative to others: a number of at least 0; null for any other text. */
export function parseWeight(cell: string): number | null {
  const text = cell.trim()
  const weight = /^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(weight) ? weight : null
}
