import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { failReadingAny, type ReadOptions, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook, createZip, type HandmadeWorkbook, toWorkbookParts } from './workbook-files.ts'

const SHEET = 'xl/worksheets/sheet1.xml'
const ROWS = '<row><c t="inlineStr"><is><t>a</t></is></c></row><row><c><v>1</v></c></row>'

async function failReading(content: Uint8Array | string, name = 'book.xlsx', options: ReadOptions = {}) {
  return failReadingAny(writeSource(content, name), options)
}

const failWorkbook = async (
  rows: string,
  rest: Omit<HandmadeWorkbook, 'sheets'> = {},
  options: ReadOptions = {},
) => failReading(await createWorkbook({ sheets: [{ name: 'S', rows }], ...rest }), 'book.xlsx', options)

const toSheet = (rows: string, before = '') =>
  `${before}<worksheet><sheetData>${rows}</sheetData></worksheet>`

/** Offsets of a part's sizes, packed and unpacked, and its checksum in the archive's list of parts. */
function findEntry(zip: Buffer, name: string): { checksum: number; unpackedSize: number } {
  const at = zip.lastIndexOf(name) - 46
  expect(zip.readUInt32LE(at)).toBe(0x02014b50)
  return { checksum: at + 16, unpackedSize: at + 24 }
}

test('a truncated workbook is reported, wherever it was cut', async () => {
  const whole = await createWorkbook({ sheets: [{ name: 'S', rows: ROWS.repeat(1) }] })
  for (const share of [0.1, 0.5, 0.9, 0.999]) {
    const cut = whole.subarray(0, Math.floor(whole.length * share))
    expect(await failReading(cut)).toMatch(
      /the workbook is damaged or cut short: .* \| Copy or download it again/,
    )
  }
})

test('changed bytes in a workbook are detected before its rows are used', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `<row><c><v>${(i * 7919) % 10_007}</v></c></row>`).join(
    '',
  )
  const zip = await createWorkbook({ sheets: [{ name: 'S', rows }] })
  const { checksum } = findEntry(zip, SHEET)
  const wrongChecksum = Buffer.from(zip)
  wrongChecksum.writeUInt32LE(1, checksum)
  expect(await failReading(wrongChecksum)).toContain(`the checksum of ${SHEET} does not fit its content`)
  const start = zip.indexOf(SHEET) + SHEET.length
  const flipped = Buffer.from(zip)
  for (let at = start + 3000; at < start + 3040; at += 1) flipped[at] = (flipped[at] ?? 0) ^ 0x5a
  expect(await failReading(flipped)).toContain('the workbook is damaged or cut short')
})

test('a part that unpacks to more than its stated size is stopped at that size', async () => {
  const zip = await createWorkbook({ sheets: [{ name: 'S', rows: `${ROWS}${' '.repeat(5_000_000)}` }] })
  zip.writeUInt32LE(1000, findEntry(zip, SHEET).unpackedSize)
  expect(await failReading(zip)).toContain(`${SHEET} is not as long as the file says`)
})

test('a zip bomb is refused before it is unpacked', async () => {
  const zip = await createWorkbook({ sheets: [{ name: 'S', rows: ROWS }] })
  zip.writeUInt32LE(3_000_000_000, findEntry(zip, SHEET).unpackedSize)
  expect(await failReading(zip)).toMatch(
    /the part xl\/worksheets\/sheet1\.xml unpacks to 2,861 MiB, [\d,]+ times its packed size; parts over 4 MiB may unpack to at most 200 times theirs/,
  )
  const styles = await createWorkbook({ sheets: [{ name: 'S', rows: ROWS }] })
  const { unpackedSize } = findEntry(styles, 'xl/styles.xml')
  styles.writeUInt32LE(200_000_000, unpackedSize)
  styles.writeUInt32LE(2_000_000, unpackedSize - 4)
  expect(await failReading(styles)).toContain('unpacks to 191 MiB; at most 128 MiB are read')
})

