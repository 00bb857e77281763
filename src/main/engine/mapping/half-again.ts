import { createHash } from 'node:crypto'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { isJsonLinesExport } from '../../../shared/run/export-columns.ts'

/** Columns that our exports add to those of the source, without the file, which tells rows apart. */
const ADDED = /^(?:sluice_(?!file$)|sent\.|score\.|rule\.|answer\.)/

/**
 * Finds the second of the two rows that an export of ours has of a split record, each with both the text and
 * the URL. Null if the columns are not those of an export.
 */
export function createHalfCheck(
  columns: readonly string[],
): ((row: number, cells: readonly string[]) => FoundProblem | null) | null {
  const isJson = isJsonLinesExport(columns)
  const at = columns.indexOf(isJson ? 'row' : 'sluice_row')
  if (at === -1) return null
  const isOwn = (name: string) => (isJson ? name === 'file' || name.startsWith('cells') : !ADDED.test(name))
  const own = columns.flatMap((name, index) => (isOwn(name) ? [index] : []))
  const halves = new Map<string, string>()
  return (row, cells) => {
    const [, number, half] = /^(\d+)([ab])$/.exec(cells[at] ?? '') ?? []
    if (number === undefined || half === undefined) return null
    const record = JSON.stringify([number, ...own.map((index) => cells[index] ?? '')])
    const key = createHash('sha256').update(record).digest('base64')
    const first = halves.get(key) ?? half
    halves.set(key, first)
    return first === half ? null : { row, severity: 'error', code: 'half_again' }
  }
}
