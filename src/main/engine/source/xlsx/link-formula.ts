import { readColumn } from './cell-ranges.ts'

/** A part of an address built by a formula: a text, or the cell that contains it. */
type LinkPart = string | { row: number; column: number; isRowFixed: boolean; isColumnFixed: boolean }

/** A formula that gives its cell a link: the parts of its address, or null if they cannot be determined. */
export interface LinkFormula {
  parts: readonly LinkPart[] | null
}

/** Longest formula examined; Excel keeps 8,192 characters. */
export const MAX_FORMULA_CHARACTERS = 65_536

/**
 * The link that a formula gives its cell; null if none. The address of `HYPERLINK` can be texts and cells
 * joined by `&`; for any other form the parts are null.
 */
export function parseLinkFormula(formula: string): LinkFormula | null {
  if (!/hyperlink/i.test(formula)) return null
  const bare = formula.replace(/"(?:[^"]|"")*"/g, (text) => `"${' '.repeat(text.length - 2)}"`)
  if (!/hyperlink\s*\(/i.test(bare)) return null
  const call = /^[\s=+]*hyperlink\s*\(/i.exec(bare)
  if (call === null || findClosing(bare, call[0].length) !== bare.trimEnd().length - 1) return { parts: null }
  return { parts: parseParts(formula.slice(call[0].length)) }
}

/** The position of the bracket that closes one before `from`; -1 without one. */
function findClosing(bare: string, from: number): number {
  let depth = 1
  for (let at = from; at < bare.length; at += 1) {
    if (bare[at] === '(') depth += 1
    if (bare[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  return -1
}

const PART = /\s*(?:"((?:[^"]|"")*)"|(\$?)([A-Z]{1,3})(\$?)(\d{1,7})(?![\w.(!]))\s*([&,)])/iy

function parseParts(text: string): LinkPart[] | null {
  const parts: LinkPart[] = []
  const pattern = new RegExp(PART)
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, quoted, columnSign, letters = '', rowSign, row, end] = match
    if (quoted !== undefined) parts.push(quoted.replaceAll('""', '"'))
    else
      parts.push({
        row: Number(row),
        column: readColumn(letters),
        isRowFixed: rowSign === '$',
        isColumnFixed: columnSign === '$',
      })
    if (end !== '&') return parts
  }
  return null
}

/** The same formula moved down and right by this many rows and columns, for cells that share it. */
export function moveLinkFormula({ parts }: LinkFormula, rows: number, columns: number): LinkFormula {
  if (parts === null) return { parts }
  return {
    parts: parts.map((part) =>
      typeof part === 'string'
        ? part
        : {
            ...part,
            row: part.row + (part.isRowFixed ? 0 : rows),
            column: part.column + (part.isColumnFixed ? 0 : columns),
          },
    ),
  }
}

/** The address built by a formula; null if it comes from a cell whose text `readCell` does not know. */
export function toLinkAddress(
  { parts }: LinkFormula,
  readCell: (row: number, column: number) => string | null,
): string | null {
  let address = ''
  for (const part of parts ?? [null]) {
    const text = part === null || typeof part === 'string' ? part : readCell(part.row, part.column)
    if (text === null) return null
    address += text
  }
  return address
}
