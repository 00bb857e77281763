import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { KeptEvaluations } from '../../../../src/main/engine/lookback/kept-evaluations.ts'
import { readLabelChoices } from '../../../../src/main/engine/lookback/label-choices.ts'
import { storeVerdicts } from '../../../../src/main/engine/run/journal/verdict-store.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { EvaluationQuestion } from '../../../../src/shared/lookback/evaluation.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { toRow } from '../run/wire-record.ts'

/** More than two steps of rows. */
const ROWS = 2_010

/** Every seventh row has the label `user0`; every fourteenth row triggers the rule. */
const isLabelled = (row: number) => (row - 1) % 7 === 0
const isTriggered = (row: number) => row % 14 === 1

const QUESTION: EvaluationQuestion = {
  label: 'user_id',
  useVerdicts: false,
  positives: [{ value: 'user0', rule: 'Odd' }],
  separator: null,
  slices: [],
  scores: [{ className: 'spam', rule: 'Odd' }],
}

/** A run with an answer to every row, and evaluations of it on a clock that `tick` advances. */
async function prepare({ tickMs = 0 } = {}) {
  const folder = createTemporaryFolder()
  const runs = createInProcessRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const rules = isTriggered(row) ? [{ rule_id: 'r-odd', rule_name: 'Odd' }] : []
      const output = [{ classes: [{ class: 'spam', score: isTriggered(row) ? 3 : isLabelled(row) ? 2 : 0 }] }]
      const status = [{ status: { code: '0', message: 'SUCCESS' }, response: { output } }]
      wire.send(200, { ...toTaskAnswer(request, rules), code: 200, status })
    },
  })
  const plan = createRunPlan(folder, ROWS, server.baseUrl, {
    operation: { kind: 'task', legacy: true },
    pace: { kind: 'closed', concurrency: 16 },
  })
  const run = runs.start(plan)
  await run.ended
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const file = toJournalFile(folder, run.runId)
  let isHeld = false
  let openings = 0
  const openFamily = () => {
    openings += 1
    return readRunFamily(pool, file, () => isHeld) ?? expect.fail('no run')
  }
  let nowMs = 0
  const kept = new KeptEvaluations(() => (nowMs += tickMs))
  return {
    kept,
    openFamily,
    ask: (question = QUESTION) => kept.ask(file, question, openFamily),
    forget: () => kept.forget(file),
    hold: () => {
      isHeld = true
    },
    wait: (ms: number) => {
      nowMs += ms
    },
    countOpenings: () => openings,
  }
}

const SHOULD = Array.from({ length: ROWS }, (_, index) => index + 1).filter(isLabelled)
const MISSED = SHOULD.filter((row) => !isTriggered(row))

