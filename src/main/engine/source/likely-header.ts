import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'

/** One of the first records of a table, with the number by which `headerRow` names it. */
export interface HeadRecord {
  number: number
  cells: readonly string[]
}

/** Records examined: titles and notes above a table take few. */
export const HEAD_RECORDS = 50

/**
 * Number of the record that looks like the header, if the first one looks like a title above the table: it
 * has at most half as many filled cells as the records below, and a later one reads like names. Null
 * otherwise.
 */
export function findLikelyHeader(records: readonly HeadRecord[]): number | null {
  const filled = records
    .map(({ number, cells }) => ({ number, names: cells.filter((cell) => cell.trim() !== '') }))
    .filter(({ names }) => names.length > 0)
  const [first, ...rest] = filled
  const usual = findMostCommon(rest.map(({ names }) => names.length))
  if (first === undefined || usual < 2 || first.names.length * 2 > usual) return null
  const index = rest.findIndex(({ names }) => names.length >= usual)
  const likely = rest[index]
  if (likely === undefined || index === rest.length - 1 || !areNames(likely.names)) return null
  return likely.number
}

/** The warning about a record that looks like the header but is read as a row. */
export function findTitleWarnings(likely: number | null): SourceWarning[] {
  return likely === null ? [] : [{ severity: 'warning', code: 'title_rows', args: { row: likely } }]
}

const NAME = /^[\p{Letter}_][\p{Letter}\p{Mark}\p{Number} _.:/()#%&-]{0,59}$/u

/** Whether texts read like distinct column names. */
export function areNames(texts: readonly string[]): boolean {
  return texts.every((text) => NAME.test(text)) && new Set(texts).size === texts.length
}

/** The most frequent number; of several, the largest. */
export function findMostCommon(numbers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  return Math.max(0, ...[...counts].flatMap(([number, count]) => (count === most ? [number] : [])))
}
