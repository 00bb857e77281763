import { mayFillSameField, toComparable } from '../../../../shared/mapping/match-columns.ts'
import { formatCounted } from '../../../../shared/messages/figure-text.ts'
import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { findHeaderDoubt } from '../header-doubt.ts'
import { countFilled, readSheetHead, type SheetHead } from './sheet-head.ts'
import type { TextRows } from './sheet-rows.ts'
import type { WorkbookSheet } from './workbook.ts'

/** Most sheets named in a warning. */
const NAMED_MAX = 8

/**
 * Warns of rows in other sheets below the same columns; not if a person named the sheet. Reads the head of
 * each sheet, and to the end those with such rows.
 */
export async function findOtherSheets(
  sheets: readonly WorkbookSheet[],
  { name, head }: { name: string; head: SheetHead },
  source: PlanSource,
  openRows: (part: string) => AsyncIterable<TextRows>,
): Promise<SourceWarning[]> {
  const found: { name: string; rows: number }[] = []
  for (const other of sheets) {
    if (other.part === null || other.name === name) continue
    const rows = await countAlikeRows(other.name, head, source, openRows.bind(null, other.part))
    if (rows > 0) found.push({ name: other.name, rows })
  }
  if (found.length === 0) return []
  const named = found.slice(0, NAMED_MAX).map((one) => `"${one.name}" (${formatCounted(one.rows, 'row')})`)
  const more = found.length - named.length
  const others = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const rows = found.reduce((sum, one) => sum + one.rows, 0)
  return [{ severity: 'warning', code: 'other_sheets', args: { sheet: name, others }, rows }]
}

async function countAlikeRows(
  name: string,
  read: SheetHead,
  source: PlanSource,
  openRows: () => AsyncIterable<TextRows>,
): Promise<number> {
  let count = 0
  try {
    const readHead = (from: PlanSource) => readSheetHead(from, name, openRows(), true)
    // The row that a person named has the header of the sheet that is read; here it may be another.
    const { headerRow: named, ...unnamed } = source
    const first = await readHead(unnamed)
    let head: SheetHead | null = null
    for (const headerRow of new Set([first.likelyHeaderRow ?? undefined, named])) {
      const found =
        headerRow === undefined ? first : await readHead({ ...source, headerRow }).catch(() => null)
      if (found === null || !hasSameColumns(found, read)) continue
      head = found
      break
    }
    if (head === null && first.width === read.width && (await hasBareRows(first, openRows())))
      head = await readHead({ ...unnamed, header: false })
    if (head === null) return 0
    for await (const { rows } of openRows()) {
      for (const { number, cells, isHidden } of rows) {
        const isRead = number >= head.firstRow && !(isHidden && source.rows === 'visible')
        if (isRead && countFilled(cells) > 0) count += 1
      }
    }
  } catch {
    // An unreadable sheet is an error only if a person chooses it.
  }
  return count
}

/** Whether the supposed header of a sheet is one of its rows, as in a table continued from another sheet. */
async function hasBareRows(
  { header, firstRow }: SheetHead,
  batches: AsyncIterable<TextRows>,
): Promise<boolean> {
  for await (const { rows } of batches)
    return (
      header.length > 1 &&
      findHeaderDoubt(
        header,
        rows.flatMap(({ number, cells }) => (number >= firstRow ? [cells] : [])),
      ) !== null
    )
  return false
}

/**
 * Whether one sheet has all names of the other, or most of several, even as other words for the same fields;
 * without names, as many columns.
 */
function hasSameColumns(one: SheetHead, other: SheetHead): boolean {
  const [names, others] = [toNames(one), toNames(other)]
  if (names.size === 0 || others.size === 0) {
    return names.size === others.size && one.width > 0 && one.width === other.width
  }
  if (Math.min(names.size, others.size) < 2 && names.size !== others.size) return false
  const isShared = (name: string) =>
    others.has(name) || [...others].some((other) => mayFillSameField(name, other))
  const shared = [...names].filter(isShared).length
  const fewest = Math.min(names.size, others.size)
  return shared >= fewest || (shared > 1 && shared * 2 > fewest)
}

function toNames({ header }: SheetHead): Set<string> {
  return new Set(header.map(toComparable).filter((name) => name !== ''))
}
