import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect, inject, test } from 'vitest'
import yazl from 'yazl'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { type HandmadeWorkbook, toWorkbookParts } from './workbook-files.ts'

/** Old space of the process that reads; a workbook of 30,000 rows fits. */
const HEAP_MB = 48

/** A part, or a function that writes a large one in chunks. */
type Part = string | Uint8Array | { pieces: () => Iterable<string> }

/** `count` numbered pieces between a head and a tail, a thousand at a time. */
function repeat(head: string, toPiece: (index: number) => string, count: number, tail: string): Part {
  return {
    *pieces() {
      yield head
      for (let at = 0; at < count; at += 1000) {
        yield Array.from({ length: Math.min(1000, count - at) }, (_, i) => toPiece(at + i)).join('')
      }
      yield tail
    },
  }
}

async function writeWorkbook(parts: Record<string, Part>, workbook: Partial<HandmadeWorkbook> = {}) {
  const path = join(createTemporaryFolder(), 'book.xlsx')
  const zip = new yazl.ZipFile()
  const all = { ...toWorkbookParts({ sheets: [{ name: 'S', rows: ROWS }], ...workbook }), ...parts }
  for (const [name, part] of Object.entries<Part>(all)) {
    if (typeof part === 'string' || part instanceof Uint8Array) zip.addBuffer(Buffer.from(part), name)
    else zip.addReadStream(Readable.from(part.pieces()), name)
  }
  zip.end()
  await pipeline(zip.outputStream as Readable, createWriteStream(path))
  return path
}

