import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, type RunView, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { type AnsweredStep, readAnsweredSteps } from '../../../../src/main/engine/lookback/answered-rows.ts'
import { loadColumns } from '../../../../src/main/engine/lookback/stored-columns.ts'
import { RowFindings } from '../../../../src/main/engine/run/results/row-findings.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { toRow } from '../run/wire-record.ts'

const ODD = { rule_id: 'r-odd', rule_name: 'Odd' }
const RETRIED = { rule_id: 'r-retried', rule_name: 'Retried' }
const LAST = { rule_id: 'r-last', rule_name: 'Last' }

/** More rows than one step reads. The retry has rows in the first and the second step. */
const ROWS = 2_010
const REFUSED = [2, 5, 2_003]

/** A row with more classes than an SQL function takes arguments. */
const MANY_CLASSES = 7
const CLASSES = 160

/** More classes than there are columns for. */
const FURTHER_CLASSES = 210

/** Every third row has no score; refused rows get other rules and scores when sent again. */
async function prepare(manyClasses = CLASSES) {
  const folder = createTemporaryFolder()
  const runs = createInProcessRuns(folder)
  let isRetry = false
  const many = Array.from({ length: manyClasses }, (_, index) => ({
    class: `class ${index}`,
    score: index / 1_000,
  }))
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (REFUSED.includes(row) && !isRetry) return wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      const rules = isRetry ? [RETRIED] : row % 2 === 1 ? [ODD, ...(row === ROWS - 1 ? [LAST] : [])] : []
      const classes = [
        { class: 'spam', score: row / 10_000 },
        { class: 'hate', score: isRetry ? 0.9 : 0.1 },
        ...(row === MANY_CLASSES ? many : []),
      ]
      const output = row % 3 === 0 ? [] : [{ classes }]
      const response = { output, language: row % 2 === 0 ? 'DE' : 'FR' }
      const fromCache = row % 5 === 0 ? { from_cache: true } : {}
      const status = [{ status: { code: '0', message: 'SUCCESS', ...fromCache }, response }]
      wire.send(200, { ...toTaskAnswer(request, rules), code: 200, status })
    },
  })
  const pace = { kind: 'closed', concurrency: 16 } as const
  const operation = { kind: 'task', legacy: true } as const
  const plan = createRunPlan(folder, ROWS, server.baseUrl, { operation, pace })
  const first = runs.start(plan)
  await first.ended
  isRetry = true
  const retry = runs.retryAsChild(first.runId)
  await retry.ended
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const open = (runId: string) =>
    readRunFamily(pool, toJournalFile(folder, runId), () => false) ?? expect.fail('no run')
  const read = (runId: string, classes: readonly string[] = []) => {
    const family = open(runId)
    const steps = readAnsweredSteps(family, { columns: [0, 1], classes: 'all' })
    return [...steps.flatMap((step) => describeRows(step, classes, family.members))]
  }
  return { first: first.runId, retry: retry.runId, open, read }
}

function describeRows(step: AnsweredStep, classes: readonly string[], members: readonly RunView[]) {
  const scores = step.scores(classes)
  const highest = step.highestScores
  const languages = step.names('language')
  const [texts, users, missing] = [step.cells(0), step.cells(1), step.cells(99)]
  return Array.from(step.owner, (owner, place) => ({
    row: step.rowAt(place),
    runId: members[owner - 1]?.record.runId,
    isAnswered: step.answered[place] === 1,
    ruleIds: [...step.ruleIdsAt(place)],
    scores: scores.map((own) => own[place]),
    highest: highest[place],
    each: [texts[place], users[place], missing[place]],
    whole: step.wholeAt(place),
    isOutcomeStated: step.outcomeStated[place] === 1,
    isCached: step.cached[place] === 1,
    language: languages[place],
  })).filter(({ runId }) => runId !== undefined)
}

