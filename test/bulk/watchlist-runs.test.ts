import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { expectFaultless, recordService } from '../helpers/history/expect-faultless.ts'
import { createRecording } from '../helpers/history/recording.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { openEngine } from '../helpers/test-engine.ts'
import { openTestFolder } from '../helpers/test-folder.ts'

const TERMS = inject('isLong') ? 5_000 : 1_500
const UNKNOWN = 37

const folder = openTestFolder()

test('a watchlist of many terms is added, added again and updated, with exact counts of every outcome', async () => {
  const sandbox = await withSandbox({ watchlists: { slurs: [] } })
  const engine = openEngine(join(folder, 'workspace'))
  const run = async (notes: string, terms: string[], operation: PlanInput['operation']) => {
    const path = join(folder, `${notes}.csv`)
    writeFileSync(path, `term,notes\n${terms.map((term) => `${term},${notes}`).join('\n')}\n`)
    const recording = createRecording()
    const baseUrl = await recordService(sandbox.baseUrl, recording)
    const plan = planSchema.parse({
      connection: { baseUrl },
      source: { path },
      operation,
      pace: { kind: 'closed', concurrency: 4 },
    })
    const ended = await (await engine.runs.startRun(plan, { apiKey: 'sandbox-key' })).ended
    const judged = expectFaultless(join(folder, 'workspace'), [ended.run_id], recording)
    expect(judged).toEqual({ ok: terms.length, info: 0, fail: 0 })
    return ended
  }
  const terms = Array.from({ length: TERMS }, (_, i) => `Term ${i + 1}`)
  const add = { kind: 'watchlist-add', watchlist: 'slurs' } as const
  const none = { added: 0, pre_existing: 0, updated: 0, non_existent: 0, failed: [] }
  expect(await run('first', terms, add)).toMatchObject({
    rows: { read: TERMS, succeeded: TERMS },
    requests: { sent: TERMS / 500 },
    terms: { ...none, added: TERMS },
  })
  expect((await run('second', terms, add)).terms).toEqual({ ...none, pre_existing: TERMS })
  const unknown = Array.from({ length: UNKNOWN }, (_, i) => `nobody ${i + 1}`)
  const update = { kind: 'watchlist-update', watchlist: 'slurs' } as const
  expect(await run('third', [...terms.slice(0, 1_000), ...unknown], update)).toMatchObject({
    rows: { read: 1_000 + UNKNOWN, succeeded: 1_000, rejected: UNKNOWN },
    terms: { ...none, updated: 1_000, non_existent: UNKNOWN },
  })
  const held = await sandbox.terms('slurs')
  expect(held).toHaveLength(TERMS)
  expect(held.filter(({ notes }) => notes === 'third')).toHaveLength(1_000)
  expect(held.filter(({ notes }) => notes === 'second')).toHaveLength(TERMS - 1_000)
})
