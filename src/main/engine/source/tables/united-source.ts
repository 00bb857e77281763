import { createHash } from 'node:crypto'
import type { RowsInKey } from '../../../../shared/mapping/rows-in-key.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { RowRange, SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { RowPlace } from '../../../../shared/plan/source-place.ts'
import type { ReadAs } from '../../../../shared/run/read-as.ts'
import {
  type FileHead,
  type FileRows,
  NAMED_MAX,
  type NestedText,
  nameFiles,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toNames,
} from '../source-reader.ts'
import { ColumnUnion } from './column-union.ts'
import { countRows } from './count-rows.ts'
import type { TableFile, Tables } from './tables.ts'

/**
 * Opens several tables as one source: rows follow table by table, and columns are united by name. Reads the
 * head of every file first; a file is open only while it is read. Throws what the reader of a file throws,
 * and `BAD_SOURCE` for a file that shares no column with the first, and at its end for one with the rows of
 * another. `countsRows`: count the rows of each file like {@link countRows}.
 */
export async function openUnitedSource(
  { files, skipped }: Tables,
  open: (file: TableFile) => Promise<SourceReader>,
  describe: (reader: SourceReader) => ReadAs,
  countsRows = false,
): Promise<SourceReader> {
  const described: ReadAs[] = []
  const toDescribed = (file: TableFile, reader: SourceReader): ReadAs =>
    files.length === 1 ? describe(reader) : { file: file.name, ...describe(reader) }
  let union = new ColumnUnion()
  const tables: { columns: readonly string[]; header: readonly string[] | null; own: number }[] = []
  let kept: readonly string[] | null = null
  const heads: FileHead[] = []
  const links = new Map<string, NonNullable<SourceReader['links']>[number]>()
  const headings = new Map<string, string>()
  const lacking = new Map<string, FileColumns>()
  const rowsInKeys: RowsInKey[] = []
  const nestedTexts: NestedText[] = []
  let first: ReturnType<typeof toFirst> | null = null
  for (const file of files) {
    const reader = await open(file)
    try {
      const { columns, header } = reader
      const own = countOwn(reader)
      refuseStranger(file, reader, union)
      union.add(columns, header, own)
      tables.push({ columns: [...columns], header, own })
      for (const link of reader.links ?? []) links.set(link.linkName, link)
      for (const [name, heading] of reader.headings ?? []) headings.set(name, heading)
      for (const text of reader.nestedTexts ?? []) {
        const known = nestedTexts.find(({ name }) => name === text.name)
        if (known === undefined) nestedTexts.push({ ...text })
        else known.rows += text.rows
      }
      if (rowsInKeys.length === 0) {
        // Counts of one file do not cover all of them.
        const counted = files.length === 1 ? {} : { objects: null, rows: null }
        rowsInKeys.push(...(reader.rowsInKeys ?? []).map((one) => ({ ...one, ...counted })))
      }
      described.push(toDescribed(file, reader))
      first ??= toFirst(reader)
      heads.push(toHead(file, reader, countsRows ? await countRows(reader) : undefined))
    } finally {
      reader.close()
    }
  }
  const [head] = heads
  if (first === null || head === undefined) throw new Error('a source of no file')
  const sizeBytes = heads.reduce((sum, one) => sum + one.sizeBytes, 0)
  const isAlone = files.length === 1
  let warnings: FileWarning[] = []
  let hiddenRows = 0
  let emptyRecords = 0

  async function* batches(): AsyncGenerator<SourceBatch, void, undefined> {
    let [rowsBefore, bytesBefore] = [0, 0]
    warnings = []
    hiddenRows = 0
    emptyRecords = 0
    const contents = new Map<string, string>()
    for (const [index, file] of files.entries()) {
      const reader = await open(file)
      if (kept !== null) reader.keepNested?.(kept)
      let rows = 0
      const content = createHash('sha256')
      try {
        for await (const batch of reader.batches()) {
          const toRow = union.createMove(reader.columns, reader.header, countOwn(reader))
          const places = movePlaces(batch, {
            file: isAlone ? undefined : file.name,
            rowsBefore,
            isFirst: rows === 0,
          })
          rows += batch.rows.length
          const moved = batch.rows.map((row) => moveRow(toRow(row), rowsBefore))
          if (!isAlone) content.update(moved.map(toContent).join(''))
          yield {
            rows: moved,
            places,
            bytesRead: bytesBefore + batch.bytesRead,
          }
        }
        if (rows > 0) refuseCopy(file, content.digest('hex'), contents)
        // It covers all rows of this file, unless it says otherwise.
        const range = { from: rowsBefore + 1, to: rowsBefore + rows }
        for (const warning of reader.findWarnings?.() ?? [])
          warnings.push({ file: file.name, warning: { rows, ...warning }, range })
        hiddenRows += reader.hidden?.rows ?? 0
        emptyRecords += reader.emptyRecords ?? 0
        described[index] = toDescribed(file, reader)
        lacking.set(file.name, { columns: union.listNames(reader.columns, countOwn(reader)), range })
        rowsBefore += rows
        bytesBefore += reader.sizeBytes
      } finally {
        reader.close()
      }
    }
  }

  return {
    format: head.format,
    get columns() {
      return union.names
    },
    get header() {
      return union.header
    },
    // A table's own column takes precedence over a field of objects in another table.
    get nestedColumns() {
      const own = new Set(tables.flatMap((table) => table.columns.slice(0, table.own)))
      return union.names.filter((name) => !own.has(name))
    },
    keepNested(names) {
      kept = names
      union = new ColumnUnion()
      for (const { columns, header, own } of tables) {
        const isUsed = (index: number) => index < own || names.includes(columns[index] ?? '')
        union.add(
          columns.filter((_, index) => isUsed(index)),
          header?.filter((_, index) => isUsed(index)) ?? null,
          own,
        )
      }
    },
    workbook: first.workbook,
    ownExport: first.ownExport ?? null,
    likelyHeaderRow: first.likelyHeaderRow ?? null,
    links: [...links.values()],
    headings,
    rowsInKeys,
    nestedTexts,
    get hidden() {
      return { rows: hiddenRows }
    },
    sizeBytes,
    encoding: head.encoding,
    encodingBy: isAlone ? first.encodingBy : 'guess',
    encodingReadings: isAlone ? first.encodingReadings : [],
    delimiter: head.delimiter,
    delimiterBy: isAlone ? first.delimiterBy : 'guess',
    ...(first.quoting !== undefined && { quoting: first.quoting }),
    ...(isAlone ? {} : { files: heads, columnsOfSome: listOfSome(heads, tables) }),
    batches,
    get emptyRecords() {
      return emptyRecords
    },
    describeFiles: () => described,
    findWarnings: (isSent = () => true) => [
      ...skipped.findWarnings(),
      ...(isAlone ? warnings.map(({ warning }) => warning) : toNamed(warnings)),
      ...findLacking(lacking, listNamed(tables, union.names).filter(isSent)),
    ],
    close: () => undefined,
  }
}

