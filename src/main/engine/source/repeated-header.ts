import { toComparable } from '../../../shared/mapping/match-columns.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { isLetterOrDigit } from './first-character.ts'

/** Finds a row that repeats the header, as when files were appended; null for any other row. */
export type FindRepeatedHeader = (row: number, cells: readonly string[]) => FoundProblem | null

/**
 * Creates the function that compares rows with a header. White space and byte-order marks around names do not
 * count: an appended file brings its own mark. Case, separators and order do not count either if the row has
 * most of several names and nothing else; a single word may be a text.
 */
export function createRepeatedHeaderCheck(header: readonly string[]): FindRepeatedHeader {
  const names = header.map((name) => name.trim())
  const isExact = (cells: readonly string[]) =>
    cells.length >= names.length && cells.every((cell, index) => cell.trim() === (names[index] ?? ''))
  const isAlike = createAlikeCheck(names)
  const [first = ''] = names
  if (names.every((name) => name === '')) return () => null
  /** The last repeated header with names in other columns; rows after it do not match the first columns. */
  let moved: number | null = null
  return (row, cells) => {
    // Sources are read several times.
    if (moved !== null && row <= moved) moved = null
    // Most rows differ in the first cell, which is checked before trimming.
    const isAgain = (cells[0]?.includes(first) === true && isExact(cells)) || isAlike(cells)
    if (isAgain) {
      moved = isMoved(cells, names) ? row : null
      return { row, severity: 'error', code: 'repeated_header', found: toFound(cells.join(' | ')) }
    }
    return moved === null ? null : { row, severity: 'error', code: 'below_other_header' }
  }
}

function isMoved(cells: readonly string[], names: readonly string[]): boolean {
  return cells.some(
    (cell, index) => cell.trim() !== '' && toComparable(cell) !== toComparable(names[index] ?? ''),
  )
}

function createAlikeCheck(names: readonly string[]): (cells: readonly string[]) => boolean {
  const known = new Set(names.map(toComparable))
  known.delete('')
  if (known.size < 2) return () => false
  const longest = 2 * Math.max(...names.map((name) => name.length))
  const begins = new Set([...known].flatMap((name) => [name.charAt(0), name.charAt(0).toUpperCase()]))
  // For each ASCII character, whether a name may begin with it.
  const mayBegin = Array.from({ length: 0x80 }, (_, code) => begins.has(String.fromCharCode(code)))
  // Names may begin with a space, a mark or a separator, which are not compared.
  const mayBeName = (cell: string) => {
    if (cell.length > longest) return false
    const code = cell.charCodeAt(0)
    return !isLetterOrDigit(code) || mayBegin[code] === true
  }
  return (cells) => {
    if (!mayBeName(cells[0] ?? '') || !cells.every(mayBeName)) return false
    const filled = cells.filter((cell) => cell.trim() !== '').map(toComparable)
    const found = new Set(filled)
    return (
      found.size > 1 && found.size === filled.length && found.size * 2 > known.size && found.isSubsetOf(known)
    )
  }
}
