import type { Correction, Fix } from '../../../shared/plan/fixes.ts'
import type { ProblemCode } from '../../../shared/run/problem.ts'
import { toValueText } from './json-text.ts'

/** A row's cells with the surplus ones joined; the cells themselves if it has none. */
export type JoinCells = (cells: readonly string[]) => readonly string[]

/** The function that a plan's fixes make of joining surplus cells; null where they join none. */
export function createCellJoiner(fixes: readonly Fix[]): JoinCells | null {
  const fix = fixes.find((one) => one.kind === 'join_cells')
  if (fix === undefined) return null
  const { from, with: delimiter } = fix
  return (cells) => {
    // Empty cells behind it only fill the row up.
    if (!cells.slice(from).some((cell) => cell !== '')) return cells
    return [...cells.slice(0, from - 1), cells.slice(from - 1).join(delimiter)]
  }
}

export const JOINED: ProblemCode = 'surplus_cells'

/** Adds the fields that joined cells changed to the corrections of a row, whose fields were `before` that. */
export function addJoined(
  corrections: readonly Correction[],
  before: Readonly<Record<string, unknown>>,
  joined: Readonly<Record<string, unknown>>,
): Correction[] {
  const changed = Object.keys(joined).filter((field) => toText(before[field]) !== toText(joined[field]))
  const added = changed.map((field): Correction => {
    const sent = toText(joined[field])
    const later = corrections.find((one) => one.field === field)
    return { field, own: sent, sent, ...later, before: toText(before[field]) }
  })
  return [...corrections.filter(({ field }) => !changed.includes(field)), ...added]
}

/** The text of a request's value, '' for none. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return toValueText(value)
}
