import { expect, test } from 'vitest'
import { failReadingAny, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook, type HandmadeWorkbook } from './workbook-files.ts'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const STRICT = 'http://purl.oclc.org/ooxml/spreadsheetml/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const X14 = 'xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"'
const X15 = 'xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main"'
const MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
const SHEET = 'xl/worksheets/sheet1.xml'

/** Reads the cells of a workbook with one sheet of the given rows, or with its own parts. */
async function readCells(rows: string, rest: Omit<HandmadeWorkbook, 'sheets'> = {}): Promise<string[][]> {
  const content = await createWorkbook({ sheets: [{ name: 'S', rows }], ...rest })
  return (await readAnySource(writeSource(content, 'book.xlsx'), { header: false })).cells
}

const toInline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`

/** A cell with 29 February 2024 in the workbook's first own style. */
const DATE = '<row><c s="1"><v>45351</v></c></row>'
const DATE_FORMAT = '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts>'
const DATE_STYLES = '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>'

const readDate = (styles: string, namespaces = `xmlns="${MAIN}"`) =>
  readCells(DATE, { parts: { 'xl/styles.xml': `<styleSheet ${namespaces}>${styles}</styleSheet>` } })

test.each([
  ['of conditional formats', '', '<dxfs><dxf><numFmt numFmtId="164" formatCode="0%"/></dxf></dxfs>'],
  [
    'of an extension',
    '',
    `<extLst><ext uri="{EB79DEF2}"><x14:dxfs ${X14}><x14:dxf><x14:numFmt numFmtId="164" formatCode="0%"/></x14:dxf></x14:dxfs></ext></extLst>`,
  ],
  [
    'of an extension that uses the elements of workbooks',
    '',
    '<extLst><ext uri="{A}"><numFmts><numFmt numFmtId="164" formatCode="0%"/></numFmts></ext></extLst>',
  ],
  [
    'in another namespace',
    '',
    '<o:numFmts xmlns:o="urn:other"><o:numFmt numFmtId="164" formatCode="0%"/></o:numFmts>',
  ],
  ['of cells’ styles', '<cellStyleXfs><xf numFmtId="9"/><xf numFmtId="9"/></cellStyleXfs>', ''],
  [
    'of cell formats in another namespace',
    '<o:cellXfs xmlns:o="urn:other"><o:xf numFmtId="9"/><o:xf numFmtId="9"/></o:cellXfs>',
    '',
  ],
])('a date is shown in its own format, not in one %s', async (_whose, before, after) => {
  expect(await readDate(DATE_FORMAT + before + DATE_STYLES + after)).toEqual([['2024-02-29']])
})

test('formats are found under any prefix, in strict workbooks and inside skipped elements', async () => {
  const prefixed = (DATE_FORMAT + DATE_STYLES).replaceAll(/<(\/?)/g, '<$1a:')
  const file = `<a:styleSheet xmlns:a="${STRICT}" xmlns="urn:other"><fonts><font/></fonts>${prefixed}</a:styleSheet>`
  expect(await readCells(DATE, { parts: { 'xl/styles.xml': file } })).toEqual([['2024-02-29']])
  const extended = DATE_STYLES.replaceAll(
    '"164"/>',
    '"164"><alignment/><extLst><ext><xf/></ext></extLst></xf>',
  )
  expect(await readDate(DATE_FORMAT + extended)).toEqual([['2024-02-29']])
})

const toChoices = (first: string, fallback: string, requires = 'x14') =>
  `<mc:AlternateContent ${MC} ${X14}><mc:Choice Requires="${requires}">${first}</mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent>`

test('of two ways to write the same, only the one without an extension is read', async () => {
  const format = (code: string) => `<numFmt numFmtId="164" formatCode="${code}"/>`
  const styles = (choices: string) => `<numFmts>${choices}</numFmts>${DATE_STYLES}`
  expect(await readDate(styles(toChoices(format('0%'), format('yyyy-mm-dd'))))).toEqual([['2024-02-29']])
  expect(
    await readDate(
      styles(toChoices(format('yyyy-mm-dd'), format('0%'), 'a')),
      `xmlns="${MAIN}" xmlns:a="${MAIN}"`,
    ),
  ).toEqual([['2024-02-29']])
  const row = (text: string) => `<row r="1">${toInline(text)}</row>`
  expect(await readCells(`${toChoices(row('new'), row('old'))}<row r="2">${toInline('next')}</row>`)).toEqual(
    [['old'], ['next']],
  )
})

/** Reads a workbook with `inside` as its list of sheets. */
const readListed = (inside: string, rows = DATE, root = `workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"`) =>
  readCells(rows, {
    formats: ['yyyy-mm-dd'],
    parts: { 'xl/workbook.xml': `<${root}>${inside}</${root.split(' ')[0]}>` },
  })