test('XML that is more than data, or malformed, is refused', async () => {
  const withSheet = (xml: string) => failWorkbook('', { parts: { [SHEET]: xml } })
  expect(await withSheet(toSheet(ROWS, '<!DOCTYPE w [<!ENTITY e "x">]>'))).toContain(
    'the sheet declares a document type',
  )
  expect(await withSheet(toSheet('<row><c><v>&e;</v></c></row>'))).toMatch(/not well-formed XML \(.*entity/)
  expect(await withSheet(toSheet('<row><c></row>'))).toContain('the sheet is not well-formed XML')
  expect(await withSheet('<worksheet><sheetData><row><c><v>1</v></c></row>')).toContain(
    'the sheet ends before its last row',
  )
  expect(await withSheet('no XML at all')).toContain('the sheet is not well-formed XML')
  expect(await failWorkbook('', { parts: { [SHEET]: Buffer.from([0x3c, 0xff, 0xff]) } })).toContain(
    'bytes that are not text',
  )
})

test('an endless value is not held in memory', async () => {
  const text = Array.from({ length: 500_000 }, (_, i) => (i * i).toString(36))
    .join('')
    .repeat(2)
  expect(await failWorkbook(`<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`)).toContain(
    'the sheet has a value of more than 2 MiB',
  )
  expect(
    await failWorkbook('<row><c t="s"><v>0</v></c></row>', { strings: `<si><t>${text}</t></si>` }),
  ).toContain('the part of shared texts has a value of more than 2 MiB')
})

test('a row that grows out of one long text is named', async () => {
  const cells = '<c t="s"><v>0</v></c>'.repeat(300)
  const failure = await failWorkbook(`${ROWS}<row>${cells}</row>`, {
    strings: `<si><t>${'x'.repeat(30_000)}</t></si>`,
  })
  expect(failure).toContain('row 3 of the sheet has more than 8,388,608 characters (8 MiB)')
})

test('cells, rows and texts at impossible positions are refused', async () => {
  expect(await failWorkbook('<row r="5"/><row r="4"/>')).toContain('row 4 follows row 5')
  expect(await failWorkbook('<row r="1048577"/>')).toContain('row 1048577 follows row 0')
  expect(await failWorkbook('<row><c r="XFE1"><v>1</v></c></row>')).toContain('row 1 has a cell "XFE1"')
  expect(await failWorkbook('<row><c r="1"><v>1</v></c></row>')).toContain('row 1 has a cell "1"')
  expect(await failWorkbook('<row><c t="s"><v>7</v></c></row>', { strings: '<si><t>x</t></si>' })).toContain(
    'a cell refers to shared text 7, and there is none',
  )
  expect(await failWorkbook('<row><c t="s"><v>x</v></c></row>')).toContain('refers to shared text NaN')
})

test('a part that the archive has twice is refused, since programs would read one or the other', async () => {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(toWorkbookParts({ sheets: [{ name: 'S', rows: ROWS }] }))) {
    zip.addBuffer(Buffer.from(content), name)
  }
  zip.addBuffer(Buffer.from('<worksheet/>'), 'xl/worksheets/Sheet1.xml')
  zip.end()
  const path = writeSource(await buffer(zip.outputStream), 'book.xlsx')
  expect(await failReadingAny(path)).toContain('it has the part xl/worksheets/Sheet1.xml twice')
})

test('a long shared text that is repeated until it would fill a disk is refused', async () => {
  onlyInLongForm()
  const strings = `<si><t>${'x'.repeat(1024 * 1024)}</t></si>`
  const path = writeSource(
    await createWorkbook({
      sheets: [{ name: 'S', rows: '<row><c t="s"><v>0</v></c></row>'.repeat(20_000) }],
      strings,
    }),
    'book.xlsx',
  )
  expect(await failReadingAny(path, { header: false })).toContain('shared texts are repeated so often')
})

test('two distant corners do not fill the disk with empty cells', async () => {
  const rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows }] }), 'book.xlsx')
  const reader = await openSource({ path, header: false })
  const read: number[] = []
  for await (const batch of reader.batches()) read.push(...batch.rows.map(({ row }) => row))
  expect(read).toEqual([1, 2])
  expect(reader.emptyRecords).toBe(1_048_574)
  reader.close()
})

