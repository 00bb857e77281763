import { expect, test } from 'vitest'
import { formatRowDetail } from '../../../../src/main/cli/summary/row-text.ts'
import type { RowDetail } from '../../../../src/shared/run/results.ts'
import { createPlainTerminal } from '../plain-terminal.ts'

const DETAIL = {
  result: {
    row: 1,
    place: { row: 1, line: null },
    state: 'succeeded',
    status: 200,
    errorCode: null,
    message: null,
    taskId: null,
    postId: null,
    customIndexItemId: null,
    answer: null,
    triggeredRules: [],
    durationMs: 1,
    callbackLatencyMs: null,
    attempts: 1,
    classScores: [],
    cells: ['x'],
  },
  columns: ['text_data'],
  requestBody: '{"content_metadata":{"id":12345678901234567890}}',
  requestMethod: 'POST',
  requestUrl: 'https://service.test/',
  rowHash: '0123456789abcdef0123456789abcdef',
  responseBody: '{"user_id":"u","user_id":12345678901234567890,"ratio":1.50}',
  responseCutFrom: null,
  attempts: [],
  callbacks: [],
  problems: [],
} satisfies RowDetail

const show = (changes: Partial<RowDetail> = {}) =>
  formatRowDetail(createPlainTerminal(110), { ...DETAIL, ...changes })

test('a row shows the JSON of its exchange as it came, long numbers and doubled members included', () => {
  const text = show()
  expect(text).toContain('"id": 12345678901234567890')
  expect(text).toMatch(/"user_id": "u",\n +"user_id": 12345678901234567890,\n +"ratio": 1\.50/)
})

test('a body that was cut says so where it ends, with the length it had', () => {
  const cut = { bytes: 5_000_000 }
  expect(show({ responseBody: '{"a":', responseCutFrom: cut })).toMatch(/\{"a":\n.*cut here: .* of 5\.0 MB/)
  const callback = { receivedAt: '2026-01-01T00:00:00.000Z', effect: 'settled', body: '{"b":', cutFrom: cut }
  expect(show({ callbacks: [callback] })).toMatch(/\{"b":\n.*cut here: .* of 5\.0 MB/)
  expect(show()).not.toContain('cut here')
})
