import { expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { UnlistedFields } from '../../../../src/main/engine/mapping/unlisted-fields.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan } from './build-plan.ts'

/** The request of a row with these cells, its problems, and those of all rows. */
function check(
  operation: PlanInput['operation'],
  cells: Record<string, string>,
  mapping: PlanInput['mapping'] = {},
) {
  const columns = Object.keys(cells)
  const plan = buildPlan({ operation, mapping })
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const { body } = createRowMapper(resolved, columns, 'r1')(1, Object.values(cells))
  const unlisted = new UnlistedFields(plan, resolved.mapping, columns)
  unlisted.note(Object.values(cells), body)
  return {
    body,
    ofRow: createRowValidator(resolved)(1, body).map(({ severity, code, field }) => [severity, code, field]),
    ofAll: unlisted
      .findWarnings()
      .map((warning) => `${warning.severity} ${warning.field}: ${sayExpected(warning, 'terminal')}`),
  }
}

const TASK = { text_data: 'x', user_id: 'u', user_metadata: '{}' }
const SYNC = [
  ['a task', { kind: 'task' }, TASK],
  ['an item to add', { kind: 'index-add', indexId: 'i' }, { url: 'https://a.example/1.png' }],
  ['an item to remove', { kind: 'index-remove', indexId: 'i' }, { custom_index_item_id: 'item-1' }],
] as const
const URL_CELL = { callback_url: 'https://me.example/cb' }

test.each(SYNC)(
  'a column named callback_url is left out of %s in sync, with a warning',
  (_, operation, cells) => {
    const { body, ofRow, ofAll } = check(operation, { ...cells, ...URL_CELL })
    expect(body).not.toHaveProperty('callback_url')
    expect(ofRow).toEqual([])
    expect(ofAll).toEqual([
      'warning callback_url: is documented for async only; the column of that name is not sent unless you map it',
    ])
  },
)

test.each(SYNC)('a mapped callback_url goes out with %s in sync, with a warning', (_, operation, cells) => {
  const mapping = { callback_url: { kind: 'column' as const, column: 'callback_url' } }
  const { body, ofRow, ofAll } = check(operation, { ...cells, ...URL_CELL }, mapping)
  expect(body).toMatchObject(URL_CELL)
  expect(ofRow).toEqual([])
  expect(ofAll).toEqual(['warning callback_url: is documented for async only; it is sent anyway'])
})

test('conversation_id in async is omitted if only its column is named so, and sent with a warning if it is mapped', () => {
  const async = { kind: 'task', mode: 'async' } as const
  const cells = { ...TASK, 'Conversation ID': 'c' }
  expect(check(async, cells)).toMatchObject({
    body: expect.not.objectContaining({ conversation_id: 'c' }),
    ofRow: [],
    ofAll: [expect.stringContaining('is documented for sync only; the column of that name is not sent')],
  })
  const mapping = { conversation_id: { kind: 'column' as const, column: 'Conversation ID' } }
  expect(check(async, cells, mapping)).toMatchObject({
    body: { conversation_id: 'c' },
    ofRow: [],
    ofAll: ['warning conversation_id: is documented for sync only; it is sent anyway'],
  })
})

test('fields of the other mode in a whole request are sent, with a warning for their row', () => {
  const request = JSON.stringify({ ...TASK, user_metadata: {}, ...URL_CELL })
  const mapping = { request: { kind: 'column' as const, column: 'json' } }
  expect(check({ kind: 'task' }, { json: request }, mapping)).toMatchObject({
    body: URL_CELL,
    ofRow: [['warning', 'not_for_mode', 'callback_url']],
    ofAll: [],
  })
})

test('a field of this mode is filled by a column of its name without a warning', () => {
  expect(check({ kind: 'task', mode: 'async' }, { ...TASK, ...URL_CELL })).toMatchObject({
    body: URL_CELL,
    ofRow: [],
    ofAll: [],
  })
  expect(check({ kind: 'task' }, { ...TASK, conversation_id: 'c' })).toMatchObject({
    body: { conversation_id: 'c' },
    ofRow: [],
    ofAll: [],
  })
})

test('only rows with a value for such a field count, mapped or not', () => {
  const columns = ['text_data', 'user_id', 'callback_url']
  const callback = { callback_url: { kind: 'column' as const, column: 'callback_url' } }
  const count = (api: 'v1' | 'v2', mapping: PlanInput['mapping'], callbacks: readonly string[]) => {
    const plan = buildPlan({ api, mapping })
    const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
    const mapRow = createRowMapper(resolved, columns, 'r1')
    const unlisted = new UnlistedFields(plan, resolved.mapping, columns)
    for (const [at, url] of callbacks.entries()) {
      const cells = [at === 0 ? 'a text' : '', 'u1', url]
      unlisted.note(cells, mapRow(at + 1, cells, null).body)
    }
    return unlisted.findWarnings().map(({ code, field, rows }) => [code, field, rows])
  }
  const some = ['', 'https://me.example/cb', '']
  expect(count('v1', {}, some)).toEqual([['not_for_mode', 'callback_url', 1]])
  expect(count('v1', callback, some)).toEqual([['not_for_mode', 'callback_url', 1]])
  expect(count('v1', {}, ['', ''])).toEqual([])
  expect(count('v1', callback, ['', ''])).toEqual([])
  expect(count('v2', {}, ['', '', ''])).toEqual([['not_for_api', 'text_data', 1]])
})