/** Most files whose columns are named. */
const FILES_NAMED = 6

/** The columns of each file that not all files have; files with the same ones are listed as one. */
function listOfSome(
  heads: readonly { name: string }[],
  tables: readonly { columns: readonly string[]; own: number }[],
): { file: string; columns: readonly string[] }[] {
  const names = tables.map(({ columns, own }) => columns.slice(0, own))
  const ofAll = new Set(names[0]?.filter((name) => names.every((other) => other.includes(name))))
  const groups = Map.groupBy(heads.keys(), (index) =>
    JSON.stringify((names[index] ?? []).filter((name) => !ofAll.has(name))),
  )
  return [...groups].slice(0, FILES_NAMED).flatMap(([columns, indexes]) => {
    const own = JSON.parse(columns) as string[]
    if (own.length === 0) return []
    return [{ file: toNames(indexes.map((index) => heads[index]?.name ?? '')), columns: own }]
  })
}

/** A warning of one file, and the rows of the file in the source. */
interface FileWarning {
  file: string
  warning: SourceWarning & { rows: number }
  range: RowRange
}

/** The columns that a file has, and its rows in the source. */
interface FileColumns {
  columns: readonly string[]
  range: RowRange
}

/** What is kept from the first file's reader. */
function toFirst(reader: SourceReader) {
  const { workbook, ownExport = null, quoting, likelyHeaderRow = null } = reader
  const { encodingBy, delimiterBy, encodingReadings = [] } = reader
  return { workbook, ownExport, quoting, likelyHeaderRow, encodingBy, delimiterBy, encodingReadings }
}

function toHead({ name, path }: TableFile, reader: SourceReader, rows: FileRows | undefined): FileHead {
  const { format, sizeBytes, encoding, delimiter, workbook, encodingReadings = [] } = reader
  return {
    name,
    path,
    format,
    sizeBytes,
    encoding,
    delimiter,
    sheet: workbook?.sheet ?? null,
    ...(encodingReadings.length > 0 && { encodingReadings }),
    ...(rows !== undefined && { rows }),
  }
}

