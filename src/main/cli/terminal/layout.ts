import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import {
  type Cell,
  type Column,
  getMarks,
  isNumeric,
  type Sign,
  type Table,
  type Tone,
  toCellText,
} from '../../../shared/report/report.ts'
import { toPrintable } from './output.ts'
import type { Terminal } from './terminal.ts'

/** Created on first use: that takes 11 ms, which most commands do not need. */
let segmenter: Intl.Segmenter | null = null

/** Cuts unstyled text to a number of columns between whole characters; the last shows that it was cut. */
export function cutToWidth(text: string, columns: number, ellipsis: string): string {
  if (stringWidth(text) <= columns) return text
  const room = columns - stringWidth(ellipsis)
  if (room <= 0) return ellipsis.slice(0, Math.max(0, columns))
  let width = 0
  let kept = ''
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(text)) {
    width += stringWidth(segment)
    if (width > room) break
    kept += segment
  }
  return kept + ellipsis
}

export function padRight(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

export function padLeft(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - stringWidth(text))) + text
}

/** A piece of a line; if the line is too narrow, the pieces with the lowest `keep` are dropped first. */
export interface Segment {
  text: string
  keep: number
}

/** Joins the pieces that fit into a number of columns, in their order. The most important always stays. */
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

/** Breaks words into lines of at most `columns`; longer words stay whole. */
export function wrapWords(text: string, columns: number): string[] {
  return wrapAnsi(text, columns).split('\n')
}

/** Columns that text beside something else needs at least. */
const TEXT_MIN = 24

/** A head with text beside it; further lines of the text are indented to its start. */
export function hang(head: string, text: string, columns: number): string[] {
  const width = stringWidth(head)
  return wrapWords(text, Math.max(TEXT_MIN, columns - width)).map(
    (line, index) => (index === 0 ? head : ' '.repeat(width)) + line,
  )
}

/** Columns of a bar: other columns are cut to leave it `usual` room; below `min` it is not drawn. */
const SHARE_BAR = { min: 6, usual: 10, max: 24 }

/** Most columns to which text is padded in a file, which cuts none. */
const FILE_PAD_MAX = 200

/**
 * Lines of a table, indented by `indent`, its header first unless no column has a title. If they do not fit
 * into `room`, optional columns are left out, then columns that may be cut shrink, the widest first. Control
 * characters are escaped.
 */
