import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { failReadingAny, readAnySource, readText, writeSource } from './read-source.ts'

test('a repeated header is an error, whatever white space or mark surrounds its names', () => {
  const text =
    'id,author,text\n1,ann,first\nid,author,text\n2,bob,second\n\uFEFFid,author, text\nid,ann,text\n'
  const source = readText(text)
  expect(source.problems).toEqual(['repeated_header 2 error', 'repeated_header 4 error'])
  expect(source.rows[1]?.problems.map(formatProblem)).toEqual([
    'row 2: must be a row, but is the header again, found `id | author | text`',
  ])
})

test.each([
  ['in another case', 'Author,Message,Lang'],
  ['with other separators', 'AUTHOR , mess-age,l.ang'],
  ['without its last names', 'Author,Message'],
  ['without a name in the middle', 'author,,LANG'],
])('a repeated header %s is an error', (_, again) => {
  const source = readText(`author,message,lang\nann,first,en\n${again}\nbob,second,de\n`)
  expect(source.problems.filter((problem) => problem.includes('error'))).toEqual(['repeated_header 2 error'])
})

test('rows below a header in another order are errors, until the header comes again in its own order', () => {
  const parts = ['a,m,l', 'ann,first,en', 'm,A,l', 'second,bob,de', 'third,cy,fr', 'a,M,', 'dan,fourth,en']
  const source = readText(`${parts.join('\n')}\n`)
  const expected = [
    'repeated_header 2 error',
    'below_other_header 3 error',
    'below_other_header 4 error',
    'repeated_header 5 error',
  ]
  expect(source.problems).toEqual(expected)
})

test('a row is not a header because of one name in it, or an only name in another case', () => {
  const text = 'author,message\nann,message\nMessage,author x\nAuthor,\n'
  expect(readText(text).problems).toEqual([])
  expect(readText('word\nWord\nword\n').problems).toEqual(['repeated_header 2 error'])
})

test('a quote that opens at the end of a file with nothing after it is a row with an error, not an empty one', () => {
  const source = readText('id,text\n1,a\n"')
  expect(source.problems).toEqual(['ragged_row 2 warning', 'broken_quotes 2 error'])
  expect(source.told).toEqual([])
})

test('without a header no record is a repeated one', () => {
  expect(readText('id,text\n1,a\nid,text\n', { header: false }).problems).toEqual([])
})

test('a NUL character makes its row an error with its line, and no other', () => {
  const source = readText('id,text\np1,"two\nlines\0here"\np2,fine\np3,\0\n')
  expect(source.problems).toEqual(['nul_character 1 error', 'nul_character 3 error'])
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 1: must not contain a NUL character; line 3 does, found `two\nlines␀here`',
    'row 3: must not contain a NUL character; line 5 does, found `␀`',
  ])
})

test.each([1, 3, 65_536])(
  'NULs after the end are not text and are reported, with reads of %i bytes',
  (readBytes) => {
    const source = readText(`id,text\np1,a\np2,b\n${'\0'.repeat(70_000)}`, { readBytes, encoding: 'utf-8' })
    expect(source.cells).toEqual([
      ['p1', 'a'],
      ['p2', 'b'],
    ])
    expect(source.problems).toEqual([])
    expect(source.told).toEqual([
      { severity: 'warning', code: 'zero_padding', args: { characters: 70_000 }, rows: 1 },
    ])
  },
)

test('NULs between records belong to the following record', () => {
  const source = readText(`id,text\np1,a\n${'\0'.repeat(5)}p2,b\n`, { readBytes: 2 })
  expect(source.cells).toEqual([
    ['p1', 'a'],
    ['\0\0\0\0\0p2', 'b'],
  ])
  expect(source.problems).toEqual(['nul_character 2 error'])
})

test('a NUL in the header refuses the file', async () => {
  expect(await failReadingAny(writeSource('id,te\0xt\n1,a\n2,b\n'))).toContain(
    'the header line contains a NUL character',
  )
})

test('blank lines of JSON Lines are counted', async () => {
  const source = await readAnySource(writeSource('\n{"a":"1"}\n \n\n{"a":"2"}\n', 'a.jsonl'))
  expect(source.told).toEqual([{ severity: 'warning', code: 'empty_records', rows: 3 }])
})

test('more columns than a spreadsheet allows are refused at once, in the header and in a row', () => {
  const wide = `${'c,'.repeat(3_000_000)}c\n`
  expect(() => readText(`${wide}1\n`)).toThrow('the header has more than 16,384 columns')
  expect(() => readText(`a,b\n1,2\n${wide}`)).toThrow('row 3 has more than 16,384 columns')
  expect(readText(`a,b\n1,"${','.repeat(100_000)}"\n`).cells[0]?.[1]).toHaveLength(100_000)
})

test.each([
  ['a lone CR', 'id,text\r1,a\r2,b\n3,c\n'],
  ['a broken quote', 'id,"te"xt\n1,a\n2,b"\n3,c\n'],
])('a header that swallows rows refuses the file: %s', async (_what, text) => {
  expect(await failReadingAny(writeSource(text))).toContain('rows may have become part of it')
})

test.each([
  ['a CR before CRLF', 'id,text\r\r\n1,a\r\n', ['id', 'text\r']],
  ['lines in quotes', 'id,"text\nof the post"\n1,a\n', ['id', 'text\nof the post']],
])('a header with line breaks of its own is read: %s', (_what, text, columns) => {
  expect(readText(text).columns).toEqual(columns)
})