/** Number of a table's own columns, which come before the derived ones. */
function countOwn({ columns, nestedColumns = [] }: SourceReader): number {
  return columns.length - nestedColumns.length
}

/** Throws for a file that shares no column with the earlier ones, which must be something else. */
function refuseStranger({ path }: TableFile, reader: SourceReader, union: ColumnUnion): void {
  const { columns } = reader
  if (union.names.length === 0 || union.hasAny(columns, countOwn(reader))) return
  throw new SluiceError({
    id: 'no_shared_column',
    source: path,
    ownNames: [...columns],
    namesBefore: [...union.names],
  })
}

/** The cells of a row without trailing empty ones, which the same table may lack in another format. */
function toContent({ cells }: SourceRow): string {
  const filled = cells.findLastIndex((cell) => cell !== '') + 1
  return `${cells.slice(0, filled).join('\x1f')}\x1e`
}

/** Throws for a file with the rows of an earlier one, in whatever format: they would be sent twice. */
function refuseCopy({ path, name }: TableFile, content: string, known: Map<string, string>): void {
  const copyOf = known.get(content)
  if (copyOf !== undefined) throw new SluiceError({ id: 'source_named_twice', source: path, copyOf })
  known.set(content, name)
}

function moveRow(read: SourceRow, by: number): SourceRow {
  if (by === 0) return read
  const { row, problems } = read
  return { ...read, row: row + by, problems: problems.map((problem) => ({ ...problem, row: row + by })) }
}

/** Adds the file to places; the first row of each file has a place. */
function movePlaces(
  { places = [] }: SourceBatch,
  { file, rowsBefore, isFirst }: { file: string | undefined; rowsBefore: number; isFirst: boolean },
): RowPlace[] {
  const all = isFirst && places[0]?.row !== 1 ? [{ row: 1, sheetRow: 1, line: null }, ...places] : places
  return all.map((place) => ({
    ...place,
    row: place.row + rowsBefore,
    ...(file !== undefined && { file }),
  }))
}

/** Warnings of single files, with the files named; equal warnings of several files become one. */
function toNamed(found: readonly FileWarning[]): SourceWarning[] {
  const alike = Map.groupBy(found, ({ warning: { rows: _, ...cause } }) => JSON.stringify(cause))
  return [...alike.values()].flatMap((same): SourceWarning[] => {
    const [first] = same
    if (first === undefined) return []
    const rows = same.reduce((sum, { warning }) => sum + warning.rows, 0)
    const warning = { ...first.warning, rows, among: same.map(({ range }) => range) }
    // Empty records need no action; the description of each file counts them.
    return [
      warning.code === 'empty_records' ? warning : nameFiles(warning, toNames(same.map(({ file }) => file))),
    ]
  })
}

/** The columns that a table names: surplus cells of a row are not columns that other tables lack. */
function listNamed(
  tables: readonly { columns: readonly string[]; header: readonly string[] | null }[],
  names: readonly string[],
): string[] {
  const named = new Set(
    tables.flatMap(({ columns, header }) =>
      columns.filter((_, index) => header === null || (header[index] ?? '') !== ''),
    ),
  )
  return names.filter((name) => named.has(name))
}

/** Warns of files without cells in some columns, grouping those that lack the same ones. */
function findLacking(files: ReadonlyMap<string, FileColumns>, names: readonly string[]): SourceWarning[] {
  const groups = Map.groupBy(files, ([, { columns }]) => {
    const own = new Set(columns)
    return names.filter((name) => !own.has(name)).join(', ')
  })
  groups.delete('')
  return [...groups].map(([columns, lackers]) => ({
    severity: 'warning' as const,
    code: 'missing_columns' as const,
    args: {
      columns,
      files: toNames(lackers.map(([name]) => name)),
      ...findOthers(
        lackers.map(([, one]) => one.columns),
        files,
      ),
    },
    rows: lackers.reduce((sum, [, { range }]) => sum + range.to - range.from + 1, 0),
    among: lackers.map(([, { range }]) => range),
  }))
}

/** Columns that all of some files have and no other file: perhaps the missing ones under other names. */
function findOthers(
  own: readonly (readonly string[])[],
  files: ReadonlyMap<string, FileColumns>,
): { others?: string } {
  const elsewhere = [...files.values()].filter(({ columns }) => !own.includes(columns))
  const others = (own[0] ?? []).filter(
    (name) =>
      own.every((columns) => columns.includes(name)) &&
      elsewhere.every(({ columns }) => !columns.includes(name)),
  )
  return others.length === 0 || others.length > NAMED_MAX ? {} : { others: others.join(', ') }
}