export function formatTable(
  terminal: Terminal,
  { columns: given, rows, gap = 2 }: Table,
  { indent = 0, room = terminal.columns() }: { indent?: number; room?: number } = {},
): string[] {
  const isHeadless = given.every(({ title }) => title === '')
  const cells = rows.map((row) =>
    given.map((column, index) => drawCell(terminal, column, row[index] ?? null)),
  )
  const last = given.at(-1)
  const isOpen = last?.kind === 'bar' || last?.isWrapped === true
  let columns = (isOpen ? given.slice(0, -1) : given).map((column, index) => ({
    ...column,
    index,
    title: toPrintable(column.title),
    width: Math.max(
      column.least ?? 0,
      isHeadless ? 0 : stringWidth(toPrintable(column.title)),
      ...cells.map((row) => stringWidth(row[index]?.text ?? '')),
    ),
  }))
  const taken = () => columns.reduce((sum, { width }) => sum + width + gap, indent) - (isOpen ? 0 : gap)
  if (taken() > room) columns = columns.filter(({ isOptional }) => isOptional !== true)
  const kept = last?.kind === 'bar' ? SHARE_BAR.usual + 1 : 0
  for (let excess = taken() + kept - room; excess > 0; excess -= 1) {
    const cut = columns.filter(({ minColumns, width }) => minColumns !== undefined && width > minColumns)
    const [first, ...others] = cut
    if (first === undefined) break
    others.reduce((widest, column) => (column.width > widest.width ? column : widest), first).width -= 1
  }
  const padMax = Number.isFinite(room) ? room : FILE_PAD_MAX
  const toLine = (row: readonly DrawnCell[]) =>
    ' '.repeat(indent) +
    columns
      .map((column) => {
        const { text, tone } = row[column.index] ?? EMPTY
        const shown = terminal.tone(tone, cutToWidth(text, column.width, terminal.glyphs.ellipsis))
        return isNumeric(column)
          ? padLeft(shown, column.width)
          : padRight(shown, Math.min(column.width, padMax))
      })
      .join(' '.repeat(gap))
  const shares = rows.map((row) => Number(row[given.length - 1]))
  const barColumns = Math.min(SHARE_BAR.max, room - taken() + gap - 2)
  const toLines = (row: readonly DrawnCell[], at: number): string[] => {
    const line = toLine(row)
    if (!isOpen) return [line.trimEnd()]
    if (last?.kind === 'bar') {
      return [
        `${line}  ${formatShareBar(terminal, (shares[at] ?? 0) / Math.max(...shares), barColumns)}`.trimEnd(),
      ]
    }
    const { text, tone, meaning, command } = row[given.length - 1] ?? EMPTY
    const beside = line + ' '.repeat(gap)
    const isBeside = room - stringWidth(beside) >= TEXT_MIN
    const head = isBeside ? beside : '  '
    const arrow = `${terminal.glyphs.arrow} `
    const more = meaning === '' ? [] : hang(arrow, meaning, room - stringWidth(head))
    // A command is never wrapped: it is there to be pasted.
    if (command !== '') more.push((more.length === 0 ? arrow : ' '.repeat(stringWidth(arrow))) + command)
    return [
      ...(isBeside ? [] : [line]),
      ...hang(head, terminal.tone(tone, text), room),
      ...more.map((one) => ' '.repeat(stringWidth(head)) + terminal.tone('quiet', one)),
    ].map((one) => one.trimEnd())
  }
  const titles = given.map(({ title }): DrawnCell => ({ ...EMPTY, text: toPrintable(title) }))
  return [
    ...(isHeadless ? [] : [terminal.tone('quiet', toLine(titles).trimEnd())]),
    ...cells.flatMap(toLines),
  ]
}

interface DrawnCell {
  text: string
  tone: Tone
  meaning: string
  command: string
}

const EMPTY: DrawnCell = { text: '', tone: 'plain', meaning: '', command: '' }

function drawCell(terminal: Terminal, column: Column, cell: Cell): DrawnCell {
  const { tone = 'plain', sign, meaning = '', command = '' } = getMarks(cell)
  const text = toPrintable(toCellText(column, cell))
  const harmless = { meaning: toPrintable(meaning), command: toPrintable(command) }
  return { tone, ...harmless, text: sign === undefined ? text : `${drawSign(terminal, sign)} ${text}` }
}

export function drawSign({ glyphs }: Terminal, sign: Sign): string {
  return sign === 'none' ? ' ' : glyphs[sign]
}

function formatShareBar(terminal: Terminal, share: number, columns: number): string {
  if (columns < SHARE_BAR.min || !Number.isFinite(share)) return ''
  return terminal.tone('accent', terminal.glyphs.barFull.repeat(Math.max(1, Math.round(share * columns))))
}

const TITLE_COLUMNS = 17

/** A titled part of the summary: the title stands left of its first line, the other lines are indented. */
export function formatSection(terminal: Terminal, title: string, lines: readonly string[]): string[] {
  return lines.map((line, index) =>
    `${terminal.tone('strong', padRight(index === 0 ? `${title} ` : '', TITLE_COLUMNS))}${line}`.trimEnd(),
  )
}

/** Columns for a section's lines beside its title. */
export function sectionColumns(terminal: Terminal): number {
  return Math.max(30, terminal.columns() - TITLE_COLUMNS)
}

/** Columns of the label before a bar, including the space after it. */
export const LABEL_COLUMNS = 9

const BAR_MAX_COLUMNS = 40

const BAR_MIN_COLUMNS = 8

/** A label, a bar if there is room and a share, and the segments that fit; `share` is null without an end. */
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
