import type { TaskFindings } from './answer-findings.ts'
import { isJsonObject } from './json-object.ts'

/** A part of a text that an answer refers to: UTF-16 code units, the end exclusive. */
export interface TextMark {
  start: number
  end: number
  kind: 'personal data' | 'matched term' | 'address'
  /** Its type in the answer, such as EMAIL_ADDRESS or a term's watchlist; null if the answer does not say. */
  type: string | null
}

const PLACES_MAX = 100

const MARKS_MAX = 1_000

/**
 * The parts of a text that an answer refers to (docs/interface.md §2.3): at the answer's offsets if the text
 * has the value there, else wherever the text has it. In the order of the text, without overlaps.
 */
export function findTextMarks(
  text: string,
  found: Pick<TaskFindings, 'pii' | 'textFilters' | 'urls'>,
): TextMark[] {
  const marks = [
    ...found.pii.flatMap((entry) => findEntry(text, entry, 'personal data')),
    ...found.textFilters.flatMap((entry) => findEntry(text, entry, 'matched term')),
    ...found.urls.flatMap((entry) => findEntry(text, entry, 'address')),
  ]
  const apart: TextMark[] = []
  for (const mark of marks.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (mark.start >= (apart.at(-1)?.end ?? 0)) apart.push(mark)
  }
  return apart.slice(0, MARKS_MAX)
}

function findEntry(text: string, entry: unknown, kind: TextMark['kind']): TextMark[] {
  const { value, type, start, end } = readEntry(entry)
  if (value === '') return []
  const toMark = (from: number, length: number): TextMark => ({ start: from, end: from + length, kind, type })
  if (start !== null && end !== null) {
    if (isSame(text.slice(start, end), value)) return [toMark(start, end - start)]
    // A service may count characters instead of code units.
    const characters = Array.from(text)
    const before = characters.slice(0, start).join('').length
    const meant = characters.slice(start, end).join('')
    if (isSame(meant, value)) return [toMark(before, meant.length)]
  }
  return findPlaces(text, value).map((place) => toMark(place, value.length))
}

/** Entries are texts or objects; the interface only shows the list of personal data. */
function readEntry(entry: unknown) {
  if (typeof entry === 'string') return { value: entry, type: null, start: null, end: null }
  const object = isJsonObject(entry) ? entry : {}
  const { value, term, url, type, start_index: start, end_index: end } = object
  const named = [value, term, url].find((one) => typeof one === 'string')
  return {
    value: typeof named === 'string' ? named : '',
    type: typeof type === 'string' && type !== '' ? type : null,
    start: typeof start === 'number' ? start : null,
    end: typeof end === 'number' ? end : null,
  }
}

/** Terms are lower-cased before they are matched (docs/interface.md §4.5). */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function findPlaces(text: string, value: string): number[] {
  const [inText, wanted] = [text.toLowerCase(), value.toLowerCase()]
  // A few characters change their length with their case, which would shift offsets.
  if (inText.length !== text.length) return []
  const places: number[] = []
  for (let at = inText.indexOf(wanted); at !== -1 && places.length < PLACES_MAX; ) {
    places.push(at)
    at = inText.indexOf(wanted, at + wanted.length)
  }
  return places
}