describe('the rows of a finished run', () => {
  it("come once each in source order, refused ones with their retry's answers", async () => {
    const prepared = await prepare()
    const { first, retry, read } = prepared
    const rows = read(first)
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1))
    expect(rows.every(({ isAnswered, whole }) => isAnswered && whole.kinds === null)).toBe(true)
    for (const { row, ruleIds, each, whole, runId } of rows) {
      const isRetried = REFUSED.includes(row)
      const own = row === ROWS - 1 ? ['r-last', 'r-odd'] : row % 2 === 1 ? ['r-odd'] : []
      expect(ruleIds.toSorted(), `row ${row}`).toEqual(isRetried ? ['r-retried'] : own)
      expect(whole.cells).toEqual([`text ${row}`, `user${(row - 1) % 7}`])
      expect(each).toEqual([...whole.cells, ''])
      expect(runId).toBe(isRetried ? retry : first)
    }
    expect(read(retry).map(({ row, ruleIds, each }) => [row, ruleIds, each[0]])).toEqual(
      REFUSED.map((row) => [row, ['r-retried'], `text ${row}`]),
    )
    // Each class is at the position it was requested for, even repeatedly; NaN if a row has none.
    for (const { row, scores, highest } of read(first, ['hate', 'none', 'spam', 'hate'])) {
      const [hate, spam] = [REFUSED.includes(row) ? 0.9 : 0.1, row / 10_000]
      const isScored = row % 3 !== 0
      expect(scores).toEqual(isScored ? [hate, Number.NaN, spam, hate] : scores.map(() => Number.NaN))
      const others = row === MANY_CLASSES ? 0.159 : 0
      expect(highest).toBe(isScored ? Math.max(hate, spam, others) : Number.NaN)
    }
    expectSameFromStored(prepared, CLASSES)
  })

  it('are the same from the findings beside the journals, even with more classes than columns', async () => {
    onlyInLongForm()
    expectSameFromStored(await prepare(FURTHER_CLASSES), FURTHER_CLASSES)
  })
})

/** Reads the rows of the first run and of both, from the journals and then from the stored findings. */
function expectSameFromStored(
  { first, retry, open, read }: Awaited<ReturnType<typeof prepare>>,
  manyClasses: number,
): void {
  const classes = ['hate', 'none', 'spam', `class ${manyClasses - 1}`]
  const fromJournals = { first: read(first, classes), retry: read(retry, classes) }
  expect(fromJournals.first.some(({ isCached }) => isCached)).toBe(true)
  // A small retry is read from its journal, beside the first run's columns.
  for (const [storedFromRows, stored] of [
    [ROWS, [true, false]],
    [1, [true, true]],
  ] as const) {
    const findings = new RowFindings(null, storedFromRows)
    while (!findings.isComplete) findings.step(open(first))
    const wanted = { columns: [0, 1, 99], classes: ['spam', 'none'] }
    const columns = open(first).members.map((view) => loadColumns(view, wanted))
    expect(columns.map((own) => own !== null)).toEqual(stored)
    // Every row has another text, but there are few users.
    expect([...(columns[0]?.cells.keys() ?? [])]).toEqual([1])
    expect({ first: read(first, classes), retry: read(retry, classes) }).toEqual(fromJournals)
  }
  // Data read from the findings is freed with the last step, even if nobody reads on; a step then throws.
  const steps = readAnsweredSteps(open(retry))
  const { value: step } = steps.next()
  const readRules = () => step?.ruleIdsAt(1)
  expect(readRules()).toEqual(['r-retried'])
  steps.return()
  expect(readRules).toThrow('released')
}

it('takes a row whose answer has no result for unanswered, by the journal and by stored findings', async () => {
  const folder = createTemporaryFolder()
  const runs = createInProcessRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { task_id, ...result } = toTaskAnswer(request)
      wire.send(200, toRow(request) === 2 ? { task_id } : { task_id, ...result })
    },
  })
  const run = runs.start(createRunPlan(folder, 3, server.baseUrl))
  await run.ended
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const open = () =>
    readRunFamily(pool, toJournalFile(folder, run.runId), () => false) ?? expect.fail('no run')
  const read = () => [...readAnsweredSteps(open())].flatMap(({ answered }) => Array.from(answered))
  expect(read()).toEqual([1, 0, 1])
  const findings = new RowFindings(null, 1)
  while (!findings.isComplete) findings.step(open())
  expect(open().members.map((view) => loadColumns(view, { columns: [], classes: [] }))).not.toContain(null)
  expect(read()).toEqual([1, 0, 1])
})
