import { expect, test } from 'vitest'
import { type RunFamily, toFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { summarizeRun } from '../../../../../src/main/engine/results/run-summary.ts'
import { CUT_OFF_CAUSE, CUT_OFF_MESSAGE } from '../../../../../src/main/engine/run/journal/recovery.ts'
import { readFacets } from '../../../../../src/main/engine/run/results/facets.ts'
import { readFacetCounts } from '../../../../../src/main/engine/run/results/family-counts.ts'
import { readProblemGroups } from '../../../../../src/main/engine/run/results/problem-groups.ts'
import { readPage } from '../../../../../src/main/engine/run/results/result-page.ts'
import type { RowAnswer, RowState } from '../../../../../src/shared/run/item-state.ts'
import type { ResultRow } from '../../../../../src/shared/run/results.ts'
import { NO_RULE, type RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { startFaultServer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'
import { completeRun, readAllResults, startUnendingRun } from './moderated-runs.ts'

const folder = openTestFolder()

const ENDED_BADLY: RowState[] = ['rejected', 'failed', 'unknown', 'overdue']

function countBy(rows: readonly ResultRow[], toValues: (row: ResultRow) => (string | null)[]) {
  const counts: Record<string, number> = {}
  for (const value of rows.flatMap(toValues)) if (value !== null) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** Compares every facet with a count of all rows, and with the page that choosing it shows. */
function checkFacets(view: RunFamily): void {
  const all = readAllResults(view)
  const { facets } = readFacets(view)
  const of = (kind: string) =>
    Object.fromEntries(facets.filter((facet) => facet.kind === kind).map(({ value, rows }) => [value, rows]))
  expect(of('state')).toEqual(countBy(all, ({ state }) => [state]))
  expect(of('rule')).toEqual(
    countBy(all, ({ state, triggeredRules }) => {
      const ruleIds = triggeredRules.map(({ ruleId }) => ruleId)
      return state === 'succeeded' && ruleIds.length === 0 ? [NO_RULE] : ruleIds
    }),
  )
  expect(of('error')).toEqual(
    countBy(all, ({ state, errorCode }) => [ENDED_BADLY.includes(state) ? errorCode : null]),
  )
  for (const { kind, value, rows } of facets) {
    const filter: RowFilter =
      kind === 'state'
        ? { state: value as RowState }
        : kind === 'rule'
          ? { ruleIds: [value] }
          : kind === 'answer'
            ? { answer: value as RowAnswer }
            : kind === 'cause'
              ? { cause: value }
              : { errorCode: value }
    const page = readPage(view, { filter, offset: 0, limit: 500 })
    expect([kind, value, page.rows.length]).toEqual([kind, value, rows])
    expect([kind, value, page.total]).toEqual([kind, value, rows])
  }
}

/** The summary's counts must add up, and agree with a count of all rows. */
function checkSummary(view: RunFamily): void {
  const all = readAllResults(view)
  const { read, ...counts } = summarizeRun(view).rows
  expect(read).toBe(all.length)
  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(read)
  const of = (...states: RowState[]) => all.filter(({ state }) => states.includes(state)).length
  expect(counts).toEqual({
    invalid: of('invalid'),
    succeeded: of('succeeded'),
    rejected: of('rejected'),
    failed: of('failed'),
    unknown: of('unknown'),
    overdue: of('overdue'),
    awaiting: of('acknowledged'),
    not_sent: of('pending', 'sending'),
  })
}

test('facets and summary of an ended run agree with a count of its rows', async () => {
  const { runs, runId, summary } = await completeRun(folder, 80)
  runs.read(runId, (view) => {
    checkFacets(view)
    checkSummary(view)
    expect(readFacets(view).facets.filter(({ kind }) => kind === 'state')).toEqual([
      { kind: 'state', value: 'succeeded', label: 'succeeded', rows: 64 },
      { kind: 'state', value: 'invalid', label: 'invalid', rows: 8 },
      { kind: 'state', value: 'rejected', label: 'rejected', rows: 4 },
      { kind: 'state', value: 'unknown', label: 'unknown', rows: 4 },
    ])
    expect(readFacets(view).facets.find(({ value }) => value === 'r2')?.label).toBe('Even')
  })
  expect(summary).toMatchObject({
    state: 'completed',
    requests: { sent: 80, succeeded: 64, rejected: 8, unknown: 8, retried: 8 },
    retry_after: { answers: 0 },
    from_cache: { rows: 4 },
  })
})

test('facets and summary of an interrupted run agree with a count of its rows', async () => {
  const { runs, runId } = await startUnendingRun(folder, 100, 40)
  runs.read(runId, (view) => {
    expect(view.isCutOff).toBe(true)
    checkFacets(view)
    checkSummary(view)
    expect(summarizeRun(view).state).toBe('interrupted')
  })
})

test('an interrupted run lists its rows of unknown outcome as errors, and says what is not measured', async () => {
  const { runs, runId } = await startUnendingRun(folder, 100, 40)
  runs.read(runId, (view) => {
    const { rows, errors, requests, sessions, warnings } = summarizeRun(view)
    const unknown = errors.filter(({ outcome }) => outcome === 'unknown')
    expect(rows.unknown).toBeGreaterThan(0)
    expect(unknown.reduce((sum, group) => sum + group.rows, 0)).toBe(rows.unknown)
    const cause = unknown.find(({ message }) => message === CUT_OFF_MESSAGE)
    expect(readPage(view, { filter: { cause: CUT_OFF_CAUSE }, offset: 0, limit: 100 }).total).toBe(
      cause?.rows,
    )
    const journaled = readFacetCounts(view.db).get('request')?.get('unknown') ?? 0
    expect(requests.unknown - journaled).toBe(cause?.rows)
    expect(sessions.map(({ requests: { sent } }) => sent)).toEqual([requests.sent])
    expect(warnings).toEqual([
      {
        code: 'CUT_OFF',
        message: expect.stringMatching(
          /^The process that sent this run was cut off\. \d+ rows .*latencies leave out its last seconds until/,
        ),
      },
    ])
  })
})

test('the summary of a run in progress adds up', async () => {
  const { runs, runId } = await startUnendingRun(folder, 100, 40)
  runs.read(runId, (view) => {
    const held = { ...view, isHeld: true, isCutOff: false }
    const live = toFamily(held, [held])
    checkSummary(live)
    expect(summarizeRun(live)).toMatchObject({ state: 'running', ended_at: null })
  })
})

test('rows with a rule next to an error are not taken off those without a rule, also while the run is sending', async () => {
  const rules = [{ rule_id: 'r2', rule_name: 'Even' }]
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const status = row % 4 === 0 ? { code: '551', message: 'down' } : { code: '0', message: 'SUCCESS' }
      wire.send(200, { ...toTaskAnswer(request, row % 2 === 0 ? rules : []), status: [{ status }] })
    },
  })
  const runs = createInProcessRuns(folder)
  const plan = createRunPlan(folder, 8, server.baseUrl, { operation: { kind: 'task', legacy: true } })
  const { run_id: runId } = await runs.start(plan).ended
  runs.read(runId, (view) => {
    const record = { ...view.record, state: 'running' as const }
    const held = { ...view, record, isHeld: true, isCutOff: false }
    for (const family of [view, toFamily(held, [held])]) {
      expect(readFacets(family).facets).toContainEqual(
        expect.objectContaining({ kind: 'rule', value: NO_RULE, rows: 4 }),
      )
    }
  })
})

test('facets and summary of a stopped run and of its child agree with a count of their rows', async () => {
  const { runs, runId, stop } = await startUnendingRun(folder, 100, 40)
  await stop()
  runs.read(runId, (view) => {
    checkFacets(view)
    checkSummary(view)
    expect(summarizeRun(view)).toMatchObject({ state: 'interrupted', rows: { read: 100 } })
  })
  const child = runs.retryAsChild(runId, 'skip', { hold: true })
  await child.until(({ phase }) => phase === 'ready')
  child.command({ kind: 'stop' })
  await child.ended
  runs.read(child.runId, (view) => {
    checkFacets(view)
    checkSummary(view)
  })
})

test('a run whose source is being read has no rows yet, and adds up', async () => {
  const { runs, runId } = await completeRun(folder, 10)
  runs.read(runId, (view) => {
    const record = { ...view.record, state: 'intake' as const, rowsRead: 0 }
    const early = { ...view, record, isHeld: true }
    expect(summarizeRun(toFamily(early, [early]))).toMatchObject({ state: 'running', rows: { read: 0 } })
  })
})

test('triggered rules come with the most rows first, each with its name', async () => {
  const { summary } = await completeRun(folder, 60)
  const [first, second] = summary.triggered_rules
  expect(summary.triggered_rules.map(({ rule_id, rule_name }) => [rule_id, rule_name])).toEqual([
    ['r2', 'Even'],
    ['r3', 'Threefold'],
  ])
  expect(first?.rows).toBeGreaterThan(second?.rows ?? 0)
})

test('errors are grouped by cause, invalid rows by the problem that excluded them', async () => {
  const { summary } = await completeRun(folder, 40)
  expect(summary.errors).toEqual([
    { outcome: 'invalid', status: null, error_code: 'one_of', message: expect.any(String), rows: 4 },
    { outcome: 'rejected', status: 400, error_code: 'INVALID_PARAM', message: 'not allowed', rows: 2 },
    { outcome: 'unknown', status: 503, error_code: 'BUSY', message: 'busy', rows: 2 },
  ])
})

test('problems are grouped by cause, errors first, each with its first rows', async () => {
  const { runs, runId } = await completeRun(folder, 130)
  const groups = runs.read(runId, readProblemGroups)
  const errors = groups.filter(({ severity }) => severity === 'error')
  expect(errors).toMatchObject([{ code: 'one_of', rows: 13 }])
  expect(errors[0]?.examples.map(({ row }) => row)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
  expect(groups.map(({ severity }) => severity)).toEqual(
    groups.map(({ severity }) => severity).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
  )
})
