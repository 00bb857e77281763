import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { compareDecisions } from '../../../../src/main/engine/lookback/compare-decisions.ts'
import { sampleRun } from '../../../../src/main/engine/lookback/draw-sample.ts'
import { evaluateRun } from '../../../../src/main/engine/lookback/evaluate-run.ts'
import { KeptPairs } from '../../../../src/main/engine/lookback/kept-pairs.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { toRow } from '../run/wire-record.ts'

const ROWS = 30

/** Tables with one entry per row of a run; those of two journals are `a` and `b`. */
const LONG = /\b(SCAN|SEARCH) (row|result|found|a|b)\b/

/** Records the query plan of each statement prepared from now on. */
function recordPlans(): Map<string, string> {
  const plans = new Map<string, string>()
  const { prepare } = DatabaseSync.prototype
  onTestFinished(() => {
    DatabaseSync.prototype.prepare = prepare
  })
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    if (/^\s*(SELECT|INSERT)/i.test(sql)) {
      const steps = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all(...([] as SQLInputValue[]))
      plans.set(sql, steps.map(({ detail }) => String(detail)).join('\n'))
    }
    return prepare.call(this, sql)
  }
  return plans
}

it('lookback queries read all rows in ranges of their numbers, and sort none of them', async () => {
  const folder = createTemporaryFolder()
  const runs = createInProcessRuns(folder)
  let isRetry = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (row % 10 === 0 && !isRetry) return wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      const rules = row % 3 === 0 ? [{ rule_id: 'r3', rule_name: 'user1' }] : []
      const response = { language: 'DE', output: [{ classes: [{ class: 'user1', score: row / 100 }] }] }
      const status = [{ status: { code: '0', message: 'SUCCESS' }, response }]
      wire.send(200, { ...toTaskAnswer(request, rules), code: 200, status })
    },
  })
  const operation = { kind: 'task', legacy: true } as const
  const first = runs.start(createRunPlan(folder, ROWS, server.baseUrl, { operation }))
  await first.ended
  isRetry = true
  await runs.retryAsChild(first.runId).ended
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const family = () =>
    readRunFamily(pool, toJournalFile(folder, first.runId), () => false) ?? expect.fail('no run')

  const plans = recordPlans()
  const evaluation = await evaluateRun(family(), {
    label: 'user_id',
    useVerdicts: false,
    separator: null,
    positives: [],
    scores: [],
    slices: ['language', 'text_data'],
    wantedPrecisions: [],
    whatIf: [],
    assertions: [],
    list: [{ cell: 'tn', rule: null }],
  })
  expect(evaluation).toMatchObject({ rows: { read: ROWS, evaluated: ROWS }, scores: [{ rows: ROWS }] })
  for (const by of [null, 'user_id', 'rule', 'score-band', 'score-band:user1']) {
    const file = join(folder, 'sample.csv')
    await sampleRun(family(), { size: 5, by, allocation: 'equal', seed: 1, file })
  }
  for (const by of ['row', 'content']) {
    const kept = new KeptPairs()
    onTestFinished(() => kept.close())
    const { joined } = await compareDecisions(kept, family(), family(), {
      by,
      list: { kind: 'changed' },
      offset: 0,
      limit: 5,
      labels: null,
    })
    expect(joined).toMatchObject({ rows: ROWS, changed: 0 })
  }
  const long = [...plans].filter(([, plan]) => LONG.test(plan))
  expect(long.length).toBeGreaterThan(5)
  for (const [sql, plan] of long) {
    expect(plan, sql).not.toContain('TEMP B-TREE')
    // The last row is found without reading the others.
    if (!/max\((id|row)\)/.test(sql)) expect(plan, sql).not.toMatch(/SCAN (row|result|found|a|b)\b/)
  }
})
