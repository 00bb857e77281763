import { Readable } from 'node:stream'
import yazl from 'yazl'
import type { ExportRow } from '../../../../shared/run/results.ts'
import type { ReportOptions } from './csv-report.ts'
import { createRowWidthError } from './row-width-error.ts'
import {
  createSheetLimitError,
  MAX_CELL_CHARACTERS,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  toColumnLetters,
  toSheetRow,
} from './sheet-xml.ts'
import { toSourceNames } from './source-names.ts'
import { CELL_STYLE, SHEET_PART, toSheetEnd, toSheetStart, WORKBOOK_PARTS } from './workbook-parts.ts'

type Pages = Iterable<readonly ExportRow[]> | AsyncIterable<readonly ExportRow[]>

/**
 * A report as an Excel workbook of one sheet: the source's columns and cells as they were, then the appended ones,
 * every cell as text, so that leading zeros and long numbers live and nothing is run as a formula; the header stays
 * in sight. Yields the file piece by piece, in memory that does not grow with it.
 *
 * What the service said is cut to what a cell takes, and says so. Throws `BAD_USAGE` where rows, columns or a cell of the
 * source are more than a sheet takes; `maxRows` counts the header.
 */
export async function* writeXlsx(
  options: ReportOptions,
  pages: Pages,
  maxRows = MAX_SHEET_ROWS,
): AsyncGenerator<Buffer, void, undefined> {
  const zip = new yazl.ZipFile()
  const output = zip.outputStream as Readable
  for (const [name, xml] of Object.entries(WORKBOOK_PARTS)) zip.addBuffer(Buffer.from(xml), name)
  const sheet = Readable.from(toSheetXml(options, pages, maxRows), {
    objectMode: false,
    highWaterMark: PIECE_BYTES,
  })
  for (const emitter of [sheet, zip]) emitter.on('error', (error: Error) => output.destroy(error))
  zip.addReadStream(sheet, SHEET_PART, { compressionLevel: COMPRESSION_LEVEL })
  zip.end()
  try {
    yield* output as AsyncIterable<Buffer>
  } finally {
    sheet.destroy()
  }
}

const PIECE_BYTES = 256 * 1024
/** Twice as fast as the usual 6, for files a tenth larger. */
const COMPRESSION_LEVEL = 3

async function* toSheetXml(
  options: ReportOptions,
  pages: Pages,
  maxRows: number,
): AsyncGenerator<string, void, undefined> {
  const { columns, appended } = options
  const names = [...toSourceNames(options), ...appended.map(({ name }) => name)]
  if (names.length > MAX_SHEET_COLUMNS) {
    throw createSheetLimitError(`it has ${names.length} columns`, `a sheet takes ${MAX_SHEET_COLUMNS}`)
  }
  const letters = names.map((_, index) => toColumnLetters(index))
  yield toSheetStart(names.length) + toSheetRow(1, names, letters, CELL_STYLE.header)
  let number = 1
  for await (const page of pages) {
    let xml = ''
    for (const result of page) {
      const { cells } = result
      if (cells.length > columns.length) throw createRowWidthError(result.row, cells.length, columns.length)
      number += 1
      if (number > maxRows) {
        throw createSheetLimitError(
          `it has more than ${maxRows - 1} rows`,
          `a sheet takes ${maxRows} with its header`,
        )
      }
      const padding = Array<string>(columns.length - cells.length).fill('')
      const own = appended.map(({ read }) => cutToCell(read(result)))
      xml += toSheetRow(number, [...cells, ...padding, ...own], letters, CELL_STYLE.text)
    }
    yield xml
  }
  yield toSheetEnd(`${letters.at(-1)}${number}`)
}

function cutToCell(text: string): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text
  const mark = `… (cut, ${text.length} characters)`
  return text.slice(0, MAX_CELL_CHARACTERS - mark.length) + mark
}
