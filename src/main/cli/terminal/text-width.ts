import { stripVTControlCharacters } from 'node:util'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const PLAIN = /^[\u0020-\u007e]*$/
const INVISIBLE = /^[\p{M}\p{Cf}\p{Cc}]+$/u
const WIDE =
  /^(?:\p{Emoji_Presentation}|.\u{fe0f}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}])/u

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  return WIDE.test(grapheme) ? 2 : 1
}

/** Columns a text takes in a terminal; styling takes none, wide East Asian characters and emoji take two. */
export function textWidth(text: string): number {
  const plain = stripVTControlCharacters(text)
  if (PLAIN.test(plain)) return plain.length
  let width = 0
  for (const { segment } of segmenter.segment(plain)) width += graphemeWidth(segment)
  return width
}

/** Cuts unstyled text to a number of columns, between whole characters, the last column saying it was cut. */
export function cutToWidth(text: string, columns: number, ellipsis: string): string {
  if (textWidth(text) <= columns) return text
  const room = columns - textWidth(ellipsis)
  if (room <= 0) return ellipsis.slice(0, Math.max(0, columns))
  let width = 0
  let kept = ''
  for (const { segment } of segmenter.segment(text)) {
    width += graphemeWidth(segment)
    if (width > room) break
    kept += segment
  }
  return kept + ellipsis
}

/** Fills up with spaces on the right, for text. */
export function padRight(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)))
}

/** Fills up with spaces on the left, for numbers. */
export function padLeft(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - textWidth(text))) + text
}

/** A piece of a line; where the line is too narrow, the pieces of the lowest `keep` go first. */
export interface Segment {
  text: string
  keep: number
}

/** Joins the pieces that fit into a number of columns, in their order. The most important one always stays. */
export function fitSegments(segments: readonly Segment[], columns: number, separator: string): string {
  const kept = segments.filter((segment) => segment.text !== '')
  const width = () =>
    kept.reduce((sum, segment) => sum + textWidth(segment.text), textWidth(separator) * (kept.length - 1))
  while (kept.length > 1 && width() > columns) {
    let least = 0
    for (const [index, segment] of kept.entries()) {
      if (segment.keep <= (kept[least]?.keep ?? 0)) least = index
    }
    kept.splice(least, 1)
  }
  return kept.map((segment) => segment.text).join(separator)
}
