import { listColumnsOf } from '../../../shared/mapping/templates.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Correction, Fix } from '../../../shared/plan/fixes.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { toValueText } from './json-text.ts'
import { listMarks, setMark } from './row-marks.ts'

/** Which cells of a row are part of another, by index: a text that the delimiter split. */
interface Joined {
  into: number
  surplus: readonly number[]
  delimiter: string
}

/** A row mark (`row-marks.ts`): `join2:3,4:%3B` makes cells 3 and 4 part of cell 2, with `;` between them. */
const JOIN_MARK = 'join'

const isJoinMark = (mark: string) => mark.startsWith(JOIN_MARK)

function markJoined(kinds: string | null, { into, surplus, delimiter }: Joined): string {
  const parts = [JOIN_MARK + into, surplus.join(','), encodeURIComponent(delimiter)]
  return setMark(kinds, isJoinMark, parts.join(':'))
}

/** A row's cells with the surplus ones joined; the same array if there are none. */
export function joinCells(cells: readonly string[], kinds: string): readonly string[] {
  const mark = listMarks(kinds).find(isJoinMark)
  if (mark === undefined) return cells
  const [into = '', surplus = '', delimiter = ''] = mark.slice(JOIN_MARK.length).split(':')
  const places = [Number(into), ...surplus.split(',').map(Number)]
  const joined = [...cells]
  joined[Number(into)] = places.map((place) => cells[place] ?? '').join(decodeURIComponent(delimiter))
  for (const place of places.slice(1)) joined[place] = ''
  return joined
}

/** Fields whose texts may contain the delimiter; an id that does is something else. */
const TEXT_FIELDS = ['text_data', 'url', 'term', 'notes']

type Surplus = Extract<FoundProblem, { code: 'surplus_cells' }>

/**
 * Creates the function that decides whether a row's surplus cells can be part of its last column, and joins
 * them if the plan says so. They can if that column fills a text that is sent: the surplus of another text
 * would go into the wrong column. It returns the kinds of the row, with a mark for what is joined, and the
 * remaining problems.
 */
export function createCellJoiner(
  { fixes = [], mapping }: { fixes?: Plan['fixes']; mapping: Mapping },
  columns: readonly string[],
): (kinds: string | null, problems: FoundProblem[]) => { kinds: string | null; problems: FoundProblem[] } {
  const texts = new Set(TEXT_FIELDS.flatMap((field) => listColumnsOf(mapping[field], columns)))
  return (kinds, problems) => {
    const found = problems.find((problem): problem is Surplus => problem.code === 'surplus_cells')
    const [into, ...surplus] = found?.details?.places ?? []
    if (found === undefined || into === undefined || !texts.has(into)) return { kinds, problems }
    const joinable: Surplus = { ...found, args: { ...found.args, into: columns[into] ?? String(into + 1) } }
    const others = problems.filter((problem) => problem !== found)
    const { delimiter } = found.args
    if (!fixes.some((fix) => isOf(fix, found))) return { kinds, problems: [...others, joinable] }
    return { kinds: markJoined(kinds, { into, surplus, delimiter }), problems: others }
  }
}

function isOf(fix: Fix, { args }: Surplus): boolean {
  return fix.kind === 'join_cells' && fix.from === args.cells && fix.with === args.delimiter
}

/** Adds the fields changed by joining cells to a row's corrections; `before` are its fields before that. */
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
