import { expect, test } from 'vitest'
import { AnswerContent, NO_CONTENT } from '../../../src/shared/service/answer-content.ts'

test('an answer gives what its operation needs, and nothing if it is not one', () => {
  const task = new AnswerContent('{"language":"EN","message":"ok"}', 'content')
  expect(task.task?.languages).toEqual(['EN'])
  expect(task.appeal).toBeNull()
  expect(task.serviceMessage).toBeNull()
  expect(new AnswerContent('{"message":"Added."}', 'term').serviceMessage).toBe('Added.')
  expect(new AnswerContent('{"appeal":{"appeal_status":"OPEN"}}', 'appeal').appeal?.status).toBe('OPEN')
  for (const nothing of [NO_CONTENT, new AnswerContent('<html>', 'content')]) {
    expect(nothing.body).toBeUndefined()
    expect(nothing.task).toBeNull()
    expect(nothing.fromCache).toBeNull()
  }
})

test.each([
  ['{"from_cache":true}', true],
  ['{"result":{"from_cache":false}}', false],
  ['{"from\\u005fcache":true}', true],
  ['{"from_cache":"yes"}', null],
  ['{"text":"of from_cache"}', null],
  ['{}', null],
])('whether an answer came from the cache is read in every form (%s)', (text, fromCache) => {
  expect(new AnswerContent(text, 'content').fromCache).toBe(fromCache)
})
