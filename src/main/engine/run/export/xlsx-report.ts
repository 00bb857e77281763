import { Readable } from 'node:stream'
import yazl from 'yazl'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'
import { type ReportOptions, readTableCells, toTableNames } from './csv-report.ts'

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
  const names = toTableNames(options)
  if (names.length > MAX_SHEET_COLUMNS) {
    throw createSheetLimitError(`it has ${names.length} columns`, `a sheet takes ${MAX_SHEET_COLUMNS}`)
  }
  const letters = names.map((_, index) => toColumnLetters(index))
  yield toSheetStart(names.length) + toSheetRow(1, names, letters, CELL_STYLE.header)
  let number = 1
  for await (const page of pages) {
    let xml = ''
    for (const result of page) {
      number += 1
      if (number > maxRows) {
        throw createSheetLimitError(
          `it has more than ${maxRows - 1} rows`,
          `a sheet takes ${maxRows} with its header`,
        )
      }
      xml += toSheetRow(number, readTableCells(options, result, cutToCell), letters, CELL_STYLE.text)
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

/** Most rows of a sheet, the header among them. */
const MAX_SHEET_ROWS = 1_048_576

/** Most columns of a sheet. */
const MAX_SHEET_COLUMNS = 16_384

/** Longest text of a cell, UTF-16 code units. */
const MAX_CELL_CHARACTERS = 32_767

/** The error of a report that does not fit into a sheet. */
function createSheetLimitError(found: string, limit: string): SluiceError {
  return new SluiceError({ id: 'export_over_xlsx_limit', found, limit })
}

/** Name of a column, from 0: A, B, …, Z, AA, … */
function toColumnLetters(index: number): string {
  let letters = ''
  for (let left = index + 1; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(0x41 + ((left - 1) % 26)) + letters
  }
  return letters
}

// What XML cannot hold, and a text that would be read as the escape of such a character.
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its job
const UNWRITABLE = /[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g
const MARKUP = /[&<>]/g
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A text as it stands in a cell's XML: markup escaped, and as `_x000D_` what XML would change or refuse. */
function toSheetText(text: string): string {
  return text
    .toWellFormed()
    .replace(UNWRITABLE, (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(MARKUP, (one) => ENTITIES[one] ?? one)
}

/** One row of a sheet; every cell is text in the style, empty ones are left out. Throws `BAD_USAGE` for a long one. */
function toSheetRow(
  number: number,
  cells: readonly string[],
  letters: readonly string[],
  style: number,
): string {
  let xml = `<row r="${number}">`
  for (const [index, cell] of cells.entries()) {
    if (cell === '') continue
    const reference = `${letters[index] ?? toColumnLetters(index)}${number}`
    if (cell.length > MAX_CELL_CHARACTERS) {
      throw createSheetLimitError(
        `cell ${reference} has ${cell.length} characters`,
        `a cell takes at most ${MAX_CELL_CHARACTERS}`,
      )
    }
    xml += `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${toSheetText(cell)}</t></is></c>`
  }
  return `${xml}</row>`
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Name of the part that holds the rows. */
const SHEET_PART = 'xl/worksheets/sheet1.xml'

/** Styles of cells by their number in {@link WORKBOOK_PARTS}: text that stays text when it is edited. */
const CELL_STYLE = { text: 1, header: 2 } as const

/** The parts of a report's workbook next to its sheet, by name. */
const WORKBOOK_PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `${DECLARATION}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/${SHEET_PART}" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/><Override PartName="/docProps/app.xml" ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/></Types>`,
  '_rels/.rels': `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${OFFICE}/extended-properties" Target="docProps/app.xml"/></Relationships>`,
  // Tells a reader of sources that the cells carry no formula guard.
  'docProps/app.xml': `${DECLARATION}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Application>Sluice</Application></Properties>`,
  'xl/workbook.xml': `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Results" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `${DECLARATION}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
}

/** What stands in the sheet's part before its rows: the header stays in sight, and every column is text. */
function toSheetStart(columns: number): string {
  return `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="${columns}" width="18" style="${CELL_STYLE.text}" customWidth="1"/></cols><sheetData>`
}

/** What stands behind the rows: numbers that are text are meant to be. */
function toSheetEnd(lastCell: string): string {
  return `</sheetData><ignoredErrors><ignoredError sqref="A1:${lastCell}" numberStoredAsText="1"/></ignoredErrors></worksheet>`
}
