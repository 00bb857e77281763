import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import type { SourceRow } from '../source-reader.ts'
import type { ReadRow } from './merged-cells.ts'
import { countFilled } from './sheet-head.ts'
import { isWebAddress, type LinkedColumn, LinkSurvey, type RowLinks } from './sheet-links.ts'
import type { TextRow } from './sheet-rows.ts'

/** Rows in which a preview searches for links. */
const PREVIEW_ROWS = 20_000

/** Searches the rows that pass `isRead` for links. Reading the rows reports their problems. */
export async function surveyLinks(
  batches: AsyncIterable<{ rows: readonly ReadRow[] }>,
  isRead: (row: TextRow) => boolean,
  isPreview: boolean,
): Promise<{ linked: LinkedColumn[]; width: number }> {
  const survey = new LinkSurvey()
  let width = 0
  let seen = 0
  try {
    for await (const { rows } of batches) {
      if (isPreview && seen > PREVIEW_ROWS) break
      seen += rows.length
      for (const { row, links } of rows) {
        if (!isRead(row)) continue
        width = Math.max(width, countFilled(row.cells))
        survey.note(row, links)
      }
    }
  } catch {
    // The rows before it keep theirs.
  }
  return { linked: survey.list(), width }
}

/** A column with links, its name, and the name of the column for the links. */
interface NamedLinks extends LinkedColumn {
  name: string
  linkName: string
}

/**
 * Appends the links of some columns to the first `width` cells of a row. For a cell without a link that is
 * itself an address, that address; for one whose link cannot be determined, none, and a warning.
 */
export function appendLinks(
  read: SourceRow,
  links: RowLinks,
  columns: readonly NamedLinks[],
  width: number,
): void {
  const { cells, row } = read
  const texts = columns.map(({ column }) => cells[column] ?? '')
  while (cells.length < width) cells.push('')
  for (const [index, { column, name }] of columns.entries()) {
    const text = texts[index] ?? ''
    const address = links.get(column)
    cells.push(address ?? (address === undefined && isWebAddress(text) ? text : ''))
    if (address !== null) continue
    const args = { column: name }
    read.problems.push({ row, severity: 'warning', code: 'unknown_link', args, found: toFound(text) })
  }
  if (read.kinds !== undefined) read.kinds = read.kinds.padEnd(cells.length, 's')
}

/** Warns of columns with links that fill no field. */
export function toLinkWarnings(columns: readonly NamedLinks[]): SourceWarning[] {
  return columns.map(({ name, linkName, cell, address, rows }) => ({
    severity: 'warning',
    code: 'linked_cells',
    args: { column: name, linkColumn: linkName, cell, address: address === null ? null : toFound(address) },
    rows,
  }))
}
