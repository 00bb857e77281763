import type { Plan } from '../../../shared/plan/plan.ts'
import { listMarks, MARK, setMark } from './row-marks.ts'

/**
 * One of the two rows made from a record with text and a url. The text half has the record's own number; the
 * url half comes after all rows of the source, with the same cells.
 */
export interface RowHalf {
  content: 'text_data' | 'url'
  /** Number of the record that both halves come from. */
  of: number
}

/** A mark of a row (`row-marks.ts`): this, or `url` and the number of the record. */
const TEXT_MARK = 'text'
const URL_MARK = 'url'

/** The kinds of a row's cells as journaled, marked as a half. */
export function markHalf(kinds: string | null, { content, of }: RowHalf): string {
  const isOfHalf = (mark: string) => mark === TEXT_MARK || mark.startsWith(URL_MARK)
  return setMark(kinds, isOfHalf, content === 'text_data' ? TEXT_MARK : URL_MARK + of)
}

/** Which half a row is, by its kinds; null for a whole row. */
export function toHalf(row: number, kinds: string | null): RowHalf | null {
  if (kinds === null || !kinds.includes(MARK)) return null
  const marks = listMarks(kinds)
  if (marks.includes(TEXT_MARK)) return { content: 'text_data', of: row }
  const url = marks.find((mark) => mark.startsWith(URL_MARK))
  return url === undefined ? null : { content: 'url', of: Number(url.slice(URL_MARK.length)) }
}

/** Whether a plan splits rows with text and a url; only v1 refuses both (docs/interface.md §2.1). */
export function splitsRows({ fixes = [], operation, load }: Plan): boolean {
  return (
    operation.kind === 'task' &&
    operation.api === 'v1' &&
    load === undefined &&
    fixes.some(({ kind }) => kind === 'split')
  )
}

export function hasBothContents({ text_data: text, url }: Readonly<Record<string, unknown>>): boolean {
  return text !== undefined && url !== undefined
}

/** Reduces a half to its content. Both get a group_id unless they have one; the url half its own post_id. */
export function keepHalf(body: Record<string, unknown>, { content }: RowHalf): void {
  delete body[content === 'url' ? 'text_data' : 'url']
  const { post_id: postId } = body
  if (typeof postId !== 'string' || postId === '') return
  body['group_id'] ??= `${postId}-both`
  if (content === 'url') body['post_id'] = `${postId}-url`
}
