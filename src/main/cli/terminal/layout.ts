import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { isNumeric, type Table, type Tone, toCellText } from '../../../shared/report/report.ts'
import { toPrintable } from './output.ts'
import type { Terminal } from './terminal.ts'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Cuts unstyled text to a number of columns, between whole characters, the last column saying it was cut. */
export function cutToWidth(text: string, columns: number, ellipsis: string): string {
  if (stringWidth(text) <= columns) return text
  const room = columns - stringWidth(ellipsis)
  if (room <= 0) return ellipsis.slice(0, Math.max(0, columns))
  let width = 0
  let kept = ''
  for (const { segment } of segmenter.segment(text)) {
    width += stringWidth(segment)
    if (width > room) break
    kept += segment
  }
  return kept + ellipsis
}

/** Fills up with spaces on the right, for text. */
export function padRight(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

/** Fills up with spaces on the left, for numbers. */
export function padLeft(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - stringWidth(text))) + text
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
    kept.reduce((sum, segment) => sum + stringWidth(segment.text), stringWidth(separator) * (kept.length - 1))
  while (kept.length > 1 && width() > columns) {
    let least = 0
    for (const [index, segment] of kept.entries()) {
      if (segment.keep <= (kept[least]?.keep ?? 0)) least = index
    }
    kept.splice(least, 1)
  }
  return kept.map((segment) => segment.text).join(separator)
}

/** Breaks words into lines of at most `columns`; words longer than a line are left whole. */
export function wrapWords(text: string, columns: number): string[] {
  return wrapAnsi(text, columns).split('\n')
}

/**
 * Lines of a table, header first, columns two spaces apart, everything `indent` spaces to the right. Where the terminal is too narrow, the columns that may be
 * cut give way, the widest first. What a terminal would obey is escaped.
 */
export function formatTable(terminal: Terminal, { columns, rows }: Table, indent = 0): string[] {
  const titles = columns.map(({ title }) => toPrintable(title))
  const cells = rows.map((row) =>
    columns.map((column, index) => {
      const cell = row[index] ?? null
      const { tone = 'plain', sign } = typeof cell === 'object' && cell !== null ? cell : {}
      const text = toPrintable(toCellText(column, cell))
      return { tone, text: sign === undefined ? text : `${terminal.glyphs[sign]} ${text}` }
    }),
  )
  const widths = titles.map((title, index) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index]?.text ?? ''))),
  )
  let excess =
    widths.reduce((sum, width) => sum + width, 2 * (columns.length - 1)) + indent - terminal.columns()
  while (excess > 0) {
    let widest = -1
    for (const [index, column] of columns.entries()) {
      const width = widths[index] ?? 0
      if (column.minColumns === undefined || width <= column.minColumns) continue
      if (widest < 0 || width > (widths[widest] ?? 0)) widest = index
    }
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  const toLine = (row: readonly { text: string; tone: Tone }[]) =>
    ' '.repeat(indent) +
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0
        const { text, tone } = row[index] ?? { text: '', tone: 'plain' }
        const shown = terminal.tone(tone, cutToWidth(text, width, terminal.glyphs.ellipsis))
        return isNumeric(column) ? padLeft(shown, width) : padRight(shown, width)
      })
      .join('  ')
      .trimEnd()
  return [
    ...(titles.every((title) => title === '')
      ? []
      : [terminal.tone('quiet', toLine(titles.map((text) => ({ text, tone: 'plain' }))))]),
    ...cells.map(toLine),
  ]
}

const TITLE_COLUMNS = 17

/** A titled part of the summary: the title stands left of its first line, the others are set under it. */
export function formatSection(terminal: Terminal, title: string, lines: readonly string[]): string[] {
  return lines.map((line, index) =>
    `${terminal.tone('strong', padRight(index === 0 ? `${title} ` : '', TITLE_COLUMNS))}${line}`.trimEnd(),
  )
}

/** Columns left of the title's own for a section's lines. */
export function sectionColumns(terminal: Terminal): number {
  return Math.max(30, terminal.columns() - TITLE_COLUMNS)
}

/** A bar for a share of the most, drawn only where there is room next to `used` columns. */
export function formatShareBar(terminal: Terminal, part: number, most: number, used: string): string {
  const room = Math.min(24, sectionColumns(terminal) - stringWidth(used) - 2)
  if (room < 6 || most === 0) return ''
  return terminal.tone(
    'accent',
    terminal.glyphs.barFull.repeat(Math.max(1, Math.round((part / most) * room))),
  )
}

/** Columns of the word before a bar, the space behind it included. */
export const LABEL_COLUMNS = 9

const BAR_MAX_COLUMNS = 40

const BAR_MIN_COLUMNS = 8

/** A word, a bar where there is room and something to draw, and what fits behind it. `share` is null without an end. */
export function formatBarLine(
  terminal: Terminal,
  label: string,
  { share, tone }: { share: number | null; tone: Tone },
  segments: readonly Segment[],
): string {
  const room = terminal.columns() - 1
  const rest = fitSegments(segments, room - LABEL_COLUMNS, '  ')
  const barRoom = Math.min(BAR_MAX_COLUMNS, room - LABEL_COLUMNS - stringWidth(rest) - 2)
  const bar =
    share === null || barRoom < BAR_MIN_COLUMNS ? '' : `${drawBar(terminal, share, barRoom, tone)}  `
  return `${terminal.tone('strong', padRight(label, LABEL_COLUMNS))}${bar}${rest}`
}

function drawBar(terminal: Terminal, share: number, columns: number, tone: Tone): string {
  const full = share >= 1 ? columns : Math.min(columns - 1, Math.floor(share * columns))
  const { barFull, barEmpty } = terminal.glyphs
  return terminal.tone(tone, barFull.repeat(full)) + terminal.tone('quiet', barEmpty.repeat(columns - full))
}
