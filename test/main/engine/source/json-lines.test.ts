import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { failReadingAny, type ReadOptions, readAnySource, writeSource } from './read-source.ts'

const readLines = (content: string | Uint8Array, options: ReadOptions & { name?: string } = {}) => {
  const { name = 'rows.jsonl', ...rest } = options
  return readAnySource(writeSource(content, name), rest)
}

test('keys become columns in order of appearance, later ones at the end', async () => {
  const source = await readLines('{"b":"1","a":"2"}\n{"c":"3","a":" 4 "}\n')
  expect(source.columns).toEqual(['b', 'a', 'c'])
  expect(source.cells).toEqual([
    ['1', '2'],
    ['', ' 4 ', '3'],
  ])
  expect(source.problems).toEqual([])
})

test('columns are known before the first row, however late a key comes', async () => {
  const path = writeSource(`${'{"a":"x"}\n'.repeat(20_000)}{"late":"y"}\n`, 'rows.ndjson')
  const reader = await openSource({ path, header: true })
  expect(reader).toMatchObject({ format: 'jsonl', columns: ['a', 'late'], delimiter: '' })
  reader.close()
})

test('numbers and nested values keep their text from the file, null is empty', async () => {
  const source = await readLines(
    '{"id":12345678901234567890,"x":1.0,"e":1E-7,"n":null,"t":true,"o":{"b":1.50,"a":[1, "]"]},"s":"\\u00e9\\n\\"\\\\"}',
  )
  expect(source.cells.map((cells) => cells.slice(0, 7))).toEqual([
    ['12345678901234567890', '1.0', '1E-7', '', 'true', '{"b":1.50,"a":[1, "]"]}', 'é\n"\\'],
  ])
})

test('keys named like members of objects, and an empty one, are columns like others', async () => {
  const source = await readLines('{"__proto__":"a","constructor":"b","":"c","1":"d"}\n')
  expect(source.columns).toEqual(['__proto__', 'constructor', 'Column 3', '1'])
  expect(source.cells).toEqual([['a', 'b', 'c', 'd']])
})

test('a line that is not an object is a row with an error that says where it breaks', async () => {
  const source = await readLines(
    '{"a":"1"}\n{"a":1,}\n\n["a"]\n{"a":tru}\n{"a":"open\n{"a":{"b":[1,}}\n{"a":1} x\n{a:1}\n{"a":"2"}\n',
  )
  expect(source.rows.map(({ row, cells }) => [row, ...cells])).toEqual([
    [1, '1'],
    [2],
    [3],
    [4],
    [5],
    [6],
    [7],
    [8],
    [9, '2'],
  ])
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 2: must be one JSON object; line 2, character 8: expected a key in double quotes, found `{"a":1,}`',
    'row 3: must be one JSON object; line 4, character 1: expected an object, which begins with {, found `["a"]`',
    'row 4: must be one JSON object; line 5, character 6: expected a value: text in double quotes, a number, true, false, null, an object or an array, found `{"a":tru}`',
    'row 5: must be one JSON object; line 6, character 11: expected the quote that closes the text, found `{"a":"open`',
    expect.stringMatching(
      /^row 6: must be one JSON object; line 7, character \d+: expected valid JSON in the value that begins here, found/,
    ),
    'row 7: must be one JSON object; line 8, character 9: expected the end of the line after the object, found `{"a":1} x`',
    'row 8: must be one JSON object; line 9, character 2: expected a key in double quotes, found `{a:1}`',
  ])
  expect(source.problems.every((problem) => problem.endsWith('error'))).toBe(true)
})

test.each([
  '{"a":01}',
  '{"a":-}',
  '{"a":1.}',
  '{"a":NaN}',
  '{"a":"tab\there"}',
  '{"a":"\\x"}',
  "{'a':1}",
  '{"a" 1}',
  '{"a":[}',
  '{"a":[1,]}',
  '{"a":nul}',
  '{',
  '{"a":1}{"b":2}',
  '{"a":1,"b"}',
])('%s is refused, as JSON.parse does', async (line) => {
  expect(() => JSON.parse(line)).toThrow()
  const source = await readLines(`{"ok":1}\n${line}\n`)
  expect(source.problems).toEqual(['not_json 2 error'])
})

test('a duplicate key is reported, and its last value is used', async () => {
  const source = await readLines('{"a":"1","b":"2","a":"3"}\n')
  expect(source.cells).toEqual([['3', '2']])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has a key more than once; its last value is used, found `a`',
  ])
})

test.each([
  ['utf-8', 'bom', (text: string) => Buffer.from(`\uFEFF${text}`)],
  ['utf-16le', 'bom', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['utf-16be', 'guess', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ['windows-1252', 'guess', (text: string) => iconv.encode(text, 'windows-1252')],
])('lines in %s are recognised by %s, CRLF as well as LF', async (encoding, encodingBy, encode) => {
  const source = await readLines(encode('{"text":"Müller “déjà”"}\r\n{"text":"zwei"}'))
  expect(source).toMatchObject({ encoding, encodingBy, cells: [['Müller “déjà”'], ['zwei']], problems: [] })
})

test('undecodable bytes and lone surrogates become U+FFFD, with a warning', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"a":"x'),
    Buffer.from([0xff]),
    Buffer.from('"}\n{"a":"\\ud83d"}\n'),
  ])
  const source = await readLines(bytes, { encoding: 'utf-8' })
  expect(source.cells).toEqual([['x\uFFFD'], ['\uFFFD']])
  expect(source.problems).toEqual(['undecodable_bytes 1 warning', 'undecodable_bytes 2 warning'])
})

test('a line over 8 MiB is a row that cannot be sent, and the following ones are read', async () => {
  const source = await readLines(`{"a":"1"}\n{"a":"${'x'.repeat(20_000_000)}"}\n{"a":"3"}\n`)
  expect(source.cells).toEqual([['1'], [], ['3']])
  expect(source.rows[1]?.problems.map(formatProblem)[0]).toContain(
    'row 2: must have at most 8,388,608 characters (8 MiB); line 2 has 20,000,008',
  )
})

test('rows are the same however small the reads are', async () => {
  const path = writeSource('{"a":"é😀"}\r\n\r\n{"a":[1,\t2]}\nnope\n{"b":"\\u0041"}', 'rows.jsonl')
  const whole = await readAnySource(path)
  for (let readBytes = 1; readBytes <= 9; readBytes += 1) {
    expect(await readAnySource(path, { readBytes })).toEqual(whole)
  }
  expect(whole.cells).toEqual([['é😀'], ['[1,\t2]'], [], ['', 'A']])
})

test('a file without objects is refused, and so is one that is not text', async () => {
  expect(await failReadingAny(writeSource('\n \r\n', 'c.jsonl'))).toContain('found none')
  expect(await failReadingAny(writeSource('PK\u0003\u0004', 'd.jsonl'))).toContain(
    'expected text, found an Excel',
  )
})

test('keys that differ from line to line are refused before they become thousands of columns', async () => {
  const lines = Array.from({ length: 1001 }, (_, index) => `{"key${index}":1}\n`).join('')
  expect(await failReadingAny(writeSource(lines, 'keys.jsonl'))).toContain(
    'found more than 1000 different keys',
  )
})
