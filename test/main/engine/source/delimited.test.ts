import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDelimitedSource } from '../../../../src/main/engine/source/csv/delimited-source.ts'
import type { SourceBatch } from '../../../../src/main/engine/source/source-reader.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { readSource, readText, writeSource } from './read-source.ts'

/** The message and hint of the error when reading a source. */
function failReading(path: string, options: Parameters<typeof readSource>[1] = {}): string {
  try {
    readSource(path, options)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'BAD_SOURCE') return `${error.message} | ${error.hint}`
    throw error
  }
  throw new Error('reading succeeded')
}

test('cells keep their white space, quotes, line breaks and emptiness', () => {
  const source = readText('id,text\r\n 1 ,"  two\r\nlines "\r\n,"say ""hi"""\r\n"", x\r\n')
  expect(source.columns).toEqual(['id', 'text'])
  expect(source.cells).toEqual([
    [' 1 ', '  two\r\nlines '],
    ['', 'say "hi"'],
    ['', ' x'],
  ])
  expect(source.rows.map((row) => row.row)).toEqual([1, 2, 3])
  expect(source.problems).toEqual([])
})

test.each([
  ['LF', 'a,b\n1,2\n3,4'],
  ['CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
  ['CR alone', 'a,b\r1,2\r3,4\r'],
  ['a mixture of LF and CRLF', 'a,b\r\n1,2\n3,4\r\n'],
])('lines may end with %s', (_name, text) => {
  const source = readText(text)
  expect(source.columns).toEqual(['a', 'b'])
  expect(source.cells).toEqual([
    ['1', '2'],
    ['3', '4'],
  ])
})

test('a carriage return at the end of a quoted last cell belongs to the cell', () => {
  expect(readText('a,b\r\n1,"x\r"\r\n2,y\r\n').cells).toEqual([
    ['1', 'x\r'],
    ['2', 'y'],
  ])
})

test('blank lines and records of empty cells are not rows and are counted, wherever they are', () => {
  const source = readText('a,b\n1,2\n\n3,4\n,\n"",""\n5,6\n\n\n')
  expect(source.cells).toEqual([
    ['1', '2'],
    ['3', '4'],
    ['5', '6'],
  ])
  expect(source.problems).toEqual([])
  expect(source.told).toEqual([{ severity: 'warning', code: 'empty_records', rows: 5 }])
  expect(readText('text\none\n\n""\n\n').cells).toEqual([['one']])
})

test('rows below a blank line keep the line and row number of a spreadsheet', () => {
  const source = readText('a,b\n\n"1\n",2\n\n3,4\n')
  expect(source.places).toEqual([
    { row: 1, sheetRow: 3, line: 3 },
    { row: 2, sheetRow: 5, line: 6 },
  ])
})

test('rows with fewer cells keep them and are named, and there are as many columns as in the widest row', () => {
  const source = readText('a,b\n1\n1,2,3\n1,2\n')
  expect(source.cells).toEqual([['1'], ['1', '2', '3'], ['1', '2']])
  expect(source.columns).toEqual(['a', 'b', 'Column 3'])
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 1: has fewer or more cells than the header (2); the rest is empty, found `1 cell`',
    'row 2: must have at most 2 cells, like the header, found `3`',
  ])
})

test('without a header, a row is ragged if it differs from most rows, and columns are numbered', () => {
  const source = readText('a\nb,c\nd,e\n', { header: false })
  expect(source.columns).toEqual(['Column 1', 'Column 2'])
  expect(source.problems).toEqual(['ragged_row 1 warning'])
})

test('duplicate and empty column names are made distinct, visibly', () => {
  const source = readText('text,,text,Column 2,text (2),text\n1,2,3,4,5,6\n')
  expect(source.columns).toEqual(['text', 'Column 2 (2)', 'text (3)', 'Column 2', 'text (2)', 'text (4)'])
})

test('a misplaced quote is a warning, and an error if rows may have been swallowed', () => {
  const source = readText('a,b\n"x"y",2\n"p"q,2\n3,"r"\n4,5\n')
  expect(source.cells).toEqual([['x"y', '2'], ['p"q,2\n3,"r'], ['4', '5']])
  expect(source.problems).toEqual([
    'broken_quotes 1 warning',
    'ragged_row 2 warning',
    'broken_quotes 2 error',
  ])
  expect(source.rows[1]?.problems.map(formatProblem).at(-1)).toBe(
    'row 2: must double each quote inside a quoted cell; the next rows may have become part of this one, found `p"q,2\n3,"r (2 lines in one row)`',
  )
})