test('a workbook without the parts it names is damaged', async () => {
  const withRelations = (target: string) =>
    failWorkbook(ROWS, {
      parts: {
        'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="${target}"/></Relationships>`,
      },
    })
  expect(await withRelations('gone.xml')).toContain('it has no part xl/gone.xml')
  expect(await withRelations('../../../etc/passwd')).toContain('it has no part ../../etc/passwd')
})

/** A compound file with these names in its directory, like old Office documents and encrypted new ones. */
function createCompoundFile(...names: string[]): Buffer {
  const bytes = Buffer.alloc(4096)
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes)
  bytes.writeUInt16LE(9, 30)
  bytes.writeUInt32LE(1, 48)
  for (const [index, name] of names.entries()) bytes.write(name, 1024 + index * 128, 'utf16le')
  return bytes
}

test.each([
  [
    'book.xlsx',
    createCompoundFile('Root Entry', 'EncryptionInfo', 'EncryptedPackage'),
    /protected with a password \| .*without a password/,
  ],
  [
    'book.xls',
    createCompoundFile('Root Entry', 'Workbook'),
    /found an old Excel workbook \(\.xls\) \| .*save it as an Excel workbook/,
  ],
  ['book.xls', createCompoundFile('Root Entry', 'WordDocument'), /found an old Office document/],
  [
    'book.xls',
    Buffer.from('<html><table><tr><td>1</td></tr></table></html>'),
    /found a web page or XML document/,
  ],
  [
    'book.xlsx',
    Buffer.from('id,text\n1,hello\n'),
    /found text or another kind of file \| .*rename it to end in \.csv/,
  ],
  ['book.xlsx', Buffer.from('%PDF-1.7'), /found a PDF document/],
  ['book.xlsx', Buffer.from('PK'), /damaged or cut short/],
])('%s that is not a workbook is recognised', async (name, content, message) => {
  expect(await failReading(content, name)).toMatch(message)
})

test.each([4, 8, 31, 35, 51, 52, 511])('an old workbook of %i bytes cannot be recognised', async (bytes) => {
  const content = createCompoundFile('Root Entry', 'Workbook').subarray(0, bytes)
  expect(await failReading(content, 'book.xls')).toMatch(/found an old Office document/)
})

test.each([
  ['book.xlsb', ['xl/workbook.bin', '_rels/.rels'], 'found a binary Excel workbook (.xlsb)'],
  ['book.ods', ['mimetype', 'content.xml'], 'found an OpenDocument file (.ods)'],
  ['book.numbers', ['Index/Document.iwa'], 'found a Numbers document'],
  ['letter.xlsx', ['word/document.xml', '_rels/.rels'], 'found a Word document (.docx)'],
  ['slides.xlsx', ['ppt/presentation.xml', '_rels/.rels'], 'found a PowerPoint presentation (.pptx)'],
  ['photos.xlsx', ['a.jpg'], 'found a zip archive without a workbook in it'],
])('%s is named with what to do', async (name, parts, message) => {
  const zip = await createZip(Object.fromEntries(parts.map((part) => [part, 'x'])))
  expect(await failReading(zip, name)).toContain(message)
})

test.each(['rows.csv', 'rows.tsv', 'rows.jsonl'])('a workbook named %s is not read as text', async (name) => {
  const failure = await failReading(await createWorkbook({ sheets: [{ name: 'S', rows: ROWS }] }), name)
  expect(failure).toMatch(/expected text, found an Excel workbook .* \| .*rename it to end in \.xlsx/)
})

test('a workbook under another name is read if the format says so', async () => {
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows: ROWS }] }), 'download')
  expect((await readAnySource(path, { format: 'xlsx' })).cells).toEqual([['1']])
})

test('a file is released if it cannot be opened as a workbook', async () => {
  for (let round = 0; round < 50; round += 1) {
    await expect(openSource({ path: writeSource('text', 'a.xlsx'), header: true })).rejects.toThrow(
      'another kind of file',
    )
  }
})
