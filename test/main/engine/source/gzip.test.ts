import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { unpackGzip } from '../../../../src/main/engine/source/gzip.ts'
import { createTemporaryFolder, keepTemporaryFilesApart } from '../../../helpers/temporary-folder.ts'
import { readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

keepTemporaryFilesApart()

const listCopies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('sluice-unpacked-'))

describe('a gzip file', () => {
  it.each([
    ['posts.csv.gz', 'text_data,user_id\nhello,u1\n"two\nlines",u2\n'],
    ['posts.TSV.GZ', 'text_data\tuser_id\nhello\tu1\n"two\nlines"\tu2\n'],
    ['posts.jsonl.gz', '{"text_data":"hello","user_id":"u1"}\n{"text_data":"two\\nlines","user_id":"u2"}\n'],
    ['without-its-ending.csv', 'text_data,user_id\nhello,u1\n"two\nlines",u2\n'],
  ])('is read as its content: %s', async (name, text) => {
    const before = listCopies()
    const source = await readAnySource(writeSource(gzipSync(text), name))
    expect(source.columns).toEqual(['text_data', 'user_id'])
    expect(source.cells).toEqual([
      ['hello', 'u1'],
      ['two\nlines', 'u2'],
    ])
    expect(listCopies()).toEqual(before)
  })

  it('may contain a workbook, or several parts in sequence', async () => {
    const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
    const rows = ['name', 'Ada', 'Grace'].map((text) => `<row>${cell(text)}</row>`).join('')
    const workbook = await createWorkbook({ sheets: [{ name: 'people', rows }] })
    expect((await readAnySource(writeSource(gzipSync(workbook), 'people.xlsx.gz'))).cells).toEqual([
      ['Ada'],
      ['Grace'],
    ])
    const parts = Buffer.concat([gzipSync('name\nAda\n'), gzipSync('Grace\n')])
    expect((await readAnySource(writeSource(parts, 'people.csv.gz'))).cells).toEqual([['Ada'], ['Grace']])
  })

  it('may be padded with zero bytes, but has nothing after them', async () => {
    const [first, second] = [gzipSync('name\nAda\n'), gzipSync('Grace\n')]
    const zeros = Buffer.alloc(100_000)
    const filled = writeSource(Buffer.concat([first, second, zeros]), 'people.csv.gz')
    expect((await readAnySource(filled)).cells).toEqual([['Ada'], ['Grace']])
    const apart = writeSource(Buffer.concat([first, zeros, second]), 'people.csv.gz')
    await expect(readAnySource(apart)).rejects.toThrow(
      `source ${apart}: the gzip file is damaged or cut off (data behind zero bytes)`,
    )
  })

  it('is refused with its own name if it is damaged, too large or has no rows', async () => {
    const before = listCopies()
    const whole = gzipSync('name\n'.repeat(1_000))
    const cutOff = writeSource(whole.subarray(0, whole.length - 20), 'cut.csv.gz')
    await expect(readAnySource(cutOff)).rejects.toThrow(
      `source ${cutOff}: the gzip file is damaged or cut off`,
    )
    const large = join(createTemporaryFolder(), 'large.csv.gz')
    writeFileSync(large, gzipSync(Buffer.alloc(2 * 1024 * 1024)))
    await expect(unpackGzip(large, 1024 * 1024)).rejects.toThrow(
      `source ${large}: the gzip file holds more than`,
    )
    const empty = writeSource(gzipSync(''), 'empty.csv.gz')
    await expect(readAnySource(empty)).rejects.toThrow(`source ${empty}: expected rows, found an empty file`)
    expect(listCopies()).toEqual(before)
  })

  it('is refused while it is unpacked if it unpacks to more than 200 times its size', async () => {
    const before = listCopies()
    const row = 'p1,u1,the same text again\n'
    const dense = writeSource(gzipSync(row.repeat(3_000_000), { level: 9 }), 'dense.csv.gz')
    await expect(unpackGzip(dense)).rejects.toThrow(
      `source ${dense}: the gzip file unpacks to more than 200 times its size`,
    )
    expect(listCopies()).toEqual(before)
  })
})
