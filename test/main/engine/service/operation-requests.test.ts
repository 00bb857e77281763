import { expect, test } from 'vitest'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { createTestExchange } from './answers.ts'

const TASK = { text_data: 't', user_id: 'u', post_id: 'p' }

test.each<[PlanInput['operation'], string]>([
  [{ kind: 'task' }, '/api/v1/task/sync'],
  [{ kind: 'task', legacy: true }, '/api/v1/task/sync?legacy=1'],
  [{ kind: 'task', mode: 'async' }, '/api/v1/task/async'],
  [{ kind: 'task', mode: 'async', legacy: true }, '/api/v1/task/async?legacy=1'],
  [{ kind: 'task', api: 'v2' }, '/api/v2/task/sync'],
  [{ kind: 'task', api: 'v2', mode: 'async' }, '/api/v2/task/async'],
  [{ kind: 'index-add', indexId: 'my logos/2' }, '/api/v1/custom_index/my%20logos%2F2/add/sync'],
  [{ kind: 'index-add', indexId: 'i', mode: 'async' }, '/api/v1/custom_index/i/add/async'],
  [{ kind: 'index-remove', indexId: 'i' }, '/api/v1/custom_index/i/remove/sync'],
  [{ kind: 'index-remove', indexId: 'i', mode: 'async' }, '/api/v1/custom_index/i/remove/async'],
])('%j goes to %s with the body of its row and the key', (operation, path) => {
  const { toRequest, toRowKeys } = createTestExchange(operation)
  expect(toRequest([TASK], null)).toEqual({
    method: 'POST',
    path,
    body: JSON.stringify(TASK),
    isAnonymous: false,
  })
  const repeated: Record<string, string[]> = {
    task: [TASK.post_id, TASK.user_id],
    'index-add': [],
    'index-remove': [''],
  }
  expect(toRowKeys([TASK])).toEqual(repeated[operation.kind])
})

test('v2 tasks go to the second host if there is one, everything else to the first', () => {
  const second = { taskBaseUrl: 'https://tasks.test/v' }
  expect(createTestExchange({ kind: 'task', api: 'v2' }, second).baseUrl).toBe('https://tasks.test/v')
  expect(createTestExchange({ kind: 'task', api: 'v2' }).baseUrl).toBe('https://service.test')
  expect(createTestExchange({ kind: 'task' }, second).baseUrl).toBe('https://service.test')
  expect(createTestExchange({ kind: 'index-add', indexId: 'i' }, second).baseUrl).toBe('https://service.test')
})

test('many terms make one request, compared lower-cased', () => {
  const terms = [{ term: 'Gift CARD', notes: 'n' }, { term: 'ÄRGER', notes: null }, { term: 'x' }]
  const add = createTestExchange({ kind: 'watchlist-add', watchlist: 'blocked_terms' })
  expect(add.toRequest(terms, null)).toEqual({
    method: 'POST',
    path: '/api/v1/watchlist/add',
    body: JSON.stringify({ watchlist: 'blocked_terms', terms }),
    isAnonymous: false,
  })
  expect(add.toRowKeys(terms)).toEqual(['gift card', 'ärger', 'x'])
  const update = createTestExchange({ kind: 'watchlist-update', watchlist: 'w' })
  expect(update.toRequest(terms, null).path).toBe('/api/v1/watchlist/update')
})

test('an appeal is requested without a key and without a body', () => {
  const { toRequest } = createTestExchange({ kind: 'appeal-status' })
  expect(toRequest([{ appeal_id: 'A/1 ü' }], null)).toEqual({
    method: 'GET',
    path: '/api/v1/appeals/status/A%2F1%20%C3%BC',
    body: null,
    isAnonymous: true,
  })
})

test('an async request says where its result goes, unless the row itself does', () => {
  const { toRequest, toRowKeys } = createTestExchange({ kind: 'task', mode: 'async' })
  const ours = 'https://receiver.test/callback/r/1/mac'
  expect(toRequest([TASK], ours).body).toBe(JSON.stringify({ ...TASK, callback_url: ours }))
  const own = { ...TASK, callback_url: 'https://elsewhere.test/' }
  expect(toRequest([own], ours).body).toBe(JSON.stringify(own))
  expect(toRowKeys([own])).not.toEqual(toRowKeys([TASK]))
  expect(TASK).not.toHaveProperty('callback_url')
})

test('a sync request does not mention callbacks', () => {
  const { toRequest } = createTestExchange({ kind: 'index-add', indexId: 'i' })
  expect(toRequest([{ url: 'u' }], 'https://receiver.test/').body).toBe('{"url":"u"}')
})

test('an item of one row accepts no second row', () => {
  const { toRequest } = createTestExchange({ kind: 'task' })
  expect(() => toRequest([TASK, TASK], null)).toThrow('one row for each request, not 2')
})
