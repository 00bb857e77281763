import { textWidth } from './text-width.ts'

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
