import { toDefaultName } from '../../../shared/mapping/match-columns.ts'
import type { RowsInKey } from '../../../shared/mapping/rows-in-key.ts'
import type { FoundProblem, SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { SourceFormat } from '../../../shared/plan/source-formats.ts'
import { type RowPlace, type SourcePlace, toSourcePlace } from '../../../shared/plan/source-place.ts'
import type { ReadAs } from '../../../shared/run/read-as.ts'
import type { EncodingReading } from '../../../shared/run/results.ts'

/**
 * The kind of a cell, a letter: text; in JSON, other JSON kept as its text, null, or a missing key; in a
 * workbook an error such as `#N/A`, or a number shown with fewer digits than it has, or with thousands
 * separators.
 */
export type CellKind = 's' | 'j' | 'n' | '-' | 'e' | 'r' | 't'

/** One record of a source, exactly as in the file: every cell is text, nothing is trimmed. */
export interface SourceRow {
  /** 1-based; the header line is not a row. */
  row: number
  cells: string[]
  /** The kind of each cell, if cells are more than text; see {@link CellKind}. */
  kinds?: string
  /** Problems of the record itself: ragged, undecodable bytes, broken quotes. */
  problems: FoundProblem[]
}

/** Some consecutive records, and how far into the file they reach. */
export interface SourceBatch {
  rows: SourceRow[]
  /** Their places in the source, only those out of step with the rows before; none in a folder. */
  places?: readonly RowPlace[]
  /** Bytes of the source read so far. */
  bytesRead: number
  /** True only if no cell has a character beyond ASCII, so that nothing need search for one. */
  isAscii?: boolean
}

/** What a workbook has in addition to its rows. */
interface WorkbookSheets {
  /** Names of the sheets in the workbook's order, including hidden ones. */
  sheets: readonly string[]
  /** The sheet that the rows come from. */
  sheet: string
  /** Approximate number of rows below each sheet's header; null if not counted. */
  rows: readonly (number | null)[]
  /** Names of hidden sheets. */
  hidden: readonly string[]
}

/** How cells of delimited text are quoted; `default` if the file does not show otherwise. */
export interface Quoting {
  /** Encloses cells; '' without one. */
  quote: string
  quoteBy: 'given' | 'guess' | 'default'
  /** Makes a quote inside a cell part of its text; '' if it is doubled. */
  escape: string
  escapeBy: 'given' | 'guess' | 'default'
}

/** One file of a source that has several, and how it is read. */
export interface FileHead
  extends Pick<SourceReader, 'format' | 'sizeBytes' | 'encoding' | 'encodingReadings' | 'delimiter'> {
  /** Distinguishes it from the others: its name, or its path below their common folder. */
  name: string
  path: string
  /** Of a workbook. */
  sheet: string | null
  /** How many rows it has, if they were counted. */
  rows?: FileRows
}

export interface FileRows {
  count: number
  /** Whether all of the file was read; otherwise the count is extrapolated from its beginning. */
  isExact: boolean
}

/** A field of objects that is a text in some rows: how many, and the first of them. */
export interface NestedText {
  name: string
  rows: number
  first: string
}

/** A source being read, with one reader per format behind this interface. */
export interface SourceReader {
  readonly format: SourceFormat
  /** Names from the header, else `Column 1`, `Column 2`, …; as many as the widest row met so far. */
  readonly columns: readonly string[]
  /** Null for everything but workbooks. */
  readonly workbook: WorkbookSheets | null
  /** Names as in the source, including empty and duplicate ones; null if it names none. */
  readonly header: readonly string[] | null
  /**
   * For a table with columns of our exports: whether the apostrophes before its formulas are removed, or
   * everything is read unchanged because the columns are not those of a whole, guarded export. Absent or null
   * for any other source.
   */
  readonly ownExport?: 'unguarded' | 'as-is' | null
  /** For a workbook: its hidden rows with cells, read or not; complete once every record was yielded. */
  readonly hidden?: { rows: number }
  readonly sizeBytes: number
  /** The files of a source that has several, in row order. */
  readonly files?: readonly FileHead[]
  /** For several files, each one's columns that not all of them have. */
  readonly columnsOfSome?: readonly { file: string; columns: readonly string[] }[]
  /** '' if the format has none, or each file has its own. */
  readonly encoding: string
  readonly encodingBy: 'given' | 'bom' | 'strict' | 'guess'
  /** How text reads in its encoding and in other possible ones; absent or empty without a doubt. */
  readonly encodingReadings?: readonly EncodingReading[]
  /** '' if a format has none. */
  readonly delimiter: string
  readonly delimiterBy: 'given' | 'ending' | 'guess'
  /** How cells of delimited text are quoted; absent in other formats. */
  readonly quoting?: Quoting
  /** Columns derived from others: fields of objects, as `user.id`, and links of cells; absent if none. */
  readonly nestedColumns?: readonly string[]
  /** For a workbook: the columns with links behind their cells, and the names of these links' columns. */
  readonly links?: readonly { name: string; linkName: string; cell: string }[]
  /** For a workbook: texts above unnamed columns, in a header cell merged with theirs. */
  readonly headings?: ReadonlyMap<string, string>
  /** For JSON: fields of objects with texts, whether or not they are kept as columns. */
  readonly nestedTexts?: readonly NestedText[]
  /** For JSON: arrays of objects in its first rows, which may be the intended rows. */
  readonly rowsInKeys?: readonly RowsInKey[]
  /** Keeps only these nested columns; call it before records are read. */
  keepNested?(names: readonly string[]): void
  /** Yields every record once, in order, in constant memory. Ends early when the consumer returns. */
  batches(): Iterable<SourceBatch> | AsyncIterable<SourceBatch>
  /** Empty records so far, which are not rows; absent in a folder. */
  readonly emptyRecords?: number
  /**
   * The record that looks like the header, if titles above it are read as one; absent or null if there is
   * none, or the person gave the header's number.
   */
  readonly likelyHeaderRow?: number | null
  /**
   * Warnings about the source as a whole, complete once every record was yielded; absent if there are none.
   * `isSent` tells whether a request uses a column (default: all are used).
   */
  findWarnings?(isSent?: (column: string) => boolean): readonly SourceWarning[]
  /** What the format knows of its reading beyond the members above; complete once every record is yielded. */
  describe?(): Partial<ReadAs>
  /** For a source that other readers read file by file: how each file is read, as known so far. */
  describeFiles?(): readonly ReadAs[]
  close(): void
}

/** The warning about empty records, which are not rows. */
export function findEmptyWarnings(records: number): SourceWarning[] {
  return records === 0 ? [] : [{ severity: 'warning', code: 'empty_records', rows: records }]
}

/** The warning about byte-order marks at the beginning of later lines, which are not text. */
export function findInnerMarkWarnings(marks: number): SourceWarning[] {
  return marks === 0 ? [] : [{ severity: 'warning', code: 'inner_mark', rows: marks }]
}

/** A warning that names the files of a source it is about. */
export function nameFiles<Warning extends SourceWarning>(warning: Warning, ofFiles: string): Warning {
  return { ...warning, args: { ...('args' in warning ? warning.args : {}), ofFiles } }
}

/** Most files and columns named in a warning. */
export const NAMED_MAX = 3

/** The first names, and how many more there are. */
export function toNames(names: readonly string[]): string {
  const rest = names.length - NAMED_MAX
  const named = names.slice(0, NAMED_MAX).join(', ')
  return rest > 0 ? `${named} and ${rest} more` : named
}

/** Notes the places of records, only those out of step with the one before: most sources have one. */
export class PlaceNotes {
  #notes: RowPlace[] = []
  #last: RowPlace | null = null

  /** Notes the place of the next record; records come in order. */
  note(row: number, sheetRow: number, line: number | null, leftOut = 0): void {
    const last = this.#last
    if (last !== null) {
      const by = row - last.row
      if (last.sheetRow + by === sheetRow && (last.line === null ? line === null : last.line + by === line))
        return
    }
    this.#last = { row, sheetRow, line, ...(leftOut > 0 && { leftOut }) }
    this.#notes.push(this.#last)
  }

  /** The notes since the last call. */
  take(): RowPlace[] {
    const notes = this.#notes
    this.#notes = []
    return notes
  }
}

/** Creates a function that takes the batches of a source in order and gives the places of each one's rows. */
export function createBatchPlaces(): (batch: SourceBatch) => (row: number) => SourcePlace {
  let noted: RowPlace | undefined
  return ({ places = [] }) => {
    let next = 0
    return (row) => {
      for (let note = places[next]; note !== undefined && note.row <= row; note = places[next]) {
        noted = note
        next += 1
      }
      return toSourcePlace(row, noted)
    }
  }
}

/** `Column 1`, `Column 2`, …: the names of unnamed columns. */
/**
 * Gives every column a unique name: an empty header becomes `Column 3`, a second `text` becomes `text (2)`,
 * and columns beyond the header are numbered. Names stay untrimmed.
 */
export function toColumnNames(header: readonly string[], count = header.length): string[] {
  const names: string[] = []
  const written = new Set(header)
  const used = new Set<string>()
  for (let index = 0; index < Math.max(count, header.length); index += 1) {
    const given = header[index] ?? ''
    const isFirst = given !== '' && !used.has(given)
    const name = isFirst
      ? given
      : toFreeName(given === '' ? toDefaultName(index) : given, written, used, given === '')
    used.add(name)
    names.push(name)
  }
  return names
}

/** A name that neither the header nor an earlier column has; numbering starts at `(2)`. */
function toFreeName(base: string, written: Set<string>, used: Set<string>, mayBeBare: boolean): string {
  if (mayBeBare && !written.has(base) && !used.has(base)) return base
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`
    if (!written.has(name) && !used.has(name)) return name
  }
}
