import { AFFIRMATIVES, isInShare, isMissing, NEGATIVES, type Share, toNumber } from './label-values.ts'
import { toComparableValue } from './labels.ts'

/** A column for one rule: rows with a yes in it should trigger the rule. */
export interface RuleColumn {
  column: string
  rule: string
  /** Numbers that meet it count as yes; null if cells say yes or no. */
  share: Share | null
}

/** Most rule columns that can hold labels. */
export const RULE_COLUMNS_MAX = 500

/**
 * The label that a row's columns make up, as a list of rules for {@link parseList}; '' if they say nothing.
 * Columns whose cell is neither yes nor no are `unread`: such a row has no label.
 */
export function readRuleColumns(
  columns: readonly RuleColumn[],
  cells: readonly string[],
): { text: string; unread: { column: string; value: string }[] } {
  const rules: string[] = []
  const unread: { column: string; value: string }[] = []
  let isLabelled = false
  for (const [index, { column, rule, share }] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (cell.trim() === '') continue
    const says = isMissing(cell) ? null : readCell(cell, share)
    if (says === null) unread.push({ column, value: cell })
    else {
      isLabelled = true
      if (says) rules.push(rule)
    }
  }
  return { text: isLabelled && unread.length === 0 ? JSON.stringify(rules) : '', unread }
}

function readCell(cell: string, share: Share | null): boolean | null {
  const number = toNumber(cell)
  if (share !== null) return number === null ? null : isInShare(number, share)
  const value = toComparableValue(cell)
  if (AFFIRMATIVES.has(value)) return true
  return NEGATIVES.has(value) ? false : null
}
