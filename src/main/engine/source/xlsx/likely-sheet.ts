import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { countFilled } from './sheet-head.ts'
import type { TextRows } from './sheet-rows.ts'
import type { WorkbookSheet } from './workbook.ts'

/** A sheet with cells, as listed by a workbook. */
type CellSheet = WorkbookSheet & { part: string }

/** What the first rows of a sheet show about it. */
interface SeenSheet {
  name: string
  /** Rows with cells below the header; for a long sheet, those that it claims to have. */
  rows: number
  /** Whether they have several columns, unlike a cover sheet or notes. */
  isTable: boolean
}

/** Most rows of a sheet examined. */
const SEEN_ROWS = 500

/** Most characters of them. */
const SEEN_CHARACTERS = 4 * 1024 * 1024

/** Most sheets examined. */
const SEEN_SHEETS = 50

/**
 * The sheet probably meant by a person who names none: the first visible one with rows, unless it is not a
 * table and a later one with more rows is. Null if no sheet has rows. `looksAtAll` also counts the rows of
 * the others, even hidden ones.
 */
export async function findLikelySheet(
  sheets: readonly WorkbookSheet[],
  source: PlanSource,
  openRows: (part: string) => AsyncIterable<TextRows>,
  looksAtAll: boolean,
): Promise<{ sheet: string | null; rows: ReadonlyMap<string, number> }> {
  const withCells = sheets.filter((sheet): sheet is CellSheet => sheet.part !== null)
  const inSight = withCells.filter(({ isHidden }) => !isHidden)
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
  const hidden = looksAtAll ? withCells.filter(({ isHidden }) => isHidden) : []
  for (const sheet of hidden.slice(0, Math.max(0, SEEN_SHEETS - inSight.length))) {
    rows.set(sheet.name, (await lookAtSheet(sheet, source, openRows)).rows)
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
    // Choosing the sheet reports its problem.
    return { name, rows: 0, isTable: false }
  }
  return toSeen(filledRows)
}
