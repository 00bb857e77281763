import { formatCount, formatFigure, formatMs, formatRate, formatShare } from '../messages/figure-text.ts'

/**
 * The content of a report, laid out once for every renderer: the terminal (`cli/terminal/report-text.ts`), a
 * page (`engine/page/report-markup.ts`), Markdown (`markdown.ts`), a workbook
 * (`engine/lookback/report/run-workbook.ts`) and the window (`renderer/ui/table/report-table.tsx`). Its texts
 * may quote the source, the plan and the service, so they are never markup, and each renderer must escape
 * them.
 */
export interface Section {
  title?: Line
  lines?: readonly Line[]
  warnings?: readonly string[]
  facts?: readonly Fact[]
  tables?: readonly Table[]
  /** Remarks below the tables. */
  notes?: readonly Line[]
}

/** The meaning of a text, which decides how it is set off: `odd` is unknown, `quiet` is a remark. */
export type Tone = 'good' | 'bad' | 'warn' | 'odd' | 'quiet' | 'strong' | 'accent' | 'plain'

/** Pages draw only the first two. */
export type Sign = 'held' | 'crossed' | 'ok' | 'rejected' | 'failed' | 'unknown' | 'skipped' | 'dot' | 'none'

export interface Marked {
  /** In a table, also a figure that the column formats. */
  text: string | number
  tone?: Tone
  /** Whether others wrote it; it is then visibly separate from the surrounding text. */
  isForeign?: boolean
  /** A sign before it, drawn as the surface draws signs; `none` leaves its space. */
  sign?: Sign
  /** An explanation or advice below it; written by others if the text was. */
  meaning?: string
  /** Monospaced, like a column of codes. */
  isCode?: boolean
  /** The name, written by others, of the column that this cell is from; shown before it. */
  column?: string
  /** A command to type, which is never wrapped. */
  command?: string
}

/** A line, or its pieces. */
export type Line = string | Marked | readonly (string | Marked)[]

/** A label with its content: lines, then a table, then remarks. Without content it is not drawn. */
export interface Fact {
  label: string
  lines?: readonly Line[]
  table?: Table
  notes?: readonly Line[]
}

/** A figure that its column formats, a text, its pieces, or null for nothing. */
export type Cell = string | number | null | Marked | readonly (string | Marked)[]

const FIGURES = {
  count: formatCount,
  share: formatShare,
  ms: formatMs,
  figure: formatFigure,
  rate: formatRate,
} as const

/**
 * `text` is Sluice's, `foreign` is by others, `code` is monospaced, a `number` has no special format, a `bar`
 * shows a share as a length.
 */
type ColumnKind = 'text' | 'foreign' | 'code' | 'number' | 'bar' | keyof typeof FIGURES

/** One column of a {@link Table}. */
export interface Column {
  kind: ColumnKind
  title: string
  /** A narrow terminal cuts the column down to this width; without it, the column is never cut. */
  minColumns?: number
  /** Least width of the column on a terminal, whatever it contains. */
  least?: number
  /** A narrow terminal leaves the column out. */
  isOptional?: true
  /** The text of this column, which must be the last, wraps on a terminal. */
  isWrapped?: true
}

/** Rows below a header; without a header if all titles are empty. */
export interface Table {
  /** Without one, the section's title and lines are the caption. */
  caption?: Line
  columns: readonly Column[]
  rows: readonly (readonly Cell[])[]
  /** Spaces between columns on a terminal (default: 2). */
  gap?: number
}

const toColumn =
  (kind: ColumnKind) =>
  (title: string, minColumns?: number): Column => ({
    kind,
    title,
    ...(minColumns === undefined ? {} : { minColumns }),
  })

/** Create a column of each kind, from its title and its least width on a terminal. */
export const text = toColumn('text')
export const foreign = toColumn('foreign')
export const code = toColumn('code')
export const number = toColumn('number')
export const count = toColumn('count')
export const share = toColumn('share')
export const ms = toColumn('ms')
export const figure = toColumn('figure')
export const rate = toColumn('rate')
export const bar = toColumn('bar')

/** Whether a column holds numbers, which are right-aligned. */
export function isNumeric({ kind }: Column): boolean {
  return kind === 'number' || kind in FIGURES
}

/** A column's title with a capital letter; names of percentiles stay as they are. */
export function toTitle({ kind, title }: Column): string {
  return kind === 'ms' || kind === 'figure' ? title : title.charAt(0).toUpperCase() + title.slice(1)
}

/** A cell's text or figure, without its marks; pieces with column names get a line each. */
export function toValue(cell: Cell): string | number | null {
  if (typeof cell !== 'object' || cell === null) return cell
  if (!Array.isArray(cell)) return (cell as Marked).text
  const pieces = listPieces(cell)
  if (pieces.every(({ column }) => column === undefined)) return pieces.map(({ text }) => text).join('')
  return pieces.map(({ column, text }) => `${column}: ${text}`).join('\n')
}

/** The marks of a whole cell; pieces have their own. */
export function getMarks(cell: Cell): Partial<Marked> {
  return typeof cell === 'object' && cell !== null && !Array.isArray(cell) ? (cell as Marked) : {}
}

/** A cell's text, without its marks. */
export function toCellText({ kind }: Column, cell: Cell): string {
  const value = toValue(cell)
  if (value === null) return '–'
  return typeof value === 'number' && kind in FIGURES
    ? FIGURES[kind as keyof typeof FIGURES](value)
    : String(value)
}

/** A part as a share of a whole; 0 if the whole is 0. */
export function partOf(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}

/** Marks a text as written by others. */
export function quote(text: string, tone?: Tone): Marked {
  return { text, isForeign: true, ...(tone === undefined ? {} : { tone }) }
}

export function listPieces(line: Line): readonly (Marked & { text: string })[] {
  const pieces = Array.isArray(line) ? (line as readonly (string | Marked)[]) : [line as string | Marked]
  return pieces.map((piece) =>
    typeof piece === 'string' ? { text: piece } : { ...piece, text: String(piece.text) },
  )
}
