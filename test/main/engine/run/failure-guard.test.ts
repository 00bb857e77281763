import { expect, test } from 'vitest'
import { FailureGuard } from '../../../../src/main/engine/run/failure-guard.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { toJudgement } from './to-judgement.ts'

const success = toJudgement()
const refusal = toJudgement({ outcome: 'rejected', status: 400 })
const forbidden = toJudgement({ outcome: 'rejected', status: 403 })
const unauthorized = toJudgement({ outcome: 'rejected', status: 401 })
const unreached = toJudgement({ outcome: 'failed', status: null, reached: false, message: 'refused' })
const broken = toJudgement({ outcome: 'unknown', status: null })

function createGuard(
  readKeySource = () => 'in the environment variable THE_KEY',
  stop?: { errorPercent: number; afterRows: number },
) {
  const clock = { nowMs: 0 }
  const guard = new FailureGuard({
    nowMs: () => clock.nowMs,
    origin: 'https://moderation.test',
    readKeySource,
    stop,
  })
  const note = (judgement: Judgement, times: number, settled = true): void => {
    for (let i = 0; i < times; i += 1) {
      guard.note(judgement)
      if (settled) guard.noteSettled(judgement.outcome)
    }
  }
  return { guard, clock, note }
}

test('a healthy run is not stopped', () => {
  const { guard, note } = createGuard()
  note(success, 1_000)
  expect(guard.reason()).toBeNull()
})

test('five consecutive refusals of the key mean a wrong key, for both 401 and 403', () => {
  const { guard, note } = createGuard()
  note(forbidden, 2)
  note(unauthorized, 2)
  expect(guard.reason()).toBeNull()
  note(forbidden, 1)
  expect(guard.reason()).toEqual({
    code: 'key_refused',
    reason: 'https://moderation.test refused the API key 5 times in a row (401, 403 or INVALID_API_KEY)',
    advice: 'Check the API key in the environment variable THE_KEY, then resume; rows not sent yet are kept.',
  })
})

test('the error names the key in use, wherever it comes from', () => {
  let source = 'in the environment variable THE_KEY'
  const { guard, note } = createGuard(() => source)
  note(forbidden, 5)
  expect(guard.reason()?.advice).toContain(
    'Check the API key in the environment variable THE_KEY, then resume',
  )
  source = 'that was typed in'
  expect(guard.reason()?.advice).toContain('Check the API key that was typed in, then resume')
})

test('INVALID_API_KEY means a wrong key whatever its status, and PARAM_REQUIRED does not, even as 403', () => {
  const badKey = createGuard()
  badKey.note(toJudgement({ outcome: 'rejected', status: 400, errorCode: 'INVALID_API_KEY' }), 5)
  expect(badKey.guard.reason()?.code).toBe('key_refused')
  expect(badKey.guard.reason()?.reason).toContain('refused the API key 5 times in a row')
  const badParam = createGuard()
  badParam.note(toJudgement({ outcome: 'rejected', status: 403, errorCode: 'PARAM_REQUIRED' }), 20)
  expect(badParam.guard.reason()).toBeNull()
  const badCode = createGuard()
  badCode.note(toJudgement({ outcome: 'rejected', status: 403, errorCode: 'SUSPENDED' }), 5)
  expect(badCode.guard.reason()?.reason).toContain('refused the API key 5 times in a row')
})

test('any other answer in between restarts the count, but a broken connection does not', () => {
  const { guard, note } = createGuard()
  note(forbidden, 4)
  note(success, 1)
  note(forbidden, 4)
  note(broken, 3)
  expect(guard.reason()).toBeNull()
  note(forbidden, 1)
  expect(guard.reason()?.reason).toContain('refused the API key')
})

test('ten consecutive tries without a connection, from the start, mean that the service is not there', () => {
  const { guard, note } = createGuard()
  note(unreached, 9, false)
  expect([guard.isAway, guard.reason()]).toEqual([false, null])
  note(unreached, 1, false)
  expect(guard.isAway).toBe(true)
  expect(guard.reason()).toEqual({
    code: 'unreachable',
    reason: 'Nothing can be reached at https://moderation.test: refused',
    advice: 'Rows not sent yet are kept.',
  })
})

test('a service that was available may be away for half a minute', () => {
  const { guard, clock, note } = createGuard()
  note(success, 1)
  clock.nowMs = 5_000
  note(unreached, 10, false)
  clock.nowMs = 34_999
  note(unreached, 1, false)
  expect([guard.isAway, guard.reason()]).toEqual([true, null])
  clock.nowMs = 35_000
  expect(guard.reason()?.reason).toContain('Nothing can be reached')
})

