import { addFormulaGuard } from '../run/formula-guard.ts'

/** The text of an answer to a statement, a piece for the names of its columns and one for each row. */
export interface AnswerText {
  names: (names: readonly string[]) => string
  row: (values: readonly unknown[]) => string
  /** Cells so far that were escaped, since a spreadsheet would run them as formulas. */
  guardedCells: () => number
}

/** Lines of RFC 4180. Texts that a spreadsheet would run as formulas are escaped, as in exports. */
export function createCsvText(): AnswerText {
  let guarded = 0
  const toLine = (values: readonly unknown[]) => {
    const cells = values.map((value) => {
      const cell = typeof value === 'string' ? addFormulaGuard(value) : toValueText(value)
      if (typeof value === 'string' && cell !== value) guarded += 1
      return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
    })
    return `${cells.join(',')}\r\n`
  }
  return { names: toLine, row: toLine, guardedCells: () => guarded }
}

/** An object of JSON a line, with every digit of an integer. */
export function createJsonlText(): AnswerText {
  let keys: string[] = []
  return {
    guardedCells: () => 0,
    names(names) {
      keys = names.map((name) => JSON.stringify(name))
      return ''
    },
    // Written by hand: an object would lose columns of one name, and put those that are numbers first.
    row: (values) => `{${values.map((value, index) => `${keys[index]}:${toJson(value)}`).join(',')}}\n`,
  }
}

/** A value as a table shows it; '' for NULL. */
export function toValueText(value: unknown): string {
  return value === null ? '' : String(value)
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}
