import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { failReadingAny, readAnySource, writeSource } from './read-source.ts'

const read = (text: string, name = 'rows.json') => readAnySource(writeSource(text, name))

const OBJECTS = [
  '{"id":12345678901234567890,"x":1.0,"o":{"b":[1, "],}"]}}',
  '{"text":"a\\"],[{\\\\","id":null}',
  '{}',
]
const ROWS = [['12345678901234567890', '1.0', '{"b":[1, "],}"]}'], ['', '', '', 'a"],[{\\'], []]

test.each([
  ['on one line', `[${OBJECTS.join(',')}]`],
  ['with an object a line', `[\n${OBJECTS.join(',\n')}\n]\n`],
  ['with commas in front', `\r\n [\t${OBJECTS.join('\r\n ,')}\r\n]\r\n`],
  ['as one document after another', OBJECTS.map((one) => one.replace('{', '{\n')).join('\n')],
])('an array of objects is read as rows, %s, every value unchanged', async (_layout, text) => {
  const source = await read(text)
  expect(source.columns.slice(0, 4)).toEqual(['id', 'x', 'o', 'text'])
  expect(source.rows.map(({ cells }) => cells)).toEqual(ROWS)
  expect(source.problems).toEqual([])
})

test.each(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])(
  'JSON on one line is recognised as %s without a byte-order mark, whatever its script',
  async (encoding) => {
    for (const text of [
      '[{"text":"Müller"},{"text":"今天天气很好"}]',
      ' {"text":"今天天气很好，我们一起去公园散步吧"}',
    ]) {
      const source = await readAnySource(
        writeSource(iconv.encode(text, encoding, { addBOM: false }), 'rows.json'),
      )
      expect(source).toMatchObject({ encoding, encodingBy: 'guess', columns: ['text'], problems: [] })
      expect(source.rows.at(-1)?.cells[0]).toMatch(/^今天天气很好/)
    }
  },
)

test('a document over several lines keeps the spaces of its nested values', async () => {
  const text = JSON.stringify([{ a: 'x', user_metadata: { b: [1, 2] } }, { a: 'y' }], null, 2)
  const source = await read(text)
  expect(source.rows.map(({ cells }) => cells)).toEqual([
    ['x', '{\n      "b": [\n        1,\n        2\n      ]\n    }'],
    ['y'],
  ])
  const { rows } = await previewSource({ path: writeSource(text, 'pretty.json'), header: true }, 10)
  expect(rows.map(({ row, place }) => [row, place.line])).toEqual([
    [1, 2],
    [2, 11],
  ])
})

test('rows are the same however small the reads are', async () => {
  const path = writeSource('[\n {"a":"é😀\\"],{"},\n{"a":[1,\t2]} , 5,{"b":"\\u0041"}]\n', 'small.json')
  const whole = await readAnySource(path)
  for (let readBytes = 1; readBytes <= 9; readBytes += 1) {
    expect(await readAnySource(path, { readBytes })).toEqual(whole)
  }
  expect(whole.cells).toEqual([['é😀"],{'], ['[1,\t2]'], [], ['', 'A']])
})

test('an element that is not an object is a row with an error that says where', async () => {
  const source = await read('[{"a":1},\n  {"a":1 "b":2}, 7,, "x",\n[1],{"a":[\n1,]}]')
  expect(source.rows.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([
    'row 2: must be one JSON object; line 2, character 10: expected a comma or } after the value, found `{"a":1 "b":2}`',
    'row 3: must be one JSON object; line 2, character 18: expected an object, which begins with {, found `7`',
    'row 4: must be one JSON object; line 2, character 20: expected an object, which begins with {, found ``',
    'row 5: must be one JSON object; line 2, character 22: expected an object, which begins with {, found `"x"`',
    'row 6: must be one JSON object; line 3, character 1: expected an object, which begins with {, found `[1]`',
    expect.stringMatching(/^row 7: must be one JSON object; line 3, character 10: expected valid JSON/),
  ])
})

test.each([
  ['is cut off in an object', '[{"a":"1"},{"a":"2', [1, 2, 3]],
  ['is cut off behind an object', '[{"a":"1"},{"a":"2"}', [1, 2, 3]],
  ['ends in a comma', '[{"a":"1"},{"a":"2"},]', [1, 2, 3]],
  ['has something behind it', '[{"a":"1"},{"a":"2"}] x', [1, 2, 3]],
])('an array that %s has a row with an error for that', async (_how, text, rows) => {
  const source = await read(text)
  expect(source.rows.map(({ row }) => row)).toEqual(rows)
  expect(source.rows.at(-1)?.problems).toMatchObject([{ severity: 'error', code: 'not_json' }])
})

test('an array without an object is refused, and one element may have 8 MiB', async () => {
  expect(await failReadingAny(writeSource('[ ]', 'none.json'))).toContain('found none')
  const long = `"${'x'.repeat(8 * 1024 * 1024)}"`
  const source = await read(`[{"a":"1"},{"a":${long}},{"a":"3"}]`)
  expect(source.rows.map(({ cells, problems }) => [cells, problems.map(({ code }) => code)])).toEqual([
    [['1'], []],
    [[], ['oversized_row']],
    [['3'], []],
  ])
})

test.each([
  [
    '{"a":"1"} {"a":"2"}',
    'line 1, character 12: expected a comma or ] between the objects of the array, found `{"a":"1"} {"a":"2"}`',
  ],
  [
    '\n  {"a":"1"}\n  {"a":"2"}\n',
    'line 3, character 3: expected a comma or ] between the objects of the array',
  ],
  ["{'a':'1'}", 'line 1, character 3: expected a key in double quotes'],
  ['{"a":"1"', 'line 1, character 10: expected a comma or } after the value'],
  ['1, 2', 'line 1, character 2: expected an object, which begins with {'],
])('an array in which nothing is an object says where it breaks: [%s]', async (inside, place) => {
  const told = await failReadingAny(writeSource(`[${inside}]`, 'broken.json'))
  expect(told).toContain(place)
  expect(told).toMatch(
    /nothing in it is a JSON object with a key.*\| Correct the file there, or export it again/s,
  )
})

test('lines without any object are refused with the first that breaks, and objects without a key too', async () => {
  const told = await failReadingAny(writeSource('\n{"a":"1" "b":2}\nx\n', 'broken.jsonl'))
  expect(told).toContain(
    'line 2, character 10: expected a comma or } after the value, found `{"a":"1" "b":2}`',
  )
  expect(await failReadingAny(writeSource('{}\n{}\n', 'empty.jsonl'))).toContain(
    'line 1, character 2: expected a key in double quotes, found `{}`',
  )
})

test('a missing comma between two objects of an array is reported as that', async () => {
  const source = await read('[{"a":1},{"a":2}\n{"a":3},{"a":4}]')
  expect(source.rows.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([
    'row 2: must be one JSON object; line 2, character 1: expected a comma or ] between the objects of the array, found `{"a":2}\n{"a":3}`',
  ])
})

test('lines are still read as lines, whatever they begin with', async () => {
  const source = await read('{"a":"1"}\n{"a":"open\n{"a":"3"}\n', 'rows.jsonl')
  expect(source.rows.map(({ cells, problems }) => [cells, problems.length])).toEqual([
    [['1'], 0],
    [[], 1],
    [['3'], 0],
  ])
})
