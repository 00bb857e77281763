import type { PlanSource } from './plan.ts'

/** Most names of other sheets that are said. */
const SHOWN_SHEETS = 8

/**
 * Which sheet of a workbook the rows are from, where it has others and the plan names none, with how to name one; null
 * where there was no choice to make.
 */
export function describeSheetChoice(
  { sheets, sheet }: { sheets: readonly string[]; sheet: string },
  source: Pick<PlanSource, 'sheet'>,
): string | null {
  if (source.sheet !== undefined || sheets.length < 2) return null
  const others = sheets.filter((name) => name !== sheet)
  const more = others.length - SHOWN_SHEETS
  const names = others.slice(0, SHOWN_SHEETS).map((name) => `"${name}"`)
  return `The rows are those of the sheet "${sheet}"; the workbook also has ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}: --sheet NAME reads another.`
}
