import { buffer } from 'node:stream/consumers'
import yazl from 'yazl'

/** Packs parts into a zip archive. */
export async function createZip(parts: Record<string, string | Uint8Array>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(parts)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return buffer(zip.outputStream)
}

/** One sheet of a hand-made workbook. */
interface HandmadeSheet {
  name: string
  /** XML inside `sheetData`. */
  rows: string
  /** XML before and after `sheetData`. */
  before?: string
  after?: string
  state?: 'hidden' | 'veryHidden'
}

/** A hand-made workbook, part by part. */
export interface HandmadeWorkbook {
  sheets: HandmadeSheet[]
  /** XML inside `sst`. */
  strings?: string
  /** Codes of number formats; style 1 has the first. */
  formats?: readonly (string | number)[]
  is1904?: boolean
  /** Replaces or adds parts by name. */
  parts?: Record<string, string | Uint8Array>
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

const toRelations = (relations: readonly { type: string; target: string }[]) =>
  `${DECLARATION}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations
    .map(
      ({ type, target }, i) => `<Relationship Id="rId${i + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`

const escapeAttribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** A number is a built-in format, a text is the code of the workbook's own. */
function toStyles(formats: readonly (string | number)[]): string {
  const codes = formats.flatMap((format, i) =>
    typeof format === 'number'
      ? []
      : [`<numFmt numFmtId="${164 + i}" formatCode="${escapeAttribute(format)}"/>`],
  )
  const styles = [
    '<xf numFmtId="0"/>',
    ...formats.map((one, i) => `<xf numFmtId="${typeof one === 'number' ? one : 164 + i}"/>`),
  ]
  return `${DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="${codes.length}">${codes.join('')}</numFmts><cellStyleXfs count="1"><xf numFmtId="9"/></cellStyleXfs><cellXfs count="${styles.length}">${styles.join('')}</cellXfs></styleSheet>`
}

/** Makes the bytes of a workbook as spreadsheet programs write it. */
export function createWorkbook(workbook: HandmadeWorkbook): Promise<Buffer> {
  return createZip(toWorkbookParts(workbook))
}

/** The parts of a workbook by name. */
export function toWorkbookParts(workbook: HandmadeWorkbook): Record<string, string | Uint8Array> {
  const { sheets, strings, formats = [], is1904 = false, parts = {} } = workbook
  const list = sheets.map(
    ({ name, state = 'visible' }, i) =>
      `<sheet name="${escapeAttribute(name)}" sheetId="${i + 1}" state="${state}" r:id="rId${i + 1}"/>`,
  )
  return {
    '[Content_Types].xml': `${DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': toRelations([{ type: 'officeDocument', target: 'xl/workbook.xml' }]),
    'xl/workbook.xml': `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr${is1904 ? ' date1904="true"' : ''}/><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': toRelations([
      ...sheets.map((_, i) => ({ type: 'worksheet', target: `worksheets/sheet${i + 1}.xml` })),
      { type: 'styles', target: '/xl/styles.xml' },
      ...(strings === undefined ? [] : [{ type: 'sharedStrings', target: 'sharedStrings.xml' }]),
    ]),
    'xl/styles.xml': toStyles(formats),
    ...(strings === undefined
      ? {}
      : { 'xl/sharedStrings.xml': `${DECLARATION}<sst xmlns="${MAIN}">${strings}</sst>` }),
    ...Object.fromEntries(
      sheets.map(({ rows, before = '<dimension ref="A1"/>', after = '' }, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        `${DECLARATION}<worksheet xmlns="${MAIN}" xmlns:r="${OFFICE}">${before}<sheetData>${rows}</sheetData>${after}</worksheet>`,
      ]),
    ),
    ...parts,
  }
}
