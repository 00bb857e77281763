import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../shared/run/problem.ts'

/** Finds a row that is the header again, as where files were appended to each other; null for any other row. */
export type FindRepeatedHeader = (row: number, cells: readonly string[]) => FoundProblem | null

/**
 * Makes the function that holds rows against a header. White space and byte-order marks around the names do not count:
 * an appended file brings its own mark.
 */
export function createRepeatedHeaderCheck(header: readonly string[]): FindRepeatedHeader {
  const names = header.map((name) => name.trim())
  const [first = ''] = names
  if (names.every((name) => name === '')) return () => null
  return (row, cells) => {
    // Most rows differ in the first cell, which is looked at before anything is trimmed.
    if (cells[0]?.includes(first) !== true || cells.length < names.length) return null
    if (cells.some((cell, index) => cell.trim() !== (names[index] ?? ''))) return null
    return { row, severity: 'error', code: 'repeated_header', found: toFound(cells.join(' | ')) }
  }
}
