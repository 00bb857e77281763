import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readAnySource, writeSource } from './read-source.ts'

const LINES =
  '{"id":"p1","user":{"id":"u1","name":{"first":"x","n":1.0}},"text":"hi","user_metadata":{"a":1}}\n' +
  '{"id":"p2","user":null,"text":"ho","tags":[{"b":1}]}\n' +
  '{"user":{"name":{"n":null},"id":12345678901234567890}}\n'

test('fields of objects are columns after the keys, every value unchanged', async () => {
  const source = await readAnySource(writeSource(LINES, 'nested.jsonl'))
  expect(source.columns).toEqual([
    ...['id', 'user', 'text', 'user_metadata', 'tags'],
    ...['user.id', 'user.name.first', 'user.name.n'],
  ])
  expect(source.cells.map((cells) => cells.slice(5))).toEqual([
    ['u1', 'x', '1.0'],
    ['', '', ''],
    ['12345678901234567890', '', ''],
  ])
  const { columns, rows } = await previewSource({ path: writeSource(LINES, 'seen.jsonl'), header: true }, 2)
  expect(columns).toEqual(source.columns)
  expect(rows[0]?.cells.at(-1)).toBe('1.0')
})

test('a key of the row takes precedence over a field of an object, and a field that occurs twice gets a warning', async () => {
  const source = await readAnySource(
    writeSource('{"user.id":"own","user":{"id":"inner","name":"a","name":"b"}}\n', 'own.jsonl'),
  )
  expect(source.columns).toEqual(['user.id', 'user', 'user.name'])
  expect(source.cells[0]).toEqual(['own', '{"id":"inner","name":"a","name":"b"}', 'b'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has a key more than once; its last value is used, found `user.name`',
  ])
})

test('a reader that knows which fields are used keeps only those', async () => {
  const reader = await openSource({ path: writeSource(LINES, 'kept.jsonl'), header: true })
  reader.keepNested?.(['user.name.n', 'text'])
  expect(reader.columns).toEqual(['id', 'user', 'text', 'user_metadata', 'tags', 'user.name.n'])
  const cells: string[][] = []
  const kinds: (string | undefined)[] = []
  for await (const { rows } of reader.batches()) {
    cells.push(...rows.map((row) => row.cells))
    kinds.push(...rows.map((row) => row.kinds))
  }
  expect(cells.map((row) => row[5])).toEqual(['1.0', '', ''])
  expect(kinds).toEqual(['sjsj-j', 'sns-j-', '-j---n'])
  reader.close()
})

test('objects with fields that differ from row to row give a limited number of columns', async () => {
  const lines = Array.from(
    { length: 1_000 },
    (_, index) => `{"m":{"k${index}":"v","deep":{"a":{"b":{"c":1}}}}}\n`,
  )
  const source = await readAnySource(writeSource(lines.join(''), 'many.jsonl'))
  expect(source.columns).toHaveLength(201)
  expect(source.problems).toEqual([])
})
