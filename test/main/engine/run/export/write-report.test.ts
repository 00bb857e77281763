import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { findReportFormat, writeReport } from '../../../../../src/main/engine/run/export/write-report.ts'
import type { SluiceError } from '../../../../../src/shared/messages/errors.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { readSource } from '../../source/read-source.ts'
import { parseRfc4180 } from '../../source/rfc4180.ts'
import { buildOptions, buildResult } from './build-result.ts'

const options = buildOptions(['a', 'b'])

async function failWriting(
  file: string,
  pages: Iterable<ExportRow[]> = [[buildResult()]],
): Promise<SluiceError> {
  return writeReport({ ...options, file, pages }).then(
    () => Promise.reject(new Error('writing succeeded')),
    (error: SluiceError) => error,
  )
}

test('pages become one file, and the result gives its rows and bytes', async () => {
  const file = join(createTemporaryFolder(), 'out.csv')
  async function* pages() {
    yield [buildResult(), buildResult({ row: 2 })]
    yield [buildResult({ row: 3, cells: ['ü', ''] })]
  }
  const result = await writeReport({ ...options, file, pages: pages() })
  expect(result).toEqual({ file, rows: 3, sizeBytes: readFileSync(file).length })
  expect(parseRfc4180(readFileSync(file, 'utf8'))).toHaveLength(4)
})

test('the extension chooses the format, and an unknown one is bad usage', async () => {
  const folder = createTemporaryFolder()
  await writeReport({ ...options, file: join(folder, 'out.JSONL'), pages: [[buildResult()]] })
  expect(JSON.parse(readFileSync(join(folder, 'out.JSONL'), 'utf8'))).toMatchObject({ row: 2, record: 1 })
  expect(await failWriting(join(folder, 'out.docx'))).toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining(
      'expected a name that ends in .csv, .xlsx, .jsonl or .parquet, found `.docx`',
    ),
  })
  expect(await failWriting(join(folder, 'out'))).toMatchObject({ code: 'BAD_USAGE' })
})

test('an existing file is replaced once the new one is complete, and kept if writing fails', async () => {
  const folder = createTemporaryFolder()
  const file = join(folder, 'out.csv')
  writeFileSync(file, 'old')
  function* breakingPages() {
    yield [buildResult()]
    throw new Error('the journal is gone')
  }
  expect((await failWriting(file, breakingPages())).message).toBe('the journal is gone')
  expect(readFileSync(file, 'utf8')).toBe('old')
  await writeReport({ ...options, file, pages: [[buildResult()]] })
  expect(readFileSync(file, 'utf8')).toContain('succeeded')
  expect(readdirSync(folder)).toEqual(['out.csv'])
})

test('a link stays a link and its target is replaced', async () => {
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'real.csv'), 'old')
  symlinkSync(join(folder, 'real.csv'), join(folder, 'link.csv'))
  await writeReport({ ...options, file: join(folder, 'link.csv'), pages: [[buildResult()]] })
  expect(lstatSync(join(folder, 'link.csv')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(folder, 'real.csv'), 'utf8')).toContain('succeeded')
})

test('an unwritable place is named with what to do', async () => {
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'folder.csv'))
  writeFileSync(join(folder, 'plain'), '')
  expect(await failWriting(join(folder, 'gone', 'out.csv'))).toMatchObject({
    code: 'FILE_UNWRITABLE',
    message: expect.stringContaining('its folder does not exist'),
  })
  expect(await failWriting(join(folder, 'folder.csv'))).toMatchObject({
    code: 'FILE_UNWRITABLE',
    message: expect.stringContaining('it is a folder'),
  })
  expect(await failWriting(join(folder, 'plain', 'out.csv'))).toMatchObject({ code: 'FILE_UNWRITABLE' })
})

test('a device is written to, never replaced, and reported when full', async () => {
  const pages = [[buildResult()]]
  if (existsSync('/dev/full')) {
    const error = await writeReport({ ...options, file: '/dev/full', format: 'csv', pages }).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining('/dev/full') })
    expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true)
  } else console.log('there is no /dev/full here, so a full disk was not tried')
})

test('the SMS Spam Collection comes back cell by cell, both lossless and guarded', async () => {
  const path = fileURLToPath(new URL('../../../../../shared/data/sms-spam.csv', import.meta.url))
  if (!existsSync(path)) return console.log(`${path} is not here, so nothing was compared with it`)
  const source = readSource(path, { header: false })
  const pages = [source.rows.map(({ row, cells }) => buildResult({ row, cells }))]
  for (const lossless of [true, false]) {
    const file = join(createTemporaryFolder(), 'out.csv')
    const result = await writeReport({ ...buildOptions(source.columns, { lossless }), file, pages })
    expect(result.rows).toBe(5572)
    const full = source.cells.map((cells) => [...cells, ...Array<string>(5 - cells.length).fill('')])
    if (lossless) {
      const [header, ...records] = parseRfc4180(readFileSync(file, 'utf8').slice(1))
      expect(header?.slice(0, 6)).toEqual([...source.columns, 'sluice_row'])
      expect(records.map((record) => record.slice(0, 5))).toEqual(full)
    }
    expect(readSource(file).cells.map((cells) => cells.slice(0, 5))).toEqual(full)
  }
})

test.each(['csv', 'jsonl'])('a name that ends in .%s.gz has the same rows compressed', async (ending) => {
  const folder = createTemporaryFolder()
  const results = Array.from({ length: 3_000 }, (_, row) => buildResult({ row, cells: [`text ${row}`, 'ä'] }))
  const write = (name: string) =>
    writeReport({ ...buildOptions(['a', 'b']), file: join(folder, name), pages: [results] })
  const [plain, packed] = [await write(`plain.${ending}`), await write(`packed.${ending}.gz`)]
  expect(gunzipSync(readFileSync(packed.file))).toEqual(readFileSync(plain.file))
  expect(packed.sizeBytes).toBe(statSync(packed.file).size)
  expect(packed.sizeBytes).toBeLessThan(plain.sizeBytes / 5)
})

test('an error while a compressed file is written is reported, and leaves no file', async () => {
  const folder = createTemporaryFolder()
  function* listPages() {
    yield [buildResult()]
    throw new Error('no further rows')
  }
  const file = join(folder, 'out.csv.gz')
  await expect(writeReport({ ...options, file, pages: listPages() })).rejects.toThrow('no further rows')
  expect(readdirSync(folder)).toEqual([])
})

test.each(['xlsx', 'parquet'])('a .%s is not compressed again', async (ending) => {
  expect(() => findReportFormat(`out.${ending}.gz`)).toThrow('gzip only applies to .csv and .jsonl')
})