describe('an evaluation that a window looks at', () => {
  it('has the figures, the scores as drawn, and the rows of each cell', async () => {
    const { kept, ask, openFamily } = await prepare()
    const { id, progress, evaluation, scores } = await ask()
    expect(progress).toBeNull()
    expect(evaluation?.rules[0]?.matrix).toEqual({
      true_positives: SHOULD.length - MISSED.length,
      false_positives: 0,
      false_negatives: MISSED.length,
      true_negatives: ROWS - SHOULD.length,
    })
    expect(scores).toMatchObject([
      {
        class: 'spam',
        rule: 'Odd',
        curve: { thresholds: [3, 2, 0], positives: SHOULD.length, negatives: ROWS - SHOULD.length },
        bars: [{ from: 0 }, { from: 2, positives: MISSED.length, negatives: 0 }, { from: 3 }],
      },
    ])
    const list = (cell: 'tp' | 'fp' | 'fn' | 'tn', rule: string | null) =>
      kept.list({ evaluation: id, cell, rule }, openFamily)
    expect([...(await list('fn', 'Odd'))]).toEqual(MISSED)
    expect([...(await list('fn', null))]).toEqual(MISSED)
    expect([...(await list('fp', 'Odd'))]).toEqual([])
    expect(await list('tn', 'odd')).toHaveLength(ROWS - SHOULD.length)
    expect(await list('fn', 'Odd')).toBe(await list('fn', 'Odd'))
    await expect(list('tp', 'Even')).rejects.toThrow('`Even` is not part of this evaluation')
  })

  it('reports its progress while it is requested, continues with the next request, and is then kept', async () => {
    const { ask, countOpenings } = await prepare({ tickMs: 100 })
    const first = await ask()
    expect(first).toMatchObject({ evaluation: null, progress: { of: ROWS } })
    expect(first.progress?.rows).toBeGreaterThan(0)
    expect(first.progress?.rows).toBeLessThan(ROWS)
    let last = first
    for (let asked = 0; last.progress !== null && asked < 10; asked += 1) last = await ask()
    expect(last).toMatchObject({ id: first.id, progress: null, evaluation: { rows: { evaluated: ROWS } } })
    const before = countOpenings()
    expect((await ask()).evaluation).toBe(last.evaluation)
    expect(countOpenings() - before).toBe(1)
  })

  it('is shared by concurrent requests, and differs by question', async () => {
    onlyInLongForm()
    const { ask } = await prepare()
    const [one, other, strict] = await Promise.all([
      ask(),
      ask(),
      ask({ ...QUESTION, positives: [{ value: 'user1', rule: 'Odd' }] }),
    ])
    expect(other.evaluation).toBe(one.evaluation)
    expect(strict.id).not.toBe(one.id)
    expect(strict.evaluation?.rules[0]?.matrix.true_positives).toBe(0)
  })

  it('is repeated after a verdict, and shows the previous one until then', async () => {
    onlyInLongForm()
    const { ask, openFamily, wait } = await prepare({ tickMs: 100 })
    const question = { ...QUESTION, useVerdicts: true }
    let step = await ask(question)
    while (step.progress !== null) step = await ask(question)
    const row = MISSED[0] ?? expect.fail()
    storeVerdicts(openFamily(), [
      { row, verdict: 'agree', rule: null, note: null, stratum: null, stratum_rows: null },
    ])
    wait(10_000)
    const again = await ask(question)
    expect(again).toMatchObject({ id: step.id, evaluation: step.evaluation, progress: { of: ROWS } })
    let last = again
    while (last.progress !== null) last = await ask(question)
    expect(last.evaluation?.rules[0]?.matrix.false_negatives).toBe(MISSED.length - 1)
  })

  it('is not repeated continuously for a run in progress', async () => {
    onlyInLongForm()
    const { ask, openFamily, hold, wait } = await prepare()
    hold()
    const question = { ...QUESTION, useVerdicts: true }
    const first = await ask(question)
    storeVerdicts(openFamily(), [
      { row: 1, verdict: 'unsure', rule: null, note: null, stratum: null, stratum_rows: null },
    ])
    expect((await ask(question)).evaluation).toBe(first.evaluation)
    wait(1_000)
    expect((await ask(question)).evaluation?.rows).toMatchObject({ unsure: 1 })
  })

  it('is repeated for its cells if it was evicted, and is unknown once forgotten', async () => {
    onlyInLongForm()
    const { kept, ask, forget, openFamily } = await prepare()
    const { id } = await ask()
    for (let user = 1; user <= 4; user += 1) {
      await ask({ ...QUESTION, positives: [{ value: `user${user}`, rule: 'Odd' }] })
    }
    const missed = { evaluation: id, cell: 'fn', rule: 'Odd' } as const
    expect([...(await kept.list(missed, openFamily))]).toEqual(MISSED)
    forget()
    await expect(kept.list(missed, openFamily)).rejects.toThrow('no longer in memory')
  })

  it('fails for all requests if there is nothing to evaluate, and can be requested again', async () => {
    const { ask } = await prepare()
    const nothing = { ...QUESTION, label: 'no such column' }
    for (const answer of await Promise.allSettled([ask(nothing), ask(nothing)])) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'BAD_USAGE' } })
    }
    await expect(ask(nothing)).rejects.toThrow('no such column')
  })
})

it('lists the values of columns without content, and guesses no label among those that fill a field', async () => {
  onlyInLongForm()
  const { openFamily } = await prepare()
  expect(readLabelChoices(openFamily())).toMatchObject({
    columns: [
      { name: 'text_data', values: [] },
      { name: 'user_id', values: expect.arrayContaining([{ value: 'user0', rows: SHOULD.length }]) },
    ],
    rules: [{ rule: 'Odd', rows: SHOULD.length - MISSED.length }],
    classes: ['spam'],
    verdicts: 0,
    looked: ROWS,
    rows: ROWS,
    guess: null,
  })
})
