import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { toWorkbookParts } from './workbook-files.ts'

const ROWS = 50_000
/** The reader's own code takes half of it. */
const HEAP_MB = 64
const TEXT =
  'a text that no other row has, long enough to fill the heap if all of them were held there '.repeat(20)

function* toPieces(before: string, after: string, toPiece: (row: number) => string): Generator<string> {
  yield before
  for (let row = 1; row <= ROWS; row += 1000) {
    yield Array.from({ length: 1000 }, (_, index) => toPiece(row + index)).join('')
  }
  yield after
}

/** Writes a workbook whose shared texts exceed the heap of the worker that reads it. */
async function writeFullSheet(): Promise<string> {
  const path = join(createTemporaryFolder(), 'full.xlsx')
  const zip = new yazl.ZipFile()
  const add = (name: string, pieces: Generator<string>) =>
    zip.addReadStream(Readable.from(pieces), name, { compressionLevel: 1 })
  const parts = toWorkbookParts({ sheets: [{ name: 'S', rows: '' }], strings: '' })
  for (const [name, content] of Object.entries(parts)) {
    if (!/sheet1|sharedStrings/.test(name)) zip.addBuffer(Buffer.from(content), name)
  }
  const toRow = (row: number) =>
    `<row r="${row}"><c r="A${row}" t="s"><v>${row - 1}</v></c><c r="B${row}"><v>${row}</v></c></row>`
  add('xl/worksheets/sheet1.xml', toPieces('<worksheet><sheetData>', '</sheetData></worksheet>', toRow))
  add(
    'xl/sharedStrings.xml',
    toPieces('<sst>', '</sst>', (row) => `<si><t>${row} ${TEXT}</t></si>`),
  )
  zip.end()
  await pipeline(zip.outputStream as Readable, createWriteStream(path))
  return path
}

test('a sheet whose texts exceed the heap is read row by row', async () => {
  onlyInLongForm()
  const path = await writeFullSheet()
  const worker = new Worker(new URL('./count-rows-worker.ts', import.meta.url), {
    workerData: { path, header: false },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 4 },
  })
  const counted = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  await worker.terminate()
  expect(ROWS * TEXT.length).toBeGreaterThan(HEAP_MB * 1024 * 1024)
  const digits = Array.from({ length: ROWS }, (_, row) => String(row + 1).length).reduce(
    (sum, one) => sum + one,
    0,
  )
  expect(counted).toEqual({
    rows: ROWS,
    characters: 2 * digits + ROWS * (TEXT.length + 1),
    last: String(ROWS),
  })
})
