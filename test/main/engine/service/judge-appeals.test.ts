import { expect, test } from 'vitest'
import { createTestExchange, LOST, toAnswer, toError } from './answers.ts'

const { judge } = createTestExchange({ kind: 'appeal-status' })
const DECISION = { action_id: 'a1', display_name: 'Remove post', action_reasons: ['spam', { name: 'scam' }] }

function judgeAppeal(appeal: unknown, decision: unknown = {}) {
  return judge(toAnswer(200, { appeal_id: 'x', appeal, original_decision: decision }), [])
}

test.each([
  [{ appeal_status: 'In Review' }, 'in_review', 'In Review; no judgment; no original decision'],
  [
    { appeal_status: 'In Review', appeal_judgment: { action_name: 'Keep' } },
    'in_review',
    'In Review; judgment: Keep; no original decision',
  ],
  [
    { appeal_status: 'Reviewed', appeal_judgment: { action_name: 'Restore', overturned: true } },
    'overturned',
    'Reviewed: overturned; judgment: Restore; no original decision',
  ],
  [
    {
      appeal_status: 'Reviewed',
      appeal_judgment: { action_id: 'a1', action_reasons: ['fits'], overturned: false },
    },
    'upheld',
    'Reviewed: upheld; judgment: a1 (fits); no original decision',
  ],
  [
    { appeal_status: 'Reviewed', appeal_judgment: {} },
    'reviewed',
    'Reviewed; judgment: no action named; no original decision',
  ],
  [{ appeal_status: 'Reviewed' }, 'reviewed', 'Reviewed; no judgment; no original decision'],
  [
    { appeal_status: 'Reviewed', appeal_judgment: { action_id: 'a1', overturned: 'true' } },
    'overturned',
    'Reviewed: overturned; judgment: a1; no original decision',
  ],
  [
    { appeal_status: 'Reviewed', appeal_judgment: { action_id: 'a1', overturned: ' False' } },
    'upheld',
    'Reviewed: upheld; judgment: a1; no original decision',
  ],
  [
    { appeal_status: 'Reviewed', appeal_judgment: { action_id: 'a1', overturned: 1 } },
    'other_status',
    'Reviewed, but `overturned` is 1, not true or false; judgment: a1; no original decision',
  ],
  [
    { appeal_status: 'Reviewed', appeal_judgment: { action_id: 'a1', overturned: null } },
    'reviewed',
    'Reviewed; judgment: a1; no original decision',
  ],
])('%j stands as %s', (appeal, answer, message) => {
  expect(judgeAppeal(appeal)).toMatchObject({ outcome: 'succeeded', answer, message })
})

test('the original decision is shown with its reasons', () => {
  expect(judgeAppeal({ appeal_status: 'In Review' }, DECISION).message).toBe(
    'In Review; no judgment; original decision: Remove post (spam, scam)',
  )
  expect(judgeAppeal({ appeal_status: 'In Review' }, { action_id: 'a9' }).message).toContain(
    'original decision: a9',
  )
  expect(judgeAppeal({ appeal_status: 'In Review' }, { action_reasons: [{ a: 1 }] }).message).toContain(
    'original decision: no action named ({"a":1})',
  )
})

test('an unknown appeal status is shown as received', () => {
  expect(judgeAppeal({ appeal_status: 'Withdrawn' })).toMatchObject({
    outcome: 'succeeded',
    answer: 'other_status',
    message: 'Withdrawn; no judgment; no original decision',
  })
  expect(judgeAppeal({ appeal_status: 'IN_REVIEW' }).answer).toBe('in_review')
})

test('an unknown appeal is refused', () => {
  expect(judge(toError(400, 'INVALID_APPEAL', 'no such appeal'), [])).toMatchObject({
    outcome: 'rejected',
    repeat: 'never',
    errorCode: 'INVALID_APPEAL',
    message: 'no such appeal',
  })
})

test('an answer without a status is not understood, and may be requested again', () => {
  for (const body of [{}, { appeal: {} }, { appeal: 'In Review' }, { appeal_id: 'x' }]) {
    expect(judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
  }
  expect(judge(LOST, [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
})

test.each([
  [{ success: false, message: 'no such appeal' }, 'error', 'no such appeal'],
  [{ appeal_id: 'a1', appeal: { appeal_status: 'Reviewed' }, error: 'stale' }, 'error', 'stale'],
])('a 200 that reports a failure is one: %j', (body, errorCode, message) => {
  const found = { outcome: 'rejected', repeat: 'never', answer: null, errorCode, message }
  expect(judge(toAnswer(200, body), ['a1'])).toMatchObject(found)
})
