import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { TableColumn } from '../../../../shared/run/choose-columns.ts'
import type { ExportColumn } from '../../../../shared/run/export-columns.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'
import { type ReportOptions, refuseTooWide, toTableNames } from './csv-report.ts'
import { ParquetColumn, type ParquetValue } from './parquet-column.ts'

/** The column that has letters if records are split. */
const ROW_COLUMN = 'sluice_row'

/** A row group is written at this many rows, or this much text, UTF-16 code units. */
const GROUP_ROWS = 10_000
const GROUP_CHARACTERS = 16 * 1024 * 1024

/** How a column's values are stored, and the conversion of a cell; undefined if it does not fit. */
const TYPES: Record<
  NonNullable<ExportColumn['type']> | 'text',
  { element: Omit<SchemaElement, 'name'>; toValue: (cell: string | number) => ParquetValue | undefined }
> = {
  text: { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, toValue: String },
  integer: {
    element: { type: 'INT32' },
    toValue: (cell) => (Number.isInteger(cell) ? toNumber(cell) : undefined),
  },
  number: { element: { type: 'DOUBLE' }, toValue: toNumber },
  boolean: { element: { type: 'BOOLEAN' }, toValue: (cell) => ({ true: true, false: false })[cell] },
  timestamp: {
    element: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
    toValue: (cell) => toNumber(Date.parse(String(cell))),
  },
}

function toNumber(cell: string | number): number | undefined {
  return typeof cell === 'number' && Number.isFinite(cell) ? cell : undefined
}

/**
 * A report as a Parquet file, a group of rows at a time: the source's cells as texts, ours with their types.
 * Inapplicable values are null, as are cells that a source row lacks or has as null. Columns have distinct
 * names even if lossless, since readers need them. Statistics that would let readers skip groups are left
 * out: those of texts would be in another order than readers expect.
 */
export async function* writeParquet(
  options: ReportOptions,
  pages: AsyncIterable<readonly ExportRow[]>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const names = toTableNames({ ...options, lossless: false })
  const columns = options.table.map((column, index) => {
    const { element, read } = createReader(column, options)
    const named = { name: names[index] ?? '', repetition_type: 'OPTIONAL' as const, ...element }
    return { element: named, read, values: new ParquetColumn(named, GROUP_ROWS) }
  })
  const writer = new ByteWriter()
  const schema = [{ name: 'row', num_children: columns.length }, ...columns.map(({ element }) => element)]
  const parquet = new ParquetWriter({ writer, schema })
  const take = () => {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }
  let [rows, characters] = [0, 0]
  const writeGroup = () => {
    if (rows > 0) {
      const start = writer.offset
      const chunks = columns.map(({ values }) => values.write(writer))
      const sizes = chunks.map(({ meta_data: meta }) => meta?.total_uncompressed_size ?? 0n)
      const total = sizes.reduce((sum, size) => sum + size, 0n)
      parquet.row_groups.push({
        columns: chunks,
        num_rows: BigInt(rows),
        total_byte_size: total,
        total_compressed_size: BigInt(writer.offset - start),
      })
      parquet.num_rows += BigInt(rows)
    }
    rows = 0
    characters = 0
    return take()
  }
  for await (const page of pages) {
    for (const row of page) {
      refuseTooWide(options, row)
      for (const { read, values } of columns) {
        const value = read(row)
        if (typeof value === 'string') characters += value.length
        values.add(value)
      }
      rows += 1
      if (rows >= GROUP_ROWS || characters >= GROUP_CHARACTERS) yield writeGroup()
    }
  }
  yield writeGroup()
  parquet.finish()
  yield take()
}

function createReader(
  column: TableColumn,
  { rowsHaveLetters = false }: ReportOptions,
): {
  element: Omit<SchemaElement, 'name'>
  read: (row: ExportRow) => ParquetValue | null
} {
  if (typeof column === 'number') return { element: TYPES.text.element, read: (row) => readCell(row, column) }
  const { name } = column
  const { element, toValue } =
    TYPES[rowsHaveLetters && name === ROW_COLUMN ? 'text' : (column.type ?? 'text')]
  return {
    element,
    read(row) {
      const cell = column.read(row)
      if (cell === '') return null
      const value = toValue(cell)
      if (value === undefined)
        throw new SluiceError({ id: 'export_value_untyped', name, value: String(cell) })
      return value
    },
  }
}

/** A cell of the source; null if a JSON row has null or lacks the key, or if a row is short. */
function readCell({ cells, kinds }: ExportRow, column: number): string | null {
  const kind = kinds?.[column]
  return kind === '-' || kind === 'n' ? null : (cells[column] ?? null)
}