test('a service that comes back gets another half minute', () => {
  const { guard, clock, note } = createGuard()
  note(success, 1)
  note(unreached, 10, false)
  clock.nowMs = 29_000
  note(success, 1)
  expect(guard.isAway).toBe(false)
  clock.nowMs = 31_000
  note(unreached, 10, false)
  expect([guard.isAway, guard.reason()]).toEqual([true, null])
})

test('an error rate over a fifth counts only after fifty settled rows', () => {
  const { guard, note } = createGuard()
  note(refusal, 11)
  note(success, 38)
  expect(guard.reason()).toBeNull()
  note(success, 1)
  expect(guard.reason()).toEqual({
    code: 'mostly_errors',
    reason: '22 % of the first 50 rows did not succeed (over 20 %)',
    advice: 'Look at the errors, then resume; rows not sent yet are kept.',
  })
})

test('an error rate of a fifth is accepted, and tries that will be repeated do not count', () => {
  const { guard, note } = createGuard()
  note(refusal, 10)
  note(success, 40)
  note(broken, 500, false)
  expect(guard.reason()).toBeNull()
})

test('a plan sets how many errors of how many rows are too many', () => {
  const { guard, note } = createGuard(undefined, { errorPercent: 50, afterRows: 4 })
  note(refusal, 3)
  expect(guard.reason()).toBeNull()
  note(success, 3)
  expect(guard.reason()).toBeNull()
  note(refusal, 1)
  expect(guard.reason()?.reason).toBe('57 % of the first 7 rows did not succeed (over 50 %)')
})

test('a share that is slightly too large is not rounded to the limit', () => {
  const { guard, note } = createGuard()
  note(success, 216)
  note(refusal, 55)
  expect(guard.reason()?.reason).toBe('20.3 % of the first 271 rows did not succeed (over 20 %)')
})

test('100 % of errors never stop a run, and 0 % stops at the first', () => {
  const patient = createGuard(undefined, { errorPercent: 100, afterRows: 1 })
  patient.note(refusal, 500)
  expect(patient.guard.reason()).toBeNull()
  const strict = createGuard(undefined, { errorPercent: 0, afterRows: 1 })
  strict.note(success, 10)
  expect(strict.guard.reason()).toBeNull()
  strict.note(refusal, 1)
  expect(strict.guard.reason()?.code).toBe('mostly_errors')
})

test('rows of unknown outcome count as errors', () => {
  const { guard, note } = createGuard()
  note(success, 39)
  note(broken, 11)
  expect(guard.reason()?.reason).toContain('22 % of the first 50 rows')
})

test('only 429s for five minutes mean a limit that does not go away', () => {
  const { guard, clock, note } = createGuard()
  const throttled = toJudgement({ outcome: 'rejected', status: 429, repeat: 'safe' })
  note(throttled, 40, false)
  clock.nowMs = 1_000
  note(success, 1)
  clock.nowMs = 2_000
  note(throttled, 1, false)
  clock.nowMs = 301_999
  note(throttled, 1, false)
  note(broken, 1, false)
  expect(guard.reason()).toBeNull()
  clock.nowMs = 302_000
  expect(guard.reason()).toEqual({
    code: 'throttled',
    reason: 'https://moderation.test has answered nothing but 429 (too many requests) for 5 min',
    advice: 'Wait until the limit is lifted, or send more slowly; rows not sent yet are kept.',
  })
})

test('a service rewrites ids if the first five answers that name one all name ids that nobody sent', () => {
  const foreign = { kind: 'mismatched', field: 'post_id', expected: 'p', found: 'x' } as const
  const rewritten = toJudgement({ outcome: 'unknown', echo: { ...foreign, isOfOtherRow: false } })
  const unverifiable = toJudgement({ echo: { kind: 'unverifiable' } })
  const { guard, note } = createGuard()
  note(rewritten, 4)
  note(unverifiable, 20)
  expect(guard.reason()).toBeNull()
  note(rewritten, 1)
  expect(guard.reason()).toMatchObject({ code: 'ids_rewritten' })
  for (const echo of [{ kind: 'verified' }, { kind: 'alike' }, { ...foreign, isOfOtherRow: true }] as const) {
    const other = createGuard()
    other.note(rewritten, 4)
    other.note(toJudgement({ echo }), 1)
    other.note(rewritten, 4)
    expect(other.guard.reason()).toBeNull()
  }
})
