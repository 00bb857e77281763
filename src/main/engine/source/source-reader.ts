import { toDefaultName } from '../../../shared/mapping/match-columns.ts'
import type { RowsInKey } from '../../../shared/mapping/rows-in-key.ts'
import type { FoundProblem, SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { SourceFormat } from '../../../shared/plan/source-formats.ts'
import { type RowPlace, type SourcePlace, toSourcePlace } from '../../../shared/plan/source-place.ts'
import type { ReadAs } from '../../../shared/run/read-as.ts'
import type { EncodingReading } from '../../../shared/run/results.ts'

/**
 * What a cell is, a letter: text; in a source of JSON other JSON kept as its text, null, or a key that is missing; in a
 * workbook an error such as `#N/A`, or a number that is shown with fewer digits than it has, or with separators of thousands.
 */
export type CellKind = 's' | 'j' | 'n' | '-' | 'e' | 'r' | 't'

/** One record of a source, exactly as the file has it: every cell text, nothing trimmed. */
export interface SourceRow {
  /** 1-based; the header line is not a row. */
  row: number
  cells: string[]
  /** What each cell is in the file, where cells are more than text; see {@link CellKind}. */
  kinds?: string
  /** What is wrong with the record itself: ragged, undecodable bytes, broken quotes. */
  problems: FoundProblem[]
}

/** Some consecutive records, and how far into the file they reach. */
export interface SourceBatch {
  rows: SourceRow[]
  /** Where they stand in the source, as far as that is not in step with the rows before; none in a folder. */
  places?: readonly RowPlace[]
  /** Bytes of the source read so far. */
  bytesRead: number
  /** True only if no cell has a character beyond ASCII, so that nobody needs to look for one. */
  isAscii?: boolean
}

/** What a workbook has in addition to its rows. */
interface WorkbookSheets {
  /** Names of the sheets in the workbook's order, hidden ones among them. */
  sheets: readonly string[]
  /** The one that the rows are from. */
  sheet: string
  /** About how many rows each sheet has below its header; null if that was not looked at. */
  rows: readonly (number | null)[]
}

/** How cells of delimited text are quoted; `default` if nothing in the file says otherwise. */
export interface Quoting {
  /** Stands around cells; '' if nothing does. */
  quote: string
  quoteBy: 'given' | 'guess' | 'default'
  /** Makes a quote inside a cell part of its text; '' if it is doubled. */
  escape: string
  escapeBy: 'given' | 'guess' | 'default'
}

/** One file of a source that has several, and how it is read. */
export interface FileHead
  extends Pick<SourceReader, 'format' | 'sizeBytes' | 'encoding' | 'encodingReadings' | 'delimiter'> {
  /** What tells it from the others: its name, or its path below what they share. */
  name: string
  path: string
  /** Of a workbook. */
  sheet: string | null
  /** How many rows it has, if they were counted. */
  rows?: FileRows
}

export interface FileRows {
  count: number
  /** Whether all of the file was read; otherwise the count follows from its beginning. */
  isExact: boolean
}

/** A field of objects that is a text in some rows: in how many, and the first of them. */
export interface NestedText {
  name: string
  rows: number
  first: string
}

/** A source being read. One reader for each format behind this one interface. */
export interface SourceReader {
  readonly format: SourceFormat
  /** Names from the header, or `Column 1`, `Column 2`, … without one; as many as the widest row met so far. */
  readonly columns: readonly string[]
  /** Null for everything but workbooks. */
  readonly workbook: WorkbookSheets | null
  /** Names as the source has them, empty and doubled ones among them; null if it names none. */
  readonly header: readonly string[] | null
  /**
   * Of a table with columns of our exports: whether the apostrophes before its formulas are taken off, or everything
   * is read as it is, since the columns are not those of a whole, guarded export. Absent or null for any other source.
   */
  readonly ownExport?: 'unguarded' | 'as-is' | null
  /** Of a workbook: the rows with cells that are hidden in it, read or not, complete once every record was yielded. */
  readonly hidden?: { rows: number }
  readonly sizeBytes: number
  /** Files of a source that has several, in the order of their rows. */
  readonly files?: readonly FileHead[]
  /** Of several files, the columns of each that not all of them have. */
  readonly columnsOfSome?: readonly { file: string; columns: readonly string[] }[]
  /** '' if a format has none, or its files have one each. */
  readonly encoding: string
  readonly encodingBy: 'given' | 'bom' | 'strict' | 'guess'
  /** How text reads in its encoding and in others that it may be in; absent or empty without a doubt. */
  readonly encodingReadings?: readonly EncodingReading[]
  /** '' if a format has none. */
  readonly delimiter: string
  readonly delimiterBy: 'given' | 'ending' | 'guess'
  /** How cells of delimited text are quoted; absent in other formats. */
  readonly quoting?: Quoting
  /**
   * Those of the columns that come out of others: fields of objects, such as `user.id`, and links of a workbook's cells;
   * absent if there are none.
   */
  readonly nestedColumns?: readonly string[]
  /** Of a workbook: the columns with links behind their cells, and the names of those that have the links. */
  readonly links?: readonly { name: string; linkName: string; cell: string }[]
  /** Of a workbook: what stands above columns without a name in a cell of the header that is merged with theirs. */
  readonly headings?: ReadonlyMap<string, string>
  /** Of JSON: fields of objects with texts, whether they are kept as columns or not. */
  readonly nestedTexts?: readonly NestedText[]
  /** Of JSON: arrays of objects in its first rows, which may be the rows that were meant. */
  readonly rowsInKeys?: readonly RowsInKey[]
  /** Leaves only these of the nested columns, before records are read. */
  keepNested?(names: readonly string[]): void
  /** Yields every record once, in order, in constant memory. Ends early when the consumer returns. */
  batches(): Iterable<SourceBatch> | AsyncIterable<SourceBatch>
  /** Records without a character so far, which are no rows; absent in a folder. */
  readonly emptyRecords?: number
  /**
   * The record that looks like the header, if titles above it are read as one; absent or null if there is none, or the
   * person named the header's record.
   */
  readonly likelyHeaderRow?: number | null
  /**
   * What is to be said of the source as a whole, complete once every record was yielded; absent if nothing is. `isSent`
   * says of a column whether a request has something of it; unless it is given, all are.
   */
  findWarnings?(isSent?: (column: string) => boolean): readonly SourceWarning[]
  /** What this format knows of how it is read beyond the members above, complete once every record was yielded. */
  describe?(): Partial<ReadAs>
  /** Of a source that other readers read file by file: how each of them is read, as far as is known by now. */
  describeFiles?(): readonly ReadAs[]
  close(): void
}

/** Tells of records without a character in them, which are no rows. */
export function findEmptyWarnings(records: number): SourceWarning[] {
  return records === 0 ? [] : [{ severity: 'warning', code: 'empty_records', rows: records }]
}

/** A warning of byte-order marks at the beginning of later lines, which are no text. */
export function findInnerMarkWarnings(marks: number): SourceWarning[] {
  return marks === 0 ? [] : [{ severity: 'warning', code: 'inner_mark', rows: marks }]
}

/** A warning that says which file of a source it is about, or which ones. */
export function nameFiles<Warning extends SourceWarning>(warning: Warning, ofFiles: string): Warning {
  return { ...warning, args: { ...('args' in warning ? warning.args : {}), ofFiles } }
}

/** What is said of files that were passed over: hidden ones, and those that programs and systems leave in folders. */
export function toSkippedWarnings(files: number): SourceWarning[] {
  return files === 0 ? [] : [{ severity: 'warning', code: 'skipped_files', args: { files }, rows: files }]
}

/** Notes where records stand, only those that do not follow the one before in step: most sources have one such. */
export class PlaceNotes {
  #notes: RowPlace[] = []
  #last: RowPlace | null = null

  /** Says where the next record stands; records come in order. */
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

  /** The notes since it was last asked. */
  take(): RowPlace[] {
    const notes = this.#notes
    this.#notes = []
    return notes
  }
}

/** A function that takes the batches of a source in order, and gives where the rows of each stand, in order. */
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

/** `Column 1`, `Column 2`, …: what a column without a name of its own is called. */
/**
 * Gives every column a name of its own: an empty header becomes `Column 3`, a second `text` becomes `text (2)`, and
 * columns beyond the header are called by their number. Names stay untrimmed.
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

/** A name that neither the header nor a column before it has; numbering starts at `(2)`. */
function toFreeName(base: string, written: Set<string>, used: Set<string>, mayBeBare: boolean): string {
  if (mayBeBare && !written.has(base) && !used.has(base)) return base
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`
    if (!written.has(name) && !used.has(name)) return name
  }
}