test('an unclosed quote names its row and keeps it from being sent', () => {
  const source = readText('a,b\n1,2\n3,"open\n5,6\n')
  expect(source.cells).toEqual([
    ['1', '2'],
    ['3', 'open\n5,6\n'],
  ])
  expect(source.problems).toEqual(['broken_quotes 2 error'])
})

test('a row of 40 MB ends reading with its number, the limit and what to do', () => {
  const path = writeSource(`id,text\n1,short\n2,"${'x'.repeat(40_000_000)}"\n3,after\n`)
  const failure = failReading(path)
  expect(failure).toContain(`source ${path}: row 3 has more than 8,388,608 characters (8 MiB)`)
  expect(failure).toContain('Nothing was sent. Shorten row 3')
})

test('a quote left open for more than 8 MiB is distinguished from a long cell', () => {
  const path = writeSource(`id,text\n1,"never closed\n${'2,fine\n'.repeat(1_500_000)}`)
  expect(failReading(path)).toMatch(
    /row 2 opens a quote that is not closed within 8,388,608.* Close the quote in row 2/,
  )
})

test('each kind of unreadable file has its own error, with what to do', () => {
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'sub.csv'))
  expect(failReading(join(folder, 'gone.csv'))).toMatch(
    /gone\.csv: the file does not exist \| Check the path/,
  )
  expect(failReading(join(folder, 'sub.csv'))).toMatch(/found a folder \| Choose one file/)
  expect(failReading('/dev/null')).toContain('found a pipe or device')
  expect(failReading(writeSource(''))).toContain('found an empty file (0 bytes)')
  expect(failReading(writeSource('\n\r\n\n'))).toContain('found only blank lines')
  expect(failReading(writeSource('a,b\n'))).toContain('--no-header')
  expect(failReading(writeSource('"a,b\n1,2\n'))).toContain('the header line opens a quote')
})

test.each([
  ['an Excel workbook', [0x50, 0x4b, 3, 4, 20, 0]],
  ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0, 0xa1]],
  ['a PDF document', [...Buffer.from('%PDF-1.7\n')]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47, 13, 10]],
  ['a NUL byte at offset 1', [0x61, 0, 0, 0x2c, 0x62, 1, 7, 0]],
])('%s is named instead of being read as text', (kind, bytes) => {
  const failure = failReading(writeSource(Uint8Array.from(bytes), 'sheet.csv'))
  expect(failure).toContain('sheet.csv: expected text, found ')
  expect(failure).toContain(kind)
})

test.each([
  [';', 'a;b\n1,5;2,5\n'],
  ['\t', 'a\tb\n1, 2\t3\n'],
  ['|', 'a|b\n1|2\n'],
  ['', 'text\none, two\nthree\n'],
  [',', 'a,b\n"1;2;3",x\n'],
])('the delimiter %j is recognised', (delimiter, text) => {
  expect(readText(text)).toMatchObject({ delimiter, delimiterBy: 'guess' })
})

test('the delimiter follows the extension or the format, and a stated one takes precedence', () => {
  expect(readText('a,b\tc\n1\t2\n', { name: 'x.tsv' })).toMatchObject({
    delimiter: '\t',
    delimiterBy: 'ending',
  })
  expect(readText('a,b\n1,2\n', { format: 'tsv' }).cells).toEqual([['1,2']])
  expect(readText('a,b\n1,2\n', { name: 'x.tsv', format: 'csv' }).delimiter).toBe(',')
  expect(readText('a#b\n1#2\n', { name: 'x.tsv', delimiter: '#' }).cells).toEqual([['1', '2']])
  expect(failReading(writeSource('a\n1\n'), { delimiter: '"' })).toContain('cannot separate cells')
})

test('rows and problems are the same however small the reads are', () => {
  const text = 'a,b\r\n1,"x\r\n\r\ny\r"\r\n\r\n\r\nü,漢😀\r\n"q"w",1,2\r\n\r\n'
  const bytes = Buffer.concat([
    Buffer.from(text),
    Buffer.from([0x31, 0x2c, 0xc3, 0x28]),
    Buffer.from(',\uFFFD\r\n'),
  ])
  const path = writeSource(bytes)
  const whole = readSource(path)
  for (let readBytes = 1; readBytes <= 9; readBytes += 1)
    expect(readSource(path, { readBytes })).toEqual(whole)
  expect(whole.rows).toHaveLength(4)
})

test('a reader can be stopped early and read again from the start', () => {
  const path = writeSource(`a\n${'row\n'.repeat(100_000)}`)
  const reader = openDelimitedSource({ path, header: true })
  for (const batch of reader.batches()) {
    expect(batch.bytesRead).toBeLessThan(reader.sizeBytes)
    break
  }
  let rows = 0
  for (const batch of reader.batches()) rows += batch.rows.length
  expect(rows).toBe(100_000)
  reader.close()
})