const SHEETS = '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'

test.each([
  ['x15', `<x15:workbookPr ${X15} chartTrackingRefBase="1"/>`],
  ['x14', `<x14:workbookPr ${X14} defaultImageDpi="32767"/>`],
  ['none', '<workbookPr/>'],
])(
  'dates that count from 1904 stay so beside an extension with the prefix %s',
  async (_prefix, extension) => {
    const extended = `<workbookPr date1904="1"/>${SHEETS}<extLst><ext uri="{7626C862}">${extension}</ext></extLst>`
    expect(await readListed(extended)).toEqual([['2028-03-01']])
    expect(await readListed(extended.replace('<workbookPr date1904="1"/>', ''))).toEqual([['2024-02-29']])
  },
)

test('dates that count from 1900 stay so beside an extension that counts from 1904', async () => {
  const extended = `<workbookPr/>${SHEETS}<extLst><ext uri="{A}"><workbookPr date1904="1"/></ext></extLst>`
  expect(await readListed(extended)).toEqual([['2024-02-29']])
})

test('only the list of sheets contains sheets, and relations of workbooks name their parts', async () => {
  const decoys = `<o:sheets xmlns:o="urn:other"><o:sheet name="A" r:id="rId1"/></o:sheets><extLst><ext><sheet name="B" r:id="rId1"/></ext></extLst>`
  const content = await createWorkbook({
    sheets: [{ name: 'S', rows: DATE }],
    parts: {
      'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:q="${OFFICE}" xmlns:o="urn:other">${decoys}<sheets><sheet name="S" o:id="rId9" q:id="rId1"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships" xmlns:o="urn:other"><o:Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/gone.xml"/><Relationship Id="rId0" Type="urn:other/styles" Target="gone.xml"/><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    },
  })
  const path = writeSource(content, 'book.xlsx')
  expect((await readAnySource(path, { header: false })).cells).toEqual([['45351']])
  expect(await failReadingAny(path, { sheet: 'A' })).toContain('Sheets: "S".')
})

test('cells are read where sheets have them, not from extensions or phonetic text', async () => {
  const cells = `<row r="1"><o:c xmlns:o="urn:other"><o:v>9</o:v></o:c><c><v>1</v><extLst><ext><v>2</v></ext></extLst></c>${toInline(
    'a</t><rPh sb="0" eb="1"><t>spoken</t></rPh><t>',
  )}<c t="inlineStr"><is><r><rPr><o:t xmlns:o="urn:other">no</o:t></rPr><t>rich</t></r></is></c></row>`
  expect(await readCells(`<extLst><ext><row r="7"><c><v>7</v></c></row></ext></extLst>${cells}`)).toEqual([
    ['1', 'a', 'rich'],
  ])
  const sheet = `<worksheet xmlns="${MAIN}"><o:sheetData xmlns:o="urn:other"><o:row><o:c><o:v>1</o:v></o:c></o:row></o:sheetData><sheetData>${DATE}</sheetData></worksheet>`
  expect(await readCells('', { formats: ['yyyy'], parts: { [SHEET]: sheet } })).toEqual([['2024']])
})

test('a shared text includes its own text and runs, not extensions or phonetic text', async () => {
  const strings = `<si><t>a</t><rPh sb="0" eb="1"><t>spoken</t></rPh><phoneticPr fontId="1"/><extLst><ext><t>no</t></ext></extLst></si><o:si xmlns:o="urn:other"><o:t>no</o:t></o:si><si><r><t>b</t></r><r><rPr/><t>c</t></r></si>`
  expect(await readCells('<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>', { strings })).toEqual([
    ['a', 'bc'],
  ])
})

test('a part whose content contradicts the workbook is damage, reported with its first bytes', async () => {
  const failWith = async (part: string) => {
    const content = await createWorkbook({ sheets: [{ name: 'S', rows: '' }], parts: { [SHEET]: part } })
    return failReadingAny(writeSource(content, 'book.xlsx'), { header: false })
  }
  expect(await failWith(`<styleSheet xmlns="${MAIN}"/>`)).toContain('the sheet begins with <styleSheet>')
  expect(await failWith('<worksheet xmlns="urn:other"><sheetData/></worksheet>')).toContain(
    'the sheet begins with <worksheet> in another namespace than those of workbooks',
  )
})