/** Reads a source in a process with a small heap; returns its last output, or how it ended. */
async function readUnderSmallHeap(path: string): Promise<string> {
  const entry = new URL('./read-source-child.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, entry, path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [printed, failure] = await Promise.all([text(child.stdout), text(child.stderr)])
  const code = await exited
  return code === 0 ? printed.trim() : `ended with ${code}: ${failure.slice(0, 300)}`
}

const ROWS = '<row><c t="inlineStr"><is><t>a</t></is></c></row><row><c><v>1</v></c></row>'
const SHEET = 'xl/worksheets/sheet1.xml'
const STYLES = 'xl/styles.xml'
const STRINGS = 'xl/sharedStrings.xml'
const RELATIONS = 'xl/_rels/workbook.xml.rels'
const toSheet = (toPiece: (index: number) => string, count: number, tail = '') =>
  repeat('<worksheet><sheetData><row>', toPiece, count, `${tail}</row></sheetData></worksheet>`)
/** Digits that compress badly, so that the ratio limit is not reached. */
const mix = (index: number) => ((index * 2_654_435_761) >>> 0).toString(36)
const SHARED = { sheets: [{ name: 'S', rows: '<row><c t="s"><v>0</v></c></row>' }], strings: '' }

const BOMBS: [string, RegExp, Record<string, Part>, Partial<HandmadeWorkbook>?][] = [
  [
    'fifteen million elements in each other',
    /the part xl\/worksheets\/sheet1\.xml unpacks to 100 MiB, [\d,]+ times its packed size; parts over 4 MiB may unpack to at most 200 times/,
    {
      [SHEET]: {
        *pieces() {
          yield '<worksheet><sheetData>'
          for (let i = 0; i < 1500; i += 1) yield '<a>'.repeat(10_000)
          for (let i = 0; i < 1500; i += 1) yield '</a>'.repeat(10_000)
          yield '</sheetData></worksheet>'
        },
      },
    },
  ],
  [
    'elements in each other that pack badly',
    /the sheet has more than 100 elements inside each other/,
    { [SHEET]: toSheet((i) => `<a${mix(i)}>`, 300_000) },
  ],
  [
    'one element with a million attributes',
    /the sheet has an element with more than 250 attributes/,
    { [SHEET]: toSheet((i) => `${i === 0 ? '<c' : ''} a${mix(i)}=""`, 300_000, '/>') },
  ],
  [
    'one cell of very many values',
    /row 1 of the sheet has more than 8,388,608 characters/,
    { [SHEET]: toSheet((i) => `${i === 0 ? '<c>' : ''}<v>${mix(i).repeat(20)}</v>`, 80_000, '</c>') },
  ],
  [
    'one cell of very many short pieces',
    /row 1 of the sheet has a cell of more than 100,000 pieces of text/,
    {
      [SHEET]: toSheet(
        (i) => `${i === 0 ? '<c t="inlineStr"><is>' : ''}<r><t>${mix(i).at(-1)}</t></r>`,
        500_000,
        '</is></c>',
      ),
    },
  ],
  [
    'one shared text of very many pieces',
    /the part of shared texts has a text of more than 100,000 pieces/,
    { [STRINGS]: repeat('<sst><si>', (i) => `<r><t>${mix(i)}</t></r>`, 500_000, '</si></sst>') },
    SHARED,
  ],
  [
    'one value made of character references',
    /the sheet has a value of more than 2 MiB/,
    {
      [SHEET]: toSheet(
        (i) => `${i === 0 ? '<c t="inlineStr"><is><t>' : ''}&#${65 + (mix(i).charCodeAt(0) % 26)};`,
        800_000,
        '</t></is></c>',
      ),
    },
  ],
  [
    'very many styles',
    /the part of styles has more than 500,000 elements/,
    {
      [STYLES]: repeat(
        '<styleSheet><cellXfs>',
        (i) => `<xf numFmtId="${i % 9973}"/>`,
        600_000,
        '</cellXfs></styleSheet>',
      ),
    },
  ],
  [
    'very many number formats',
    /the part of styles has more than 10,000 number formats/,
    {
      [STYLES]: repeat(
        '<styleSheet><numFmts>',
        (i) => `<numFmt numFmtId="${i}" formatCode="0.${mix(i)}"/>`,
        300_000,
        '</numFmts></styleSheet>',
      ),
    },
  ],
  [
    'an endless number format',
    /the part of styles has a number format of more than 4,096 characters/,
    {
      [STYLES]: `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="${'0'.repeat(5000)}"/></numFmts></styleSheet>`,
    },
  ],
  [
    'very many relations',
    /the list of parts has more than 100,000 elements/,
    {
      [RELATIONS]: repeat(
        '<Relationships>',
        (i) => `<Relationship Id="${mix(i)}" Type="x/y" Target="${i}"/>`,
        300_000,
        '</Relationships>',
      ),
    },
  ],
  [
    'very many parts with long remarks',
    /its list of parts takes more than 4 MiB/,
    // Names of unequal lengths: names of the same length share a hash, and an object of them takes seconds.
    Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => ['x'.repeat(60_000 - i), ''])),
  ],
]

// The short form opens a sixth of them.
const OPENED = inject('isLong') ? BOMBS : BOMBS.filter((_, index) => index % 6 === 1)

test.each(OPENED)(
  '%s are refused by the limit, within a small heap',
  async (_title, message, parts, workbook) => {
    onlyInLongForm()
    expect(await readUnderSmallHeap(await writeWorkbook(parts, workbook))).toMatch(message)
  },
)

test('large valid workbooks still open', async () => {
  onlyInLongForm()
  const path = await writeWorkbook({
    [SHEET]: repeat(
      '<worksheet><sheetData>',
      (i) =>
        `<row r="${i + 1}" spans="1:3" ht="15" customHeight="1"><c r="A${i + 1}" s="1"><v>1</v></c><c r="B${i + 1}" t="inlineStr"><is><t>approved</t></is></c><c r="C${i + 1}" s="1"/></row>`,
      30_000,
      '</sheetData></worksheet>',
    ),
  })
  expect(JSON.parse(await readUnderSmallHeap(path))).toMatchObject({ rows: 29_999 })
  const padded = await writeWorkbook({
    [SHEET]: repeat(
      '<worksheet><sheetData>',
      (i) => `<row><c t="inlineStr"><is><t>${'x'.repeat(32_000)}${i}</t></is></c></row>`,
      120,
      '</sheetData></worksheet>',
    ),
  })
  expect(JSON.parse(await readUnderSmallHeap(padded))).toMatchObject({ rows: 119 })
})
