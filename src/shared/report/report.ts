import { formatCount, formatFigure, formatMs, formatRate, formatShare } from '../messages/figure-text.ts'

/**
 * What a report says, laid out once for whoever draws it: the terminal (`cli/terminal/report-text.ts`), a page
 * (`engine/page/report-markup.ts`), Markdown (`markdown.ts`), a workbook (`engine/lookback/report/run-workbook.ts`) and
 * the window (`renderer/ui/table/report-table.tsx`). Its texts may quote the source, the plan and the service, so they
 * are never markup, and whoever draws them makes them harmless.
 */
export interface Section {
  title?: Line
  lines?: readonly Line[]
  warnings?: readonly string[]
  facts?: readonly Fact[]
  tables?: readonly Table[]
  /** What is said in passing, below the tables. */
  notes?: readonly Line[]
}

/** How a text is set off, by what it means: `odd` is what nobody knows, `quiet` what is said in passing. */
export type Tone = 'good' | 'bad' | 'warn' | 'odd' | 'quiet' | 'strong' | 'accent' | 'plain'

/** Pages draw the first two alone. */
export type Sign = 'held' | 'crossed' | 'ok' | 'rejected' | 'failed' | 'unknown' | 'skipped' | 'dot' | 'none'

/** A piece of text that is more than our own plain words. */
export interface Marked {
  /** In a table also a figure that the column writes. */
  text: string | number
  tone?: Tone
  /** Whether others wrote it: kept apart from what stands around it. */
  isForeign?: boolean
  /** A sign before it, as the surface draws signs; `none` keeps its place. */
  sign?: Sign
  /** What it says in other words, or what to do about it, below it; written by others if the text was. */
  meaning?: string
  /** Typed as it stands, like a column of codes. */
  isCode?: boolean
  /** The name of the column that it is the cell of, which others wrote: it stands before it. */
  column?: string
  /** A command to type, which stays in one piece. */
  command?: string
}

/** A line, or the pieces that make it up. */
export type Line = string | Marked | readonly (string | Marked)[]

/** A label and what belongs to it: lines, then a table, then what is said in passing. Without these it is not drawn. */
export interface Fact {
  label: string
  lines?: readonly Line[]
  table?: Table
  notes?: readonly Line[]
}

/** A figure that its column writes, a text as it stands, the pieces of one, or null if there is nothing to tell. */
export type Cell = string | number | null | Marked | readonly (string | Marked)[]

const FIGURES = {
  count: formatCount,
  share: formatShare,
  ms: formatMs,
  figure: formatFigure,
  rate: formatRate,
} as const

/**
 * `text` is ours, `foreign` was written by others, `code` is typed as it stands, a `number` has no format of its own, a
 * `bar` is a share as a length.
 */
type ColumnKind = 'text' | 'foreign' | 'code' | 'number' | 'bar' | keyof typeof FIGURES

/** One column of a {@link Table}. */
export interface Column {
  kind: ColumnKind
  title: string
  /** A terminal that is too narrow cuts the column down to this; without it, the column is never cut. */
  minColumns?: number
  /** A terminal makes the column as wide as this, even if nothing in it is. */
  least?: number
  /** A terminal that is too narrow leaves the column out. */
  isOptional?: true
  /** The text of this last column wraps on a terminal. */
  isWrapped?: true
}

/** Rows under a header; columns whose titles are all empty have none. */
export interface Table {
  /** Of which title and lines of the section are the caption if there is none. */
  caption?: Line
  columns: readonly Column[]
  rows: readonly (readonly Cell[])[]
  /** Spaces between the columns on a terminal, usually 2. */
  gap?: number
}

const toColumn =
  (kind: ColumnKind) =>
  (title: string, minColumns?: number): Column => ({
    kind,
    title,
    ...(minColumns === undefined ? {} : { minColumns }),
  })

/** A column of each kind by its title, and how narrow a terminal may make it. */
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

/** Whether a column holds numbers, which stand at the right. */
export function isNumeric({ kind }: Column): boolean {
  return kind === 'number' || kind in FIGURES
}

/** The title of a column where titles begin with a capital letter; names of percentiles stay as they are. */
export function toTitle({ kind, title }: Column): string {
  return kind === 'ms' || kind === 'figure' ? title : title.charAt(0).toUpperCase() + title.slice(1)
}

/** The text or figure of a cell, without its marks; what names its columns has a line for each. */
export function toValue(cell: Cell): string | number | null {
  if (typeof cell !== 'object' || cell === null) return cell
  if (!Array.isArray(cell)) return (cell as Marked).text
  const pieces = listPieces(cell)
  if (pieces.every(({ column }) => column === undefined)) return pieces.map(({ text }) => text).join('')
  return pieces.map(({ column, text }) => `${column}: ${text}`).join('\n')
}

/** The marks of a cell as a whole; pieces have their own. */
export function getMarks(cell: Cell): Partial<Marked> {
  return typeof cell === 'object' && cell !== null && !Array.isArray(cell) ? (cell as Marked) : {}
}

/** What a cell says, without its marks. */
export function toCellText({ kind }: Column, cell: Cell): string {
  const value = toValue(cell)
  if (value === null) return '–'
  return typeof value === 'number' && kind in FIGURES
    ? FIGURES[kind as keyof typeof FIGURES](value)
    : String(value)
}

/** A part of a whole, of which there may be none. */
export function partOf(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}

/** A text that others wrote. */
export function quote(text: string, tone?: Tone): Marked {
  return { text, isForeign: true, ...(tone === undefined ? {} : { tone }) }
}

export function listPieces(line: Line): readonly (Marked & { text: string })[] {
  const pieces = Array.isArray(line) ? (line as readonly (string | Marked)[]) : [line as string | Marked]
  return pieces.map((piece) =>
    typeof piece === 'string' ? { text: piece } : { ...piece, text: String(piece.text) },
  )
}
