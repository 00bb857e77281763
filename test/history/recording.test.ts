import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecording, readRecording, toArrival, toIds } from '../helpers/history/recording.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const toPost = (postId: string) => ({ path: '/api/v1/task/sync', body: JSON.stringify({ post_id: postId }) })

test('a recording in a file is read as written, and a line that is not an event is named', () => {
  const file = join(createTemporaryFolder(), 'recording.jsonl')
  const recording = createRecording(file)
  recording.note(toArrival(toPost('p1'), { atUs: 1, status: 200, took: true, answer: '{"post_id":"p1"}' }))
  recording.note(toArrival(toPost('p2'), { atUs: 2, status: null, took: true, answer: null }))
  recording.note({ kind: 'callback', ids: ['p2'], atUs: 3, status: 200, body: '{"post_id":"p2"}' })
  expect(readRecording(file)).toEqual(recording.events)
  appendFileSync(file, '{"kind":"arrival"}\n')
  expect(() => readRecording(file)).toThrow(`line 4 of ${file} is not an event of a recording`)
})

test.each([
  ['a post', toPost('p1'), ['p1']],
  [
    'an index item to add',
    { path: '/', body: '{"url":"https://a.example/1.png"}' },
    ['https://a.example/1.png'],
  ],
  ['an index item to remove', { path: '/', body: '{"custom_index_item_id":"i1"}' }, ['i1']],
  ['terms', { path: '/', body: '{"terms":[{"term":"a"},{"term":"b"}]}' }, ['a', 'b']],
  ['an appeal', { path: '/api/v1/appeals/status/a%2F1', body: '' }, ['a/1']],
  ['a body that is not JSON', { path: '/', body: '{' }, []],
])('%s is recognised by its id', (_, request, ids) => {
  expect(toIds(request)).toEqual(ids)
})
