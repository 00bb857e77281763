import { SluiceError } from '../../../../shared/messages/errors.ts'

/** Most rows of a sheet, the header among them. */
export const MAX_SHEET_ROWS = 1_048_576

/** Most columns of a sheet. */
export const MAX_SHEET_COLUMNS = 16_384

/** Longest text of a cell, UTF-16 code units. */
export const MAX_CELL_CHARACTERS = 32_767

/** The error of a report that does not fit into a sheet. */
export function createSheetLimitError(found: string, limit: string): SluiceError {
  return new SluiceError({ id: 'export_over_xlsx_limit', found, limit })
}

/** Name of a column, from 0: A, B, …, Z, AA, … */
export function toColumnLetters(index: number): string {
  let letters = ''
  for (let left = index + 1; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(0x41 + ((left - 1) % 26)) + letters
  }
  return letters
}

// What XML cannot hold, and a text that would be read as the escape of such a character.
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its job
const UNWRITABLE = /[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g
const MARKUP = /[&<>]/g
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A text as it stands in a cell's XML: markup escaped, and as `_x000D_` what XML would change or refuse. */
function toSheetText(text: string): string {
  return text
    .toWellFormed()
    .replace(UNWRITABLE, (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(MARKUP, (one) => ENTITIES[one] ?? one)
}

/** One row of a sheet; every cell is text in the style, empty ones are left out. Throws `BAD_USAGE` for a long one. */
export function toSheetRow(
  number: number,
  cells: readonly string[],
  letters: readonly string[],
  style: number,
): string {
  let xml = `<row r="${number}">`
  for (const [index, cell] of cells.entries()) {
    if (cell === '') continue
    const reference = `${letters[index] ?? toColumnLetters(index)}${number}`
    if (cell.length > MAX_CELL_CHARACTERS) {
      throw createSheetLimitError(
        `cell ${reference} has ${cell.length} characters`,
        `a cell takes at most ${MAX_CELL_CHARACTERS}`,
      )
    }
    xml += `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${toSheetText(cell)}</t></is></c>`
  }
  return `${xml}</row>`
}
