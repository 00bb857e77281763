import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { NO_RULE, type RowFilter } from '../../../../src/shared/run/row-filters.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, toRow } from '../run/wire-record.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
// Runs in this thread whatever needs no thread of its own.
const runs = createInProcessRuns(folder)
const START = { apiKey: 'key' }
const EVEN = { rule_id: 'r2', rule_name: 'Even' }

/** Row 2 is refused once, row 3 twice, row 4 loses its answer once, row 5 has no text. */
async function startRun(rows = 6) {
  const met = new Map<number, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const number = (met.get(row) ?? 0) + 1
      met.set(row, number)
      if (row === 2 && number === 1) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else if (row === 3 && number < 3) wire.send(403, toErrorAnswer(403, 'FORBIDDEN', 'not yet'))
      else if (row === 4 && number === 1) wire.reset()
      else wire.send(200, toTaskAnswer(request, row % 2 === 0 ? [EVEN] : []))
    },
  })
  const texts = Array.from({ length: rows }, (_, i) => (i === 4 ? '' : `text ${i + 1}`))
  const plan = createRunPlan(folder, texts, server.baseUrl, { retry: { limit: 0 } })
  const run = runs.start(plan)
  await run.ended
  return { runId: run.runId, server }
}

/** A retry as a run of its own, as earlier versions created it. */
async function retry(runId: string, onUnknown: 'resend' | 'skip' = 'skip') {
  const run = runs.retryAsChild(runId, onUnknown)
  await run.ended
  return run.runId
}

test('a run is counted together with its retries, each row by its newest answer', async () => {
  const { runId } = await startRun()
  const before = await engine.runs.summarizeRun(runId)
  expect(before.rows).toMatchObject({ read: 6, invalid: 1, succeeded: 2, rejected: 2, unknown: 1 })
  const first = await retry(runId)
  expect((await engine.runs.summarizeRun(runId)).rows).toMatchObject({
    read: 6,
    succeeded: 3,
    rejected: 1,
    unknown: 1,
  })
  const second = await retry(runId, 'resend')
  const whole = await engine.runs.summarizeRun(runId)
  expect(whole).toMatchObject({
    state: 'completed',
    rows: { read: 6, invalid: 1, succeeded: 5, rejected: 0, failed: 0, unknown: 0, not_sent: 0 },
    requests: { sent: 9, succeeded: 5, rejected: 3, unknown: 1 },
    triggered_rules: [{ rule_id: 'r2', rule_name: 'Even', rows: 3 }],
  })
  expect(whole.errors.map(({ outcome }) => outcome)).toEqual(['invalid'])
  expect(whole.latency_ms.http_req_duration?.count).toBe(9)
  expect(whole.retries.map((each) => each.run_id)).toEqual([first, second])
  expect(await engine.runs.summarizeRun(second)).toMatchObject({
    rows: { read: 2, succeeded: 2 },
    retries: [],
    whole_run: { run_id: runId, rows: { read: 6, succeeded: 5 } },
  })
  const { facets } = await engine.results.readFacets(runId)
  expect(facets.map(({ kind, value, rows }) => [kind, value, rows])).toEqual([
    ['state', 'succeeded', 5],
    ['state', 'invalid', 1],
    ['rule', 'r2', 3],
    ['rule', NO_RULE, 2],
    ['cause', expect.stringContaining('invalid'), 1],
  ])
  const searched = await engine.results.readFacets(runId, { search: 'text' })
  expect(searched.facets).toContainEqual({ kind: 'state', value: 'succeeded', label: 'succeeded', rows: 5 })
})

test('pages of a run show the newest answer of each row, whatever the filter', async () => {
  const { runId } = await startRun()
  await retry(runId)
  const page = async (
    filter: Parameters<typeof engine.results.readPage>[1]['filter'],
    offset = 0,
    limit = 10,
  ) => {
    const { rows, total } = await engine.results.readPage(runId, { filter, offset, limit })
    return { rows: rows.map(({ row, state, attempts }) => `${row} ${state} ${attempts}`), total }
  }
  const all = [
    '1 succeeded 1',
    '2 succeeded 2',
    '3 rejected 2',
    '4 unknown 1',
    '5 invalid 0',
    '6 succeeded 1',
  ]
  expect(await page({})).toEqual({ rows: all, total: 6 })
  expect(await page({}, 1, 2)).toEqual({ rows: all.slice(1, 3), total: 6 })
  expect(await page({ state: 'succeeded' }, 1)).toEqual({
    rows: ['2 succeeded 2', '6 succeeded 1'],
    total: 3,
  })
  expect(await page({ state: 'rejected' })).toEqual({ rows: ['3 rejected 2'], total: 1 })
  expect(await page({ unsuccessful: true })).toEqual({
    rows: ['3 rejected 2', '4 unknown 1', '5 invalid 0'],
    total: 3,
  })
  expect(await page({ errorCode: 'INVALID_PARAM' })).toEqual({ rows: [], total: 0 })
  expect(await page({ errorCode: 'FORBIDDEN' })).toEqual({ rows: ['3 rejected 2'], total: 1 })
  expect(await page({ ruleIds: ['r2'] })).toEqual({ rows: ['2 succeeded 2', '6 succeeded 1'], total: 2 })
  expect((await page({ search: 'text 3' })).rows).toEqual(['3 rejected 2'])
})