test('a file that grows after it was opened is read to its current end', () => {
  const path = writeSource('a\n1\n')
  const reader = openDelimitedSource({ path, header: true })
  writeFileSync(path, 'a\n1\n2\n')
  expect([...reader.batches()].flatMap((batch) => batch.rows.map((row) => row.cells[0]))).toEqual(['1', '2'])
  reader.close()
})

test('a first line that sets the delimiter is neither header nor row, and a stated delimiter overrides it', () => {
  const text = 'sep=;\r\na;b,c\r\n1;2,3\r\n'
  expect(readText(text)).toMatchObject({ delimiter: ';', columns: ['a', 'b,c'], cells: [['1', '2,3']] })
  expect(readText(text, { readBytes: 3 }).cells).toEqual([['1', '2,3']])
  expect(readText(text, { delimiter: ',' })).toMatchObject({ columns: ['a;b', 'c'], cells: [['1;2', '3']] })
  expect(readText(Buffer.from(`\uFEFF${'sep=|\na|b\n1|2\n'}`, 'utf16le'))).toMatchObject({
    delimiter: '|',
    cells: [['1', '2']],
  })
  expect(readText('sep=\t\na\tb\n1\t2\n').columns).toEqual(['a', 'b'])
  expect(readText('sep,b\n1,2\n').columns).toEqual(['sep', 'b'])
})

test('lines above a stated header are skipped, including blank ones', () => {
  const text = 'Report,,\n\n"made\nby us"\nid,text\n1,a\n2,b\n'
  const source = readText(text, { headerRow: 4 })
  expect(source).toMatchObject({ columns: ['id', 'text'], problems: [] })
  expect(source.rows.map(({ row, cells }) => [row, ...cells])).toEqual([
    [1, '1', 'a'],
    [2, '2', 'b'],
  ])
  expect(readText(text, { headerRow: 4, readBytes: 2 }).rows).toEqual(source.rows)
  expect(readText(text, { headerRow: 4, header: false }).cells[0]).toEqual(['Report', '', ''])
  expect(failReading(writeSource(text), { headerRow: 7 })).toContain('but the file ends before it')
  expect(failReading(writeSource(text), { headerRow: 6 })).toContain('found only a line with column names')
})

const isBeyond = ({ rows }: SourceBatch): boolean => rows.some((row) => /[^\0-\x7f]/.test(row.cells.join('')))

test('a batch is reported as ASCII only if it is, wherever a read of the file ends', () => {
  const rows = Array.from(
    { length: 200 },
    (_, i) => `${i},${i % 9 === 4 ? 'Ã©Ã¨, and much of ASCII' : 'plain'}`,
  )
  const path = writeSource(`id,text\n${rows.join('\n')}\n`)
  const source = { path, header: true, format: 'csv' } as const
  for (let readBytes = 1; readBytes <= 64; readBytes += 1) {
    const batches = [...openDelimitedSource(source, readBytes).batches()]
    expect(batches.filter((batch) => batch.isAscii && isBeyond(batch))).toEqual([])
    if (readBytes <= 16) expect(batches.filter((batch) => batch.isAscii).length).toBeGreaterThan(50)
  }
})

test('a batch with text after NUL characters that end a read is not reported as ASCII', () => {
  const plain = '1,plain text\n'.repeat(300)
  for (const zeros of [1, 15, 16, 17, 40]) {
    const path = writeSource(`id,text\n${plain}2,a${'\0'.repeat(zeros)}\n3,zzÃ©tt\n${plain}`)
    const source = { path, header: true, format: 'csv' } as const
    for (let readBytes = 8; readBytes <= 24; readBytes += 1) {
      const batches = [...openDelimitedSource(source, readBytes).batches()]
      expect(batches.some(isBeyond)).toBe(true)
      expect(batches.filter((batch) => batch.isAscii && isBeyond(batch))).toEqual([])
    }
  }
})

test('non-ASCII characters whose bytes are all ASCII are not reported as ASCII', () => {
  const path = writeSource(Buffer.from('id,text\n1,\u4e00\u4e01\n', 'utf16le'))
  const source = { path, header: true, format: 'csv', encoding: 'utf-16le' } as const
  const [batch] = openDelimitedSource(source).batches()
  expect(batch?.rows.map(({ cells }) => cells)).toEqual([['1', '\u4e00\u4e01']])
  expect(batch?.isAscii).toBe(false)
})
