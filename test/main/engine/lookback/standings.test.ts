import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Counters } from '../../../../src/main/engine/journal/counters.ts'
import { FoundWriter } from '../../../../src/main/engine/journal/found-writer.ts'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { compareDecisions } from '../../../../src/main/engine/lookback/compare-decisions.ts'
import { KeptPairs } from '../../../../src/main/engine/lookback/kept-pairs.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { createRandom } from '../../../../src/shared/lookback/seeded-random.ts'
import { DELIVERY_ANSWERS } from '../../../../src/shared/run/item-state.ts'
import { NO_NAMES } from '../../../../src/shared/service/answer-findings.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'

const ROWS = 60

const RULES = ['Links', 'Pets', 'Spam']

const ENDINGS = [
  ...Array.from({ length: 8 }, () => ({ state: 'succeeded', code: null, status: 200 })),
  { state: 'succeeded', code: 'ODD', status: 200 },
  { state: 'rejected', code: 'BAD', status: 400 },
  { state: 'rejected', code: null, status: 403 },
  { state: 'failed', code: 'ECONNRESET', status: null },
  { state: 'unknown', code: null, status: null },
  { state: 'acknowledged', code: null, status: 202 },
] as const

/** The outcome of a row and its scores of two classes; a row without an outcome is open. */
interface Ending {
  outcome: string | null
  isAnswered: boolean
  rules: string[]
  scores: Map<string, number>
}

/** Gives the rows of a journal other outcomes, rules and scores. */
function changeAtRandom(file: string, random: () => number): Ending[] {
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] ?? expect.fail('nothing to pick')
  const journal = new DatabaseSync(file)
  journal.exec("BEGIN; DELETE FROM found; DELETE FROM rule; DELETE FROM term WHERE kind = 'rules'")
  for (const [id, rule] of RULES.entries()) {
    journal
      .prepare('INSERT INTO rule (id, rule_id, rule_name) VALUES (?, ?, ?)')
      .run(id, `rule-${rule}`, rule)
  }
  const found = new FoundWriter({ db: journal, counters: new Counters(journal) })
  const endings = Array.from({ length: ROWS }, (_, index): Ending => {
    const row = index + 1
    const { state, code, status } = pick(ENDINGS)
    const isAnswered = state === 'succeeded' && code === null
    const answer = isAnswered && random() < 0.3 ? pick(['granted', 'refused', ...DELIVERY_ANSWERS]) : null
    const word = DELIVERY_ANSWERS.some((one) => one === answer) ? null : answer
    journal
      .prepare('UPDATE result SET state = ?, error_code = ?, status = ?, answer = ? WHERE row = ?')
      .run(state, code, status, answer, row)
    const rules = RULES.filter(() => random() < 0.3)
    const scores = new Map(['hate', 'lust'].map((name) => [name, pick([0.1, 0.2, 0.7005])]))
    found.write(row, {
      rules: rules.map((rule) => ({ ruleId: `rule-${rule}`, ruleName: rule })),
      classes: [...scores].map(([className, score]) => ({ className, score })),
      names: NO_NAMES,
    })
    const error = code ?? (status === null ? '' : `HTTP ${status}`)
    const outcome = isAnswered ? (word ?? 'succeeded') : `${state} ${error}`.trim()
    return { outcome: state === 'acknowledged' ? null : outcome, isAnswered, rules, scores }
  })
  found.flush()
  journal.exec('COMMIT')
  journal.close()
  return endings
}

describe('compared runs', () => {
  it('are counted as by reading every row, whatever their journals say', async () => {
    const folder = createTemporaryFolder()
    const server = await startFaultServer({
      onRequest: (request, wire) => wire.send(200, { ...toTaskAnswer(request, []), code: 200 }),
    })
    const plan = createRunPlan(folder, ROWS, server.baseUrl)
    const runs = createInProcessRuns(folder)
    const ids = [(await runs.start(plan).ended).run_id, (await runs.start(plan).ended).run_id]
    for (const seed of [1, 2, 3]) {
      const random = createRandom(seed)
      const [a = [], b = []] = ids.map((runId) => changeAtRandom(toJournalFile(folder, runId), random))
      const pool = new ReaderPool()
      onTestFinished(() => pool.close())
      const [inA, inB] = ids.map(
        (runId) => readRunFamily(pool, toJournalFile(folder, runId), () => false) ?? expect.fail('no run'),
      )
      if (inA === undefined || inB === undefined) expect.fail('two runs')
      const pairs = b.flatMap((own, index) => {
        const other = a[index]
        if (other === undefined || other.outcome === null || own.outcome === null) return []
        return [{ row: index + 1, a: other, b: own, isDecided: other.isAnswered && own.isAnswered }]
      })
      const changed = pairs.filter(
        (pair) =>
          pair.a.outcome !== pair.b.outcome ||
          (pair.isDecided && pair.a.rules.join() !== pair.b.rules.join()),
      )
      const decided = pairs.filter(({ isDecided }) => isDecided)
      const kept = new KeptPairs()
      const compared = await compareDecisions(kept, inA, inB, {
        by: 'row',
        list: { kind: 'changed' },
        offset: 0,
        limit: ROWS,
        labels: null,
      })
      kept.close()
      expect(compared.joined).toMatchObject({ rows: pairs.length, changed: changed.length })
      expect(compared.unfinished).toBe(ROWS - pairs.length)
      expect(
        compared.listed.rows.map((pair) => [
          pair.b.record,
          pair.a.outcome,
          pair.b.outcome,
          pair.b.triggered_rules,
        ]),
      ).toEqual(changed.map((pair) => [pair.row, pair.a.outcome, pair.b.outcome, pair.b.rules]))
      expect(compared.joined.decided).toBe(decided.length)
      for (const { rule, newly, both } of compared.joined.rules) {
        const triggered = decided.filter((pair) => pair.b.rules.includes(rule))
        expect(newly).toBe(triggered.filter((pair) => !pair.a.rules.includes(rule)).length)
        expect(both).toBe(triggered.length - newly)
      }
      for (const moves of compared.scores) {
        const own = decided.map((pair) => {
          const [from = 0, to = 0] = [pair.a, pair.b].map(({ scores }) => scores.get(moves.class))
          return to - from
        })
        expect([moves.rose, moves.fell]).toEqual([
          own.filter((move) => move > 0).length,
          own.filter((move) => move < 0).length,
        ])
      }
      expect(compared.scores.map((moves) => moves.class).sort()).toEqual(['hate', 'lust'])
      expect(compared.joined.rules).toHaveLength(RULES.length)
    }
  })
})
