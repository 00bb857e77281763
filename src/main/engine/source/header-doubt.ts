import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'

/** Whether a header was guessed: who names its row has seen it, and one below titles is reported as such. */
export function mayDoubtHeader({ header, headerRow }: PlanSource, likelyHeaderRow: number | null): boolean {
  return header && headerRow === undefined && likelyHeaderRow === null
}

/** Rows compared with a header. */
const ROWS = 100

/** Compares the first rows of a source with its header, which is doubted only if `mayDoubt`. */
export class HeaderWatch {
  readonly #header: readonly string[]
  readonly #mayDoubt: boolean
  readonly #rows: string[][] = []

  constructor(header: readonly string[], mayDoubt: boolean) {
    this.#header = header
    this.#mayDoubt = mayDoubt
  }

  /** Adds the cells of the next row. */
  note(cells: string[]): void {
    if (this.#mayDoubt && this.#rows.length < ROWS) this.#rows.push(cells)
  }

  /** Warnings about the header, from the rows so far. */
  findWarnings(): SourceWarning[] {
    const doubt = this.#mayDoubt ? findHeaderDoubt(this.#header, this.#rows) : null
    return doubt === null ? [] : [{ ...doubt, rows: 1 }]
  }
}

/**
 * A warning if the supposed header looks like a row, which would then be lost: one of its cells is an
 * address, a moment, a numbered name or a long text above others of its kind, or a value that the column
 * repeats. Null without such evidence.
 */
export function findHeaderDoubt(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): SourceWarning | null {
  const others = rows.slice(0, ROWS).filter((cells) => header.some((name, index) => cells[index] !== name))
  const isDoubtful = header.some((name, index) => {
    if (name === '') return false
    const column = others.map((cells) => cells[index] ?? '').filter((cell) => cell !== '')
    const isAbove = (isKind: (cell: string) => boolean) =>
      isKind(name) && column.length > 0 && column.filter(isKind).length >= 0.8 * column.length
    const shape = toShape(name)
    return (
      column.filter((cell) => cell === name).length >= 2 ||
      name.length > LONG_CHARACTERS ||
      DATA.some((pattern) => isAbove((cell) => pattern.test(cell))) ||
      (NUMBERED.test(shape) && column.length > 1 && isAbove((cell) => toShape(cell) === shape))
    )
  })
  if (!isDoubtful) return null
  return { severity: 'warning', code: 'header_like_data', args: {}, found: toFound(header.join(' | ')) }
}

/** Names of columns are shorter than this. */
const LONG_CHARACTERS = 120

/** An id such as `p1` or `user-12`, with each of its numbers replaced by 0. */
const NUMBERED = /^(?=.*\p{L})[^\s]*0/u

function toShape(text: string): string {
  return text.length > LONG_CHARACTERS ? '' : text.replaceAll(/\d+/g, '0')
}

const DATA = [
  /^https?:\/\/\S+$/i,
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
]
