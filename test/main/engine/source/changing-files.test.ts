import { appendFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createWorkbook } from './workbook-files.ts'

/** Rows of more than one batch. */
const ROWS = Array.from({ length: 20_000 }, (_, index) => `u${index},text ${index}\n`).join('')
const CSV = `user_id,text_data\n${ROWS}`
const JSON_LINES = Array.from(
  { length: 20_000 },
  (_, index) => `{"user_id":"u${index}","text_data":"t"}\n`,
).join('')

/** Reads a source and changes it after the first rows; returns the warnings and the number of rows. */
async function readWhile(change: () => void, path: string, more: readonly string[] = []) {
  const reader = await openSource({ path, header: true, ...(more.length > 0 && { more: [...more] }) })
  let rows = 0
  try {
    for await (const batch of reader.batches()) {
      if (rows === 0) change()
      rows += batch.rows.length
    }
    const told = reader.findWarnings?.() ?? []
    return { rows, told: told.filter(({ code }) => code === 'source_changed') }
  } finally {
    reader.close()
  }
}

const TOLD = { severity: 'warning', code: 'source_changed' }

test.each([
  ['gets more rows', (path: string) => appendFileSync(path, 'u9,half of a te')],
  ['is emptied', (path: string) => truncateSync(path, 0)],
  ['is replaced', (path: string) => writeFileSync(path, CSV.toUpperCase())],
  ['is removed', (path: string) => rmSync(path)],
  [
    'is replaced by another of its name',
    (path: string) => {
      writeFileSync(`${path}.new`, 'user_id,text_data\n')
      renameSync(`${path}.new`, path)
    },
  ],
])('a file that %s while it is read is reported, and asked about', async (_, change) => {
  const path = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(path, CSV)
  // Some file systems store only seconds.
  utimesSync(path, 1_700_000_000, 1_700_000_000)
  const { told } = await readWhile(() => change(path), path)
  expect(told).toEqual([TOLD])
})

test.each([
  ['posts.csv', CSV],
  ['posts.csv.gz', gzipSync(CSV)],
  ['posts.jsonl', JSON_LINES],
  [
    'posts.xlsx',
    await createWorkbook({ sheets: [{ name: 'a', rows: '<row><c><v>1</v></c></row>'.repeat(500) }] }),
  ],
])('nothing is reported about %s if nothing writes to it, but a write is', async (name, content) => {
  const path = join(createTemporaryFolder(), name)
  writeFileSync(path, content)
  expect((await readWhile(() => undefined, path)).told).toEqual([])
  expect((await readWhile(() => appendFileSync(path, '\n'), path)).told).toEqual([TOLD])
})

test('of several files those that changed since they were first read are named', async () => {
  const folder = createTemporaryFolder()
  const [a, b, c] = ['a.csv', 'b.csv', 'c.csv'].map((name) => join(folder, name)) as [string, string, string]
  for (const path of [a, b, c]) writeFileSync(path, `${CSV}u9,of ${path}\n`)
  // The second file is read after the first one.
  const { rows, told } = await readWhile(() => appendFileSync(b, 'u9,one more\n'), a, [b, c])
  expect(rows).toBe(60_004)
  expect(told).toEqual([expect.objectContaining({ ...TOLD, args: { ofFiles: 'b.csv' }, rows: 20_002 })])
})