test('a retry also counts and lists rows that a later retry took from elsewhere', async () => {
  const { runId } = await startRun()
  const first = await retry(runId)
  await retry(first, 'resend')
  expect((await engine.runs.summarizeRun(first)).rows).toMatchObject({ read: 3, succeeded: 3, not_sent: 0 })
  for (const filter of [{}, { search: 'text' }]) {
    const { rows, total } = await engine.results.readPage(first, { filter, offset: 0, limit: 10 })
    expect({ rows: rows.map(({ row }) => row), total }).toEqual({ rows: [2, 3, 4], total: 3 })
  }
})

test('a row shows every try of the run and of its retries', async () => {
  const { runId } = await startRun()
  const first = await retry(runId)
  const second = await retry(first)
  const detail = await engine.results.readRow(runId, 3)
  expect(detail.result).toMatchObject({ row: 3, state: 'succeeded', status: 200, attempts: 3 })
  expect(detail.attempts.map(({ runId: of, number, status }) => [of, number, status])).toEqual([
    [runId, 1, 403],
    [first, 2, 403],
    [second, 3, 200],
  ])
  expect((await engine.results.readRow(second, 3)).attempts).toEqual(detail.attempts)
})

test('an export of a run has each row once, with its newest answer', async () => {
  const { runId } = await startRun()
  await retry(runId, 'resend')
  const file = join(folder, 'whole.jsonl')
  await engine.results.exportRun(runId, { file })
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ record, state, attempts }) => [record, state, attempts])).toEqual([
    [1, 'succeeded', 1],
    [2, 'succeeded', 2],
    [3, 'rejected', 2],
    [4, 'succeeded', 2],
    [5, 'invalid', 0],
    [6, 'succeeded', 1],
  ])
  expect(lines[1].tries.map((tried: Record<string, unknown>) => [tried['number'], tried['status']])).toEqual([
    [1, 400],
    [2, 200],
  ])
})

test('a retry sends the unsuccessful rows of the whole run, whichever of its runs is named', async () => {
  const { runId, server } = await startRun()
  const first = await retry(runId)
  // Row 3 was refused in the retry, row 4 is unknown in the run itself.
  const again = await engine.runs.retryRun(first, { ...START, onUnknown: 'resend' })
  await again.ended
  const second = again.runId
  expect((await engine.runs.summarizeRun(second)).rows).toMatchObject({ read: 2, succeeded: 2 })
  expect(countArrivals(server)).toEqual([1, 2, 3, 2, 1])
  const third = await engine.runs.retryRun(first, { ...START, onUnknown: 'resend' })
  await expect(third.ended).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
})

test('the list of runs has one entry for a run and its retries', async () => {
  const { runId } = await startRun()
  const first = await retry(runId)
  const entries = (await engine.runs.listRuns()).runs.filter(({ run_id }) => [runId, first].includes(run_id))
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({ run_id: runId, rows: { succeeded: 3 }, retries: [{ run_id: first }] })
})

test('rows that a stopped retry did not send count as not sent and to be repeated', async () => {
  const { runId } = await startRun()
  const held = runs.retryAsChild(runId, 'skip', { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  await held.ended
  const whole = await engine.runs.summarizeRun(runId)
  expect(whole).toMatchObject({
    state: 'interrupted',
    rows: { read: 6, invalid: 1, succeeded: 2, rejected: 0, unknown: 1, not_sent: 2 },
    to_repeat: { rows: 2 },
  })
  const { rows } = await engine.results.readPage(runId, { filter: {}, offset: 1, limit: 1 })
  expect(rows[0]).toMatchObject({ row: 2, attempts: 1, status: 400, errorCode: 'INVALID_PARAM' })
})

test('deleting a run deletes its retries, too', async () => {
  const { runId } = await startRun()
  const first = await retry(runId)
  await engine.runs.deleteRun(runId)
  await expect(engine.runs.summarizeRun(first)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a run with many retries has each row by the retry that settled it', async () => {
  onlyInLongForm()
  const tries = new Map<number, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      tries.set(row, (tries.get(row) ?? 0) + 1)
      // Each run refuses one row fewer.
      if ((tries.get(row) ?? 0) >= row) wire.send(200, toTaskAnswer(request))
      else wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
    },
  })
  const plan = createRunPlan(folder, 14, server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId } = await runs.start(plan).ended
  for (let number = 1; number < 13; number += 1) await runs.retryAsChild(runId).ended
  runs.read(runId, (family) => {
    const page = (filter: RowFilter) =>
      readPage(family, { filter, offset: 0, limit: 20 }).rows.map(({ row, attempts }) => [row, attempts])
    const rows = Array.from({ length: 14 }, (_, i) => [i + 1, Math.min(13, i + 1)])
    expect(page({})).toEqual(rows)
    expect(page({ state: 'succeeded' })).toEqual(rows.slice(0, 13))
    expect(page({ unsuccessful: true })).toEqual(rows.slice(13))
  })
})
