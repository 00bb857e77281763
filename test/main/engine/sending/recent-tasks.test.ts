import { expect, test } from 'vitest'
import { RecentTasks } from '../../../../src/main/engine/sending/recent-tasks.ts'
import { createJudgement, type Judgement } from '../../../../src/main/engine/service/judgement.ts'

/** The mark of an answer that names this task, to this request. */
function note(tasks: RecentTasks, taskId: string, request: number, parts: Partial<Judgement> = {}) {
  const judgement = createJudgement({ outcome: 'succeeded', taskId, ...parts })
  tasks.note(judgement, request)
  return judgement.answer
}

test('the task of any of the last 10,000 answers is known as that of another request', () => {
  const tasks = new RecentTasks()
  for (let request = 1; request <= 25_000; request += 1) note(tasks, `t${request}`, request)
  expect(note(tasks, 't15001', 1)).toBe('shared_task')
  expect(note(tasks, 't25000', 25_000)).toBeNull()
})

test.each<[string, Partial<Judgement>]>([
  ['repeats its own post_id', { echo: { kind: 'verified' } }],
  ['comes from a cache', { fromCache: true }],
  ['acknowledges its request', { isAcknowledgement: true }],
  ['refuses its request', { outcome: 'rejected' }],
  ['names no task', { taskId: null }],
])('an answer that %s is not marked', (_, parts) => {
  const tasks = new RecentTasks()
  note(tasks, 't', 1)
  expect(note(tasks, 't', 2, parts)).toBeNull()
  expect(note(tasks, 't', 2)).toBe('shared_task')
})

test('an answer without a result stays marked as that', () => {
  const tasks = new RecentTasks()
  note(tasks, 't', 1)
  expect(note(tasks, 't', 2, { answer: 'no_result' })).toBe('no_result')
})
