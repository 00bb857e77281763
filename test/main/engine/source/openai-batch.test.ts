import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { matchColumns } from '../../../../src/shared/mapping/match-columns.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { listReadAs } from '../../../../src/shared/messages/reading-messages.ts'
import { OPERATIONS } from '../../../../src/shared/operations/operations.ts'
import { readAnySource, writeSource } from './read-source.ts'

/** A line in a file of requests to the moderation endpoint. */
function toLine(customId: string, input: unknown, more: object = {}): string {
  const body = { model: 'omni-moderation-latest', input }
  return `${JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/moderations', body, ...more })}\n`
}

const COLUMNS = ['post_id', 'text_data', 'url', 'custom_id', 'input', 'inputs', 'body.model']

test('requests of the batch API are recognised, and give ids and texts instead of their envelope', async () => {
  const path = writeSource(toLine('r-1', 'one\ntwo "é" 😀') + toLine('r-2', ''), 'requests.jsonl')
  const source = await readAnySource(path)
  expect(source.columns).toEqual(COLUMNS)
  expect(source.cells).toEqual([
    ['r-1', 'one\ntwo "é" 😀', '', 'r-1', '', '', 'omni-moderation-latest'],
    ['r-2', '', '', 'r-2', '', '', 'omni-moderation-latest'],
  ])
  expect(source.problems).toEqual([])
  expect(Object.keys(matchColumns(source.columns, OPERATIONS.task.first))).toEqual([
    ...['post_id', 'text_data', 'url'],
  ])
})

test('each of several inputs in a line is a row with its own id, images as addresses', async () => {
  const parts = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    { type: 'image_url', image_url: 'https://example.com/b.png' },
  ]
  const lines = toLine('a', ['x', 'y']) + toLine('b', parts) + toLine('c', ['alone'])
  const source = await readAnySource(writeSource(lines, 'requests.jsonl'))
  expect(source.cells.map((cells) => cells.slice(0, 6))).toEqual([
    ['a-1', 'x', '', 'a', '1', '2'],
    ['a-2', 'y', '', 'a', '2', '2'],
    ['b-1', 'look', '', 'b', '1', '3'],
    ['b-2', '', 'https://example.com/a.png', 'b', '2', '3'],
    ['b-3', '', 'https://example.com/b.png', 'b', '3', '3'],
    ['c', 'alone', '', 'c', '', ''],
  ])
  // A line has several rows, so rows are counted and lines are reported too.
  expect(source.places.map(({ row, sheetRow, line }) => [row, sheetRow, line])).toEqual([
    ...[
      [1, 1, 1],
      [2, 2, 1],
      [4, 4, 2],
      [5, 5, 2],
    ],
  ])
  const { readAs } = await previewSource({ path: writeSource(lines, 'seen.jsonl'), header: true }, 10)
  expect(listReadAs(readAs ?? [], 'terminal')).toEqual([
    'OpenAI batch (guessed; to state it, add --format openai-batch): UTF-8, 2 lines with several inputs, a row for each',
  ])
})

test('a line for another endpoint or method, or with an unknown input, is an error that keeps its content', async () => {
  const lines =
    toLine('r-1', 'fine') +
    toLine('r-2', 'chat', { url: '/v1/chat/completions' }) +
    toLine('r-3', 'read', { method: 'GET' }) +
    toLine('r-4', [
      { type: 'file', file: 'x' },
      { type: 'text', text: 'kept' },
    ]) +
    toLine('r-5', [1, 2]) +
    '{"custom_id":"r-6"}\n' +
    'no json\n'
  const source = await readAnySource(writeSource(lines, 'requests.jsonl'))
  expect(source.rows.map(({ problems }) => problems.map(formatProblem).join())).toEqual([
    '',
    'row 2: must be a request to /v1/moderations, found `/v1/chat/completions`',
    'row 3: must have the method POST, found `GET`',
    'row 4: must have texts and images as input, found `{"type":"file","file":"x"}`',
    'row 5: must have texts and images as input, found `1`',
    'row 6: must be a request to /v1/moderations',
    'row 7: must be one JSON object; line 7, character 1: expected an object, which begins with {, found `no json`',
  ])
  const at = (name: string) => source.columns.indexOf(name)
  expect(source.cells[1]?.[at('line.url')]).toBe('/v1/chat/completions')
  expect(source.cells[2]?.[at('line.method')]).toBe('GET')
  expect(source.cells[3]?.[at('body.input')]).toBe(
    '[{"type":"file","file":"x"},{"type":"text","text":"kept"}]',
  )
})

test('further keys of a line and its body are columns, and a key named like ours stays theirs', async () => {
  const line = toLine('r-1', 'hi', { user_id: 'u1', text_data: 'not the input', url: '/v1/moderations' })
  const source = await readAnySource(
    writeSource(line.replace('"model"', '"user":"u9","model"'), 'requests.jsonl'),
  )
  const row = Object.fromEntries(source.columns.map((name, index) => [name, source.cells[0]?.[index]]))
  expect(row).toMatchObject({
    ...{ post_id: 'r-1', text_data: 'hi', user_id: 'u1' },
    ...{ 'line.text_data': 'not the input', 'body.user': 'u9' },
  })
})

test('a duplicate key in a line or its body gets a warning', async () => {
  const line = toLine('r-1', 'hi').replace('"input"', '"input":"lost","input"')
  const source = await readAnySource(writeSource(`{"custom_id":"lost",${line.slice(1)}`, 'requests.jsonl'))
  expect(source.cells[0]?.slice(0, 2)).toEqual(['r-1', 'hi'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has a key more than once; its last value is used, found `custom_id`',
    'row 1: has a key more than once; its last value is used, found `body.input`',
  ])
})

test('stated JSON lines, and requests to other endpoints, are read unchanged', async () => {
  const path = writeSource(toLine('r-1', 'hi'), 'requests.jsonl')
  const stated = await readAnySource(path, { format: 'jsonl' })
  expect(stated.columns).toEqual(['custom_id', 'method', 'url', 'body', 'body.model', 'body.input'])
  const chat = toLine('r-1', 'hi', { url: '/v1/responses' })
  expect((await readAnySource(writeSource(chat, 'chat.jsonl'))).columns).toContain('method')
  const given = await openSource({ path, header: true, format: 'openai-batch' })
  expect(given.format).toBe('openai-batch')
  expect(given.describe?.()).toEqual({})
  given.close()
})
