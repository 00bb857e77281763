import { type Fix, getFixedRecord } from '../plan/fixes.ts'
import type { CorrectedCounts } from '../run/run.ts'
import { formatCount, formatCounted } from './figure-text.ts'
import { PROBLEM_MESSAGES } from './problem-messages.ts'

/** A fix in the list of corrections: what it applies to, after the row if it has one, and its effect. */
export function sayFix(fix: Fix): { where: string; what: string; value: string | null } {
  switch (fix.kind) {
    case 'cell':
      return { where: fix.field, ...sayValue(fix.value) }
    case 'value':
      return { where: `${fix.field} of ${sayRows(fix.problem)}`, ...sayValue(fix.value) }
    case 'substitute':
      return sayEvery(
        `${fix.field} with ${fix.escapes === '_;' ? '_ or ;' : '_, ; or ~'}`,
        'is sent with ~5F, ~3B and ~7E in their place',
      )
    case 'trim':
      return sayEvery(fix.field, 'is sent without white space at its ends and without invisible characters')
    case 'drop_fraction':
      return sayEvery(`whole number in ${fix.field}`, 'is sent without .0 at its end')
    case 'split':
      return sayEvery('row with text_data and url', 'is sent as two rows with one group_id')
    case 'join_cells':
      return sayEvery('row with surplus cells', `is read with cells ${fix.from} and later joined`)
    case 'leave_out': {
      const of = fix.field === undefined ? '' : ` in ${fix.field}`
      return { where: `Each of ${sayRows(fix.problem)}${of}`, what: 'is left out', value: null }
    }
    case 'leave_out_row':
      return { where: '', what: 'is left out', value: null }
  }
}

/** A fix in one line; for a single row, without the text that it sets, which is content. */
export function sayFixInOneLine(fix: Fix): string {
  const { where, what, value } = sayFix(fix)
  const record = getFixedRecord(fix)
  const place = record === null ? '' : `record ${formatCount(record)}${where === '' ? '' : ':'}`
  const text =
    value === null ? '' : record === null ? `“${value}”` : formatCounted([...value].length, 'character')
  return [place, where, what, text].filter(Boolean).join(' ')
}

function sayEvery(thing: string, what: string) {
  return { where: `Every ${thing}`, what, value: null }
}

function sayRows(code: keyof typeof PROBLEM_MESSAGES): string {
  return `the rows with “${PROBLEM_MESSAGES[code].title}”`
}

function sayValue(value: string): { what: string; value: string | null } {
  return value === '' ? { what: 'is left empty', value: null } : { what: 'is set to', value }
}

/** How much of a source fixes changed: "12 cells in 12 rows (user_id 10, post_id 2), 3 rows split in two". */
export function sayCorrected({ rows, cells, fields, split }: CorrectedCounts): string {
  const byField = fields.map(({ field, cells: count }) => `${field} ${formatCount(count)}`).join(', ')
  return [
    ...(cells > 0 ? [`${formatCounted(cells, 'cell')} in ${formatCounted(rows, 'row')} (${byField})`] : []),
    ...(split > 0 ? [`${formatCounted(split, 'row')} split in two`] : []),
  ].join(', ')
}
