import type { SheetChoice } from '../messages/mapping-messages.ts'
import type { PlanSource } from './plan.ts'

/**
 * Which sheet of a workbook the rows are from, where it has others and the plan names none; null where there was no
 * choice to make.
 */
export function findSheetChoice(
  { sheets, sheet }: { sheets: readonly string[]; sheet: string },
  source: Pick<PlanSource, 'sheet'>,
): SheetChoice | null {
  if (source.sheet !== undefined || sheets.length < 2) return null
  return { sheet, others: sheets.filter((name) => name !== sheet) }
}
