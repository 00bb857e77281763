import { type Problem, toFound } from '../../../shared/run/problem.ts'

/** `Column 1`, `Column 2`, …: what a column without a name of its own is called. */
function toDefaultName(index: number): string {
  return `Column ${index + 1}`
}

/**
 * Gives every column a name of its own: an empty header becomes `Column 3`, a second `text` becomes `text (2)`, and
 * columns beyond the header are called by their number. Names stay untrimmed.
 */
export function toColumnNames(header: readonly string[], count = header.length): string[] {
  const names: string[] = []
  const written = new Set(header)
  const used = new Set<string>()
  for (let index = 0; index < Math.max(count, header.length); index += 1) {
    const given = header[index] ?? ''
    const isFirst = given !== '' && !used.has(given)
    const name = isFirst
      ? given
      : toFreeName(given === '' ? toDefaultName(index) : given, written, used, given === '')
    used.add(name)
    names.push(name)
  }
  return names
}

/** A name that neither the header nor a column before it has; numbering starts at `(2)`. */
function toFreeName(base: string, written: Set<string>, used: Set<string>, mayBeBare: boolean): string {
  if (mayBeBare && !written.has(base) && !used.has(base)) return base
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`
    if (!written.has(name) && !used.has(name)) return name
  }
}

/** Rows that a header is held against. */
const ROWS = 100

/** Names of columns are shorter than this. */
const LONG_CHARACTERS = 120

const DATA = [
  /^https?:\/\/\S+$/i,
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
]

/**
 * A warning where the line that is taken for the header looks like a row, which would then be lost: one of its cells
 * is an address, a moment or a long text above others of its kind, or a value that the column has again and again.
 * Null where nothing speaks for it.
 */
export function findHeaderDoubt(
  header: readonly string[],
  rows: readonly { cells: readonly string[] }[],
): Problem | null {
  const others = rows
    .slice(0, ROWS)
    .filter(({ cells }) => header.some((name, index) => cells[index] !== name))
  const isDoubtful = header.some((name, index) => {
    if (name === '') return false
    const column = others.map(({ cells }) => cells[index] ?? '').filter((cell) => cell !== '')
    const isAbove = (isKind: (cell: string) => boolean) =>
      isKind(name) && column.length > 0 && column.filter(isKind).length >= 0.8 * column.length
    return (
      column.filter((cell) => cell === name).length >= 2 ||
      name.length > LONG_CHARACTERS ||
      DATA.some((pattern) => isAbove((cell) => pattern.test(cell)))
    )
  })
  if (!isDoubtful) return null
  return {
    row: 1,
    severity: 'warning',
    code: 'header_like_data',
    message: 'the line above must name the columns; it looks like a row itself, which would not be sent',
    found: toFound(header.join(' | ')),
  }
}
