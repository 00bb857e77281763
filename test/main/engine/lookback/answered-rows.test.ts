import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import {
  type AnsweredRow,
  readAnsweredRows,
  type WantedScores,
} from '../../../../src/main/engine/lookback/answered-rows.ts'
import { RowFindings } from '../../../../src/main/engine/run/results/row-findings.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { toRow } from '../run/wire-record.ts'

const ODD = { rule_id: 'r-odd', rule_name: 'Odd' }
const RETRIED = { rule_id: 'r-retried', rule_name: 'Retried' }
const LAST = { rule_id: 'r-last', rule_name: 'Last' }

/** More than two steps of rows. The retry begins in the first step, skips the second, and ends in the third. */
const ROWS = 2_010
const REFUSED = [2, 5, 2_003]

/** Rows in which every third has no score; the refused ones get other rules and scores when they are sent again. */
async function prepare() {
  const folder = createTemporaryFolder()
  const runs = createInProcessRuns(folder)
  let isRetry = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (REFUSED.includes(row) && !isRetry) return wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      const rules = isRetry ? [RETRIED] : row % 2 === 1 ? [ODD, ...(row === ROWS - 1 ? [LAST] : [])] : []
      const classes = [
        { class: 'spam', score: row / 10_000 },
        { class: 'hate', score: isRetry ? 0.9 : 0.1 },
      ]
      const output = row % 3 === 0 ? [] : [{ classes }]
      const status = [{ status: { code: '0', message: 'SUCCESS' }, response: { output } }]
      wire.send(200, { ...toTaskAnswer(request, rules), code: 200, status })
    },
  })
  const pace = { kind: 'closed', concurrency: 16 } as const
  const operation = { kind: 'task', legacy: true } as const
  const plan = createRunPlan(folder, ROWS, server.baseUrl, { operation, pace })
  const first = runs.start(plan)
  await first.ended
  isRetry = true
  const retry = runs.retry(first.runId)
  await retry.ended
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const read = (runId: string, wanted?: WantedScores) => {
    const family = readRunFamily(pool, toJournalFile(folder, runId), () => false) ?? expect.fail('no run')
    const rows = [...readAnsweredRows(family, wanted)].flat()
    const found = [...readAnsweredRows(family, wanted, RowFindings.build(family))].flat()
    expect(found.map(describeRow)).toEqual(rows.map(describeRow))
    return rows
  }
  return { first: first.runId, retry: retry.runId, read }
}

function describeRow(answered: AnsweredRow) {
  const { row, cells, kinds, isAnswered, ruleIds, scores, member } = answered
  const read = { row, cells, kinds, isAnswered, ruleIds: [...ruleIds], scores, runId: member.record.runId }
  return { ...read, each: cells.map((_cell, column) => answered.cell(column)), missing: answered.cell(99) }
}

describe('the rows of a finished run', () => {
  it('come once each in the order of the source, refused ones as their retry was answered, from findings too', async () => {
    const { first, retry, read } = await prepare()
    const rows = read(first)
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1))
    expect(rows.every(({ isAnswered, kinds }) => isAnswered && kinds === null)).toBe(true)
    for (const { row, ruleIds, cells, member } of rows) {
      const isRetried = REFUSED.includes(row)
      const own = row === ROWS - 1 ? ['r-last', 'r-odd'] : row % 2 === 1 ? ['r-odd'] : []
      expect(ruleIds.toSorted(), `row ${row}`).toEqual(isRetried ? ['r-retried'] : own)
      expect(cells).toEqual([`text ${row}`, `user${(row - 1) % 7}`])
      expect(member.record.runId).toBe(isRetried ? retry : first)
    }
    expect(read(retry).map(({ row, ruleIds }) => [row, ruleIds])).toEqual(
      REFUSED.map((row) => [row, ['r-retried']]),
    )
    // Each class in its place, however often it is asked for; null where a row has none.
    const scores = read(first, ['hate', 'none', 'spam', 'hate']).map((row) => row.scores)
    const highest = read(first, 'highest').map((row) => row.scores)
    for (const [index, found] of scores.entries()) {
      const row = index + 1
      const hate = REFUSED.includes(row) ? 0.9 : 0.1
      expect(found).toEqual(row % 3 === 0 ? [null, null, null, null] : [hate, null, row / 10_000, hate])
      expect(highest[index]).toEqual(row % 3 === 0 ? [null] : [Math.max(hate, row / 10_000)])
    }
  })
})
