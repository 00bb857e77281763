import { describe, expect, it } from 'vitest'
import { createSampleAppeals } from '../../../src/main/sandbox/appeals.ts'
import { appealStatusPath } from '../../../src/shared/operations/appeal-status.ts'
import { appealResponseSchema } from '../../../src/shared/service/appeal.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

async function readAppeal(sandbox: TestSandbox, appealId: string) {
  const answer = await sandbox.get(appealStatusPath(appealId))
  expect(answer.status).toBe(200)
  return appealResponseSchema.parse(JSON.parse(answer.text))
}

async function readStatus(sandbox: TestSandbox, appealId: string) {
  return (await readAppeal(sandbox, appealId)).appeal.appeal_status
}

describe('an appeal', () => {
  it('is read without a key, in every shape that the interface allows', async () => {
    const sandbox = await withSandbox()
    const appeals = []
    for (let i = 1; i <= 10; i++) appeals.push(await readAppeal(sandbox, `appeal-${i}`))
    const judgments = appeals.map(({ appeal }) => appeal.appeal_judgment)
    const decisions = appeals.map(({ original_decision }) => original_decision)
    const statuses = appeals.map(({ appeal }) => appeal.appeal_status)
    expect(new Set(statuses)).toEqual(new Set(['In Review', 'Reviewed']))
    expect(new Set(judgments.map((judgment) => judgment?.overturned))).toEqual(
      new Set([true, false, undefined]),
    )
    expect(judgments.some((judgment, i) => judgment === undefined && statuses[i] === 'In Review')).toBe(true)
    expect(judgments.every((judgment, i) => judgment !== undefined || statuses[i] === 'In Review')).toBe(true)
    expect(judgments.some((judgment) => judgment?.action_reasons?.length === 1)).toBe(true)
    expect(decisions.some((decision) => Object.keys(decision).length === 0)).toBe(true)
    expect(decisions.some((decision) => Array.isArray(decision['action_reasons']))).toBe(true)
    expect(appeals.map(({ appeal_id }) => appeal_id)).toEqual(
      createSampleAppeals(10).map(({ appeal_id }) => appeal_id),
    )
  })

  it('is reviewed after a number of successful reads', async () => {
    const sandbox = await withSandbox({
      appeals: [{ appeal_id: 'a', reviewed_after_reads: 2, judgment: { overturned: true } }],
      faults: ['503=100%,tries=1'],
    })
    expect((await sandbox.get(appealStatusPath('a'))).status).toBe(503)
    expect(await readStatus(sandbox, 'a')).toBe('In Review')
    expect(await readStatus(sandbox, 'a')).toBe('In Review')
    expect((await readAppeal(sandbox, 'a')).appeal).toEqual({
      appeal_status: 'Reviewed',
      appeal_judgment: { overturned: true },
    })
    expect((await sandbox.admin('GET', '/appeals/a')).body).toMatchObject({ reads: 3, status: 'In Review' })
  })

  it('is reviewed after a time', async () => {
    let atMs = 0
    const clock = { nowMs: () => atMs, date: () => new Date(atMs) }
    const sandbox = await withSandbox({ appeals: [{ appeal_id: 'a', reviewed_after_ms: 60_000 }] }, clock)
    expect(await readStatus(sandbox, 'a')).toBe('In Review')
    atMs = 59_999
    expect(await readStatus(sandbox, 'a')).toBe('In Review')
    atMs = 60_000
    expect(await readStatus(sandbox, 'a')).toBe('Reviewed')
  })

  it('that is unknown is refused, whatever its id looks like', async () => {
    const sandbox = await withSandbox()
    for (const id of ['none', 'a/b?c=d&e', 'ü 🔥', 'appeal-1 ', '%', 'x'.repeat(2_000)]) {
      const answer = await sandbox.get(appealStatusPath(id))
      expect(answer.status).toBe(400)
      expect(serviceErrorSchema.parse(JSON.parse(answer.text)).error_code).toBe('INVALID_APPEAL')
    }
    expect((await sandbox.requests('appeal-status')).map(({ subject }) => subject)).toContain('a/b?c=d&e')
  })

  it('is found by an id with any characters', async () => {
    const appeal_id = 'a/b ü%20#?'
    const sandbox = await withSandbox({ appeals: [{ appeal_id }] })
    expect((await readAppeal(sandbox, appeal_id)).appeal_id).toBe(appeal_id)
  })

  it('has the configured latency, and counts towards the rate limit', async () => {
    const sandbox = await withSandbox({ ratePerSecond: 1, latency: '20ms' })
    const startedAt = performance.now()
    expect((await sandbox.get(appealStatusPath('appeal-1'))).status).toBe(200)
    expect(performance.now() - startedAt).toBeGreaterThan(18)
    const refused = await sandbox.get(appealStatusPath('appeal-1'))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
  })
})

describe('appeals', () => {
  it('are listed, added, replaced and removed by the admin routes', async () => {
    const sandbox = await withSandbox({ appeals: [] })
    expect((await sandbox.admin('GET', '/appeals')).body).toEqual({ total: 0, appeals: [] })
    expect((await sandbox.admin('POST', '/appeals', { samples: 25 })).body).toEqual({ total: 25 })
    expect(await readStatus(sandbox, 'appeal-22')).toBe('Reviewed')
    await sandbox.admin('POST', '/appeals', { appeals: [{ appeal_id: 'appeal-22' }] })
    expect(await readStatus(sandbox, 'appeal-22')).toBe('In Review')
    expect((await sandbox.admin('POST', '/appeals', { appeals: [{ status: 'Lost' }] })).status).toBe(400)
    expect((await sandbox.admin('DELETE', '/appeals/appeal-1')).status).toBe(200)
    expect((await sandbox.admin('DELETE', '/appeals/appeal-1')).status).toBe(404)
    expect((await sandbox.admin('GET', '/appeals/appeal-1')).status).toBe(404)
    expect((await sandbox.admin('GET', '/appeals?offset=23&limit=5')).body).toMatchObject({ total: 24 })
    await sandbox.admin('DELETE', '/appeals')
    expect((await sandbox.get(appealStatusPath('appeal-2'))).status).toBe(400)
  })
})
