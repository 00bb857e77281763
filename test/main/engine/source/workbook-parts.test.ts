import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { failReadingAny, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook, toWorkbookParts } from './workbook-files.ts'

const SHEET = 'xl/worksheets/sheet1.xml'

/** Letters that compress badly, the same for the same number. */
function mixLetters(number: number): string {
  let state = number + 1
  let letters = ''
  while (letters.length < 150) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    letters += state.toString(36)
  }
  return letters
}

const LETTERS = Array.from({ length: 1500 }, (_, number) => mixLetters(number))

const toInlineRow = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`

/** A sheet that takes several reads of the file, with more rows than are read to find its width. */
const INLINE = { sheets: [{ name: 'S', rows: LETTERS.map(toInlineRow).join('') }] }
const SHARED = {
  sheets: [{ name: 'S', rows: LETTERS.map((_, row) => `<row><c t="s"><v>${row}</v></c></row>`).join('') }],
  strings: LETTERS.map((text) => `<si><t>${text}</t></si>`).join(''),
}

test.each([
  ['cells', INLINE],
  ['shared texts', SHARED],
])(
  'a workbook whose %s take several reads of the file is read in full, every time',
  async (_what, workbook) => {
    const path = writeSource(await createWorkbook(workbook), 'book.xlsx')
    for (let round = 0; round < 5; round += 1) {
      const preview = await previewSource({ path, header: false }, 5)
      expect(preview.rows).toHaveLength(5)
      const { cells } = await readAnySource(path, { header: false })
      expect(cells.map(([text]) => text)).toEqual(LETTERS)
    }
  },
)

/** How often this process has a file open. */
function countOpen(path: string): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path
    } catch {
      return false
    }
  }).length
}

test.skipIf(process.platform !== 'linux')(
  'a workbook is released wherever its reading ends: in full, early, half-way, or at damage',
  async () => {
    const rows = LETTERS.map(toInlineRow).join('').repeat(5)
    const content = await createWorkbook({ sheets: [{ name: 'S', rows }] })
    const path = writeSource(content, 'book.xlsx')
    await previewSource({ path, header: false }, 500)
    expect(countOpen(path)).toBe(0)

    const reader = await openSource({ path, header: false })
    for await (const _batch of reader.batches()) break
    const batches = reader.batches()
    if (!(Symbol.asyncIterator in batches)) throw new Error('a workbook is read in turns')
    const abandoned = batches[Symbol.asyncIterator]()
    await abandoned.next()
    expect(countOpen(path)).toBe(1)
    reader.close()
    expect(countOpen(path)).toBe(0)
    const readOn = async () => {
      while ((await abandoned.next()).done !== true);
    }
    await expect(readOn()).rejects.toThrow('was closed')

    const damaged = Buffer.from(content)
    damaged.fill(0x5a, damaged.indexOf(SHEET) + 2000, damaged.indexOf(SHEET) + 2100)
    writeFileSync(path, damaged)
    expect(await failReadingAny(path, { header: false })).toContain('the workbook is damaged or cut short')
    expect(countOpen(path)).toBe(0)
    writeFileSync(path, content.subarray(0, content.length / 2))
    expect(await failReadingAny(path, { header: false })).toContain('the workbook is damaged or cut short')
    expect(countOpen(path)).toBe(0)
  },
)

/** Packs a workbook's parts differently from spreadsheet programs. */
function pack(add: (zip: yazl.ZipFile, content: Buffer, name: string) => void, isZip64 = false) {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(toWorkbookParts(INLINE))) add(zip, Buffer.from(content), name)
  zip.end({ forceZip64Format: isZip64, comment: '' })
  return buffer(zip.outputStream)
}

test.each([
  [
    'without compression',
    () => pack((zip, content, name) => zip.addBuffer(content, name, { compress: false })),
  ],
  [
    'with sizes of 64 bits',
    () => pack((zip, content, name) => zip.addBuffer(content, name, { forceZip64Format: true }), true),
  ],
  [
    'with sizes behind the bytes',
    () => pack((zip, content, name) => zip.addReadStream(Readable.from([content]), name)),
  ],
  [
    'without compression and with sizes behind the bytes',
    () =>
      pack((zip, content, name) => zip.addReadStream(Readable.from([content]), name, { compress: false })),
  ],
])('a workbook whose parts are stored %s is read', async (_how, packParts) => {
  const path = writeSource(await packParts(), 'book.xlsx')
  const { cells } = await readAnySource(path, { header: false })
  expect(cells.map(([text]) => text)).toEqual(LETTERS)
})

/** Where the entry of a part starts in the archive's list of parts. */
function findEntry(zip: Buffer, name: string): number {
  const at = zip.lastIndexOf(name) - 46
  expect(zip.readUInt32LE(at)).toBe(0x02014b50)
  return at
}

async function failChanged(change: (zip: Buffer, entry: number) => void): Promise<string> {
  const zip = await createWorkbook(INLINE)
  change(zip, findEntry(zip, SHEET))
  return failReadingAny(writeSource(zip, 'book.xlsx'), { header: false })
}

test.each([
  ['a part that is encrypted', 0x01, `the part ${SHEET} is encrypted`],
  ['a part with strong encryption', 0x41, 'protected with a password'],
])('a workbook with %s must be saved without a password', async (_how, flags, reason) => {
  const failure = await failChanged((zip, entry) => zip.writeUInt16LE(flags, entry + 8))
  expect(failure).toContain(reason)
  expect(failure).toContain('save it without a password')
})

test('a part that is packed differently, elsewhere or beyond the file’s end is damage, reported by name', async () => {
  expect(await failChanged((zip, entry) => zip.writeUInt16LE(12, entry + 10))).toContain(
    `${SHEET}: unsupported compression method: 12`,
  )
  expect(await failChanged((zip, entry) => zip.writeUInt32LE(1, entry + 42))).toContain(
    `${SHEET}: its bytes do not start where the list of parts says`,
  )
  expect(await failChanged((zip, entry) => zip.writeUInt32LE(zip.length, entry + 20))).toContain(
    `${SHEET}: its bytes go beyond the end of the file`,
  )
  expect(await failChanged((zip, entry) => zip.writeUInt32LE(zip.length, entry + 42))).toContain(
    `${SHEET}: its bytes go beyond the end of the file`,
  )
})

test('a workbook that changes while it is read is damage, and ends the reading', async () => {
  const content = await createWorkbook(INLINE)
  const path = writeSource(content, 'book.xlsx')
  const reader = await openSource({ path, header: false })
  writeFileSync(path, readFileSync(path).subarray(0, 100_000))
  const reading = (async () => {
    for await (const _batch of reader.batches());
  })()
  await expect(reading).rejects.toThrow('the workbook is damaged or cut short')
  reader.close()
})
