import { addFormulaGuard } from '../run/formula-guard.ts'

/** The text of an answer to a statement: one piece for the column names and one for each row. */
export interface AnswerText {
  names: (names: readonly string[]) => string
  row: (values: readonly unknown[]) => string
  /** Number of cells escaped so far, since a spreadsheet would run them as formulas. */
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

/** A JSON object per line, with every digit of integers. */
export function createJsonlText(): AnswerText {
  let keys: string[] = []
  return {
    guardedCells: () => 0,
    names(names) {
      keys = toKeys(names).map((name) => JSON.stringify(name))
      return ''
    },
    // Written by hand: an object would move numeric names to the front.
    row: (values) => `{${values.map((value, index) => `${keys[index]}:${toJson(value)}`).join(',')}}\n`,
  }
}

/** Names that differ, since readers of JSON keep one of two equal keys: a second `row` becomes `row (2)`. */
function toKeys(names: readonly string[]): string[] {
  const used = new Set<string>()
  return names.map((name) => {
    let key = name
    for (let number = 2; used.has(key) || (key !== name && names.includes(key)); number += 1) {
      key = `${name} (${number})`
    }
    used.add(key)
    return key
  })
}

/** A value as shown in a table; '' for NULL. */
export function toValueText(value: unknown): string {
  return value === null ? '' : String(value)
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}
