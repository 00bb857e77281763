import type { PlanWarning } from '../messages/problem-messages.ts'
import type { Mapping } from '../plan/plan.ts'
import { ID_TEXT_FIELDS } from './id-text.ts'
import { toColumnIndex } from './match-columns.ts'

/** A column whose cells look like those of another field. */
export interface DoubtfulColumn {
  field: string
  column: string
  looksLike: 'texts' | 'ids' | 'addresses'
}

const TEXT_FIELDS = ['text_data']

/** Fewest filled cells to judge a column by. */
const FEWEST_CELLS = 5
/** Least share of filled cells that makes a column look like texts, and like ids. */
const TEXTS_FROM = 0.5
const IDS_FROM = 0.9
/** Fewest words and characters of a cell that cannot be an id: names of people have fewer. */
const TEXT_WORDS = 4
const TEXT_CHARACTERS = 20

/** `looksLike` is null if the cells fit the field. */
type JudgedColumn = Omit<DoubtfulColumn, 'looksLike'> & { looksLike: DoubtfulColumn['looksLike'] | null }

/**
 * Columns that were probably swapped: texts in a field for ids; ids, or nothing but addresses, in a field for
 * texts. `rows` are the first rows of the source, as many as were read anyway.
 */
export function findDoubtfulColumns(...judged: Parameters<typeof judgeColumns>): DoubtfulColumn[] {
  return judgeColumns(...judged).filter((one): one is DoubtfulColumn => one.looksLike !== null)
}

/** What the columns look like that fill a field for ids or texts and have enough cells to tell. */
export function judgeColumns(
  mapping: Mapping,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[],
): JudgedColumn[] {
  const judge = (fields: readonly string[], ...looks: DoubtfulColumn['looksLike'][]): JudgedColumn[] =>
    fields.flatMap((field) => {
      const at = toColumnIndex(columns, mapping[field])
      if (at < 0) return []
      const cells = rows.map((row) => (row.cells[at] ?? '').trim()).filter((cell) => cell !== '')
      if (cells.length < FEWEST_CELLS) return []
      const looksLike = looks.find((look) => LOOKS[look](cells)) ?? null
      return [{ field, column: columns[at] || `column ${at + 1}`, looksLike }]
    })
  return [...judge(ID_TEXT_FIELDS, 'texts'), ...judge(TEXT_FIELDS, 'ids', 'addresses')]
}

const LOOKS = {
  texts: areTexts,
  ids: areIds,
  addresses: (cells: readonly string[]) => cells.every((cell) => /^https?:\/\/\S+$/i.test(cell)),
}

export function toSwappedWarning(found: DoubtfulColumn): PlanWarning {
  return { severity: 'warning', code: 'swapped_columns', args: { ...found }, field: found.field }
}

function areTexts(cells: readonly string[]): boolean {
  return cells.filter(isText).length >= cells.length * TEXTS_FROM
}

/** Whether a cell is a text of several words, which an id never is. */
export function isText(cell: string): boolean {
  return cell.length >= TEXT_CHARACTERS && cell.split(/\s+/, TEXT_WORDS).length >= TEXT_WORDS
}

/** Ids differ from row to row, are one word, and have a digit. */
function areIds(cells: readonly string[]): boolean {
  const ids = cells.filter((cell) => /^[\w.:@#-]*\d[\w.:@#-]*$/.test(cell))
  return ids.length >= cells.length * IDS_FROM && new Set(cells).size === cells.length
}
