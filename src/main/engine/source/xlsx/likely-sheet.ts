import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { countFilled } from './sheet-head.ts'
import type { TextRows } from './sheet-rows.ts'
import type { WorkbookSheet } from './workbook.ts'

/** A sheet with cells, as a workbook lists it. */
type CellSheet = WorkbookSheet & { part: string }

/** What the first rows of a sheet say about it. */
interface SeenSheet {
  name: string
  /** Rows with cells below the header; those that the sheet says it has, if it is long. */
  rows: number
  /** Whether they have several columns, as a cover sheet or notes have not. */
  isTable: boolean
}

/** Rows of a sheet that are looked at, at most. */
const SEEN_ROWS = 500

/** Characters of them, at most. */
const SEEN_CHARACTERS = 4 * 1024 * 1024

/** Sheets that are looked at, at most. */
const SEEN_SHEETS = 50

/**
 * The sheet that a person probably means who names none: the first in sight with rows, unless that is no table and a
 * later one is, with more rows. Null if no sheet has rows. `looksAtAll` also counts the rows of the others.
 */
export async function findLikelySheet(
  sheets: readonly WorkbookSheet[],
  source: PlanSource,
  openRows: (part: string) => AsyncIterable<TextRows>,
  looksAtAll: boolean,
): Promise<{ sheet: string | null; rows: ReadonlyMap<string, number> }> {
  const inSight = sheets.filter((sheet): sheet is CellSheet => !sheet.isHidden && sheet.part !== null)
  const rows = new Map<string, number>()
  let first: SeenSheet | null = null
  let likely: SeenSheet | null = null
  for (const sheet of inSight.slice(0, SEEN_SHEETS)) {
    const seen = await lookAtSheet(sheet, source, openRows)
    rows.set(seen.name, seen.rows)
    if (seen.rows > 0) first ??= seen
    if (likely === null && seen.isTable && first !== null && (seen === first || seen.rows > first.rows))
      likely = seen
    const isCertain = likely !== null || (first !== null && first.rows > SEEN_ROWS)
    if (isCertain && !looksAtAll) break
  }
  return { sheet: (likely ?? first)?.name ?? null, rows }
}

async function lookAtSheet(
  { name, part }: CellSheet,
  { header }: PlanSource,
  openRows: (part: string) => AsyncIterable<TextRows>,
): Promise<SeenSheet> {
  let filledRows = 0
  let wideRows = 0
  let characters = 0
  let lastRow = 0
  const toSeen = (count: number): SeenSheet => ({
    name,
    rows: Math.max(0, header ? count - 1 : count),
    isTable: wideRows > 1 && wideRows * 2 > filledRows,
  })
  try {
    for await (const { rows, lastRow: said } of openRows(part)) {
      lastRow = said
      for (const { cells } of rows) {
        if (countFilled(cells) === 0) continue
        filledRows += 1
        if (cells.filter((cell) => cell !== '').length > 1) wideRows += 1
        for (const cell of cells) characters += cell.length
        if (filledRows > SEEN_ROWS || characters > SEEN_CHARACTERS)
          return toSeen(Math.max(filledRows, lastRow))
      }
    }
  } catch {
    // Whoever chooses it is told what is wrong with it.
    return { name, rows: 0, isTable: false }
  }
  return toSeen(filledRows)
}
