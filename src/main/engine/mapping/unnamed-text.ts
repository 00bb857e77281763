import { isFolderColumns, isNameless } from '../../../shared/mapping/match-columns.ts'
import type { FoundProblem, SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { isJsonLinesExport } from '../../../shared/run/export-columns.ts'
import { toFound } from '../../../shared/run/problem.ts'
import type { NestedText } from '../source/source-reader.ts'
import { joinCells } from './join-cells.ts'
import { isProse } from './left-out-content.ts'

/** A blank name, and names that Sluice, pandas and spreadsheets give to columns without one. */
const NO_NAME = /^(?:\s*|(?:unnamed: ?|column ?)\d+(?: \(\d+\))?)$/i

/** Letters and pictures make a text. */
const HAS_TEXT = /[\p{L}\p{Extended_Pictographic}]/u
/** Numbers and times that contain letters, such as `1.5e+06` and `2026-01-02T03:04:05Z`. */
const NUMBER = /^[\d\s:.,+-]*\d(?:e[+-]?\d+|t[\d:.,]+(?:z|[+-][\d:]+)?|z)?\s*$/i
const NUMBER_MAX_CHARACTERS = 40

interface NotedRow {
  cells: readonly string[]
  kinds?: string | null
  problems: readonly FoundProblem[]
}

/**
 * Text in unnamed columns that no field takes. A statement about other columns does not cover it. The reader
 * of a CSV file itself reports text beyond all names, row by row. Without a header no column has a name, so
 * only columns with mostly prose are reported.
 */
export class UnnamedText {
  readonly #columns: readonly string[]
  /** The unnamed, unsent columns of the header; columns that only later rows have are unnamed, too. */
  readonly #unnamed: readonly number[]
  readonly #sent: readonly number[]
  readonly #isNamed: boolean
  readonly #isHeadless: boolean
  /** Without a header: unsent columns, with their number of cells and of prose. */
  readonly #prose = new Map<number, { filled: number; rows: number; first: string }>()
  readonly #found = new Map<number, { rows: number; first: string }>()

  /** `sent` are the columns that requests use, by index. */
  constructor({ source }: Plan, columns: readonly string[], sent: readonly number[]) {
    this.#columns = columns
    this.#sent = sent
    this.#isNamed = source.header && !isFolderColumns(columns)
    this.#isHeadless = !source.header && !isFolderColumns(columns)
    this.#unnamed = columns.flatMap((name, index) =>
      NO_NAME.test(name) && !sent.includes(index) ? [index] : [],
    )
  }

  /** Checks one more sent row. */
  note({ cells, kinds, problems }: NotedRow): void {
    if (this.#isHeadless) this.#noteProse(cells)
    if (!this.#isNamed) return
    const width = this.#columns.length
    if (this.#unnamed.length === 0 && cells.length <= width) return
    const left = joinCells(cells, kinds ?? '')
    const told = listTold(problems)
    const noteCell = (index: number) => {
      if (!told.includes(index)) this.#noteCell(left, index)
    }
    for (const index of this.#unnamed) noteCell(index)
    for (let index = width; index < left.length; index += 1) noteCell(index)
  }

  #noteProse(cells: readonly string[]): void {
    for (const [index, cell] of cells.entries()) {
      if (cell === '' || this.#sent.includes(index)) continue
      if (index < this.#columns.length && !isNameless(this.#columns, index)) continue
      const found = this.#prose.get(index) ?? { filled: 0, rows: 0, first: '' }
      if (found.filled === 0) this.#prose.set(index, found)
      found.filled += 1
      if (!isProse(cell) || this.#sent.some((other) => cells[other] === cell)) continue
      if (found.rows === 0) found.first = cell
      found.rows += 1
    }
  }

  #noteCell(cells: readonly string[], index: number): void {
    const cell = cells[index] ?? ''
    if (!HAS_TEXT.test(cell)) return
    if (cell.length <= NUMBER_MAX_CHARACTERS && NUMBER.test(cell)) return
    if (this.#sent.some((other) => cells[other] === cell)) return
    const found = this.#found.get(index)
    if (found === undefined) this.#found.set(index, { rows: 1, first: cell })
    else found.rows += 1
  }

  /**
   * Warnings about lost text, one per column. `headings` are the texts of merged cells above columns,
   * `nested` the texts in objects, in which an export as JSON lines has its cells.
   */
  findWarnings(
    headings: ReadonlyMap<string, string> = new Map(),
    nested: readonly NestedText[] = [],
  ): SourceWarning[] {
    const ofExport = isJsonLinesExport(this.#columns) ? nested : []
    const inCells = ofExport.flatMap(({ name, rows, first }): SourceWarning[] => {
      const isLost =
        name.startsWith('cells.') && NO_NAME.test(name.slice('cells.'.length)) && HAS_TEXT.test(first)
      if (!isLost || this.#columns.includes(name)) return []
      return [
        {
          severity: 'warning',
          code: 'content_not_sent',
          args: { column: name },
          found: toFound(first),
          rows,
        },
      ]
    })
    const prose = [...this.#prose]
      .filter(([, { filled, rows }]) => rows * 2 > filled)
      .map(([index, { rows, first }]): SourceWarning => {
        const args = { column: index + 1 }
        return { severity: 'warning', code: 'unsent_text', args, found: toFound(first), rows }
      })
    const unnamed = [...this.#found].map(([index, { rows, first }]): SourceWarning => {
      const heading = headings.get(this.#columns[index] ?? '')
      const args = { column: String(index + 1), ...(heading !== undefined && { heading }) }
      return { severity: 'warning', code: 'content_not_sent', args, found: toFound(first), rows }
    })
    return [...prose, ...unnamed, ...inCells]
  }
}

/** The cells that the reader has reported. */
function listTold(problems: readonly FoundProblem[]): readonly number[] {
  return problems.flatMap((one) =>
    one.code === 'surplus_cells' && one.args.than === 'names' ? (one.details?.places.slice(1) ?? []) : [],
  )
}
