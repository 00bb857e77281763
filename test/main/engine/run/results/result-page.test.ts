import { describe, expect, test } from 'vitest'
import { type RunFamily, toFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { updateRunRecord } from '../../../../../src/main/engine/journal/run-record.ts'
import { ItemClaims } from '../../../../../src/main/engine/run/journal/item-claims.ts'
import { readPage } from '../../../../../src/main/engine/run/results/result-page.ts'
import { findOffset } from '../../../../../src/main/engine/run/results/row-offset.ts'
import type { ResultRow } from '../../../../../src/shared/run/results.ts'
import { NO_RULE, type RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'
import { openReadyJournal, readRecord, toIntakeRow } from '../../journal/test-journal.ts'
import { completeRun, createTexts, readAllResults, startUnendingRun } from './moderated-runs.ts'

const folder = openTestFolder()

const STATES = [
  'invalid',
  'pending',
  'sending',
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
] as const
const UNSUCCESSFUL = ['invalid', 'rejected', 'failed', 'unknown', 'overdue']
const SEARCHES = [
  'plain',
  'PLAIN',
  '%',
  '_',
  '\\',
  '"',
  ',',
  '[',
  'n',
  'ü',
  'ümlaut',
  '100%',
  '\n',
  'nowhere',
  '',
]

function isRuled({ state, triggeredRules }: ResultRow, ruleId: string): boolean {
  if (ruleId === NO_RULE) return state === 'succeeded' && triggeredRules.length === 0
  return triggeredRules.some((rule) => rule.ruleId === ruleId)
}

/** The meaning of each filter, row by row. */
function isMatch(row: ResultRow, filter: RowFilter): boolean {
  const { state, ruleIds = [], errorCode, search, unsuccessful } = filter
  const fold = (text: string) => text.toLowerCase()
  return (
    (state === undefined || row.state === state) &&
    (unsuccessful !== true || UNSUCCESSFUL.includes(row.state)) &&
    (ruleIds.length === 0 || ruleIds.some((ruleId) => isRuled(row, ruleId))) &&
    (errorCode === undefined || (row.errorCode === errorCode && UNSUCCESSFUL.includes(row.state))) &&
    (search === undefined || row.cells.some((cell) => fold(cell).includes(fold(search))))
  )
}

const FILTERS: RowFilter[] = [
  {},
  { unsuccessful: true },
  ...STATES.map((state) => ({ state })),
  ...['r2', 'r3', 'no-such-rule'].map((ruleId) => ({ ruleIds: [ruleId] })),
  ...['INVALID_PARAM', 'BUSY', 'RATE_LIMITED', 'NO_SUCH_CODE'].map((errorCode) => ({ errorCode })),
  ...SEARCHES.map((search) => ({ search })),
  { ruleIds: ['r2'], state: 'succeeded' },
  { ruleIds: ['r2'], state: 'unknown' },
  { ruleIds: ['r3'], search: 'comma' },
  { errorCode: 'BUSY', state: 'unknown' },
  { errorCode: 'INVALID_PARAM', unsuccessful: true },
  { unsuccessful: true, search: 'a' },
  { state: 'invalid', search: 'user' },
  { state: 'pending', search: 'plain' },
  { ruleIds: ['r2'], errorCode: 'BUSY' },
  { ruleIds: [] },
  { ruleIds: ['r2', 'r3'] },
  { ruleIds: [NO_RULE] },
  { ruleIds: [NO_RULE, 'r3'], search: 'plain' },
]

/**
 * Compares every filter with its meaning, by page and in total, and checks the totals and the offset of each
 * row.
 */
function checkFilters(view: RunFamily, limit = 7): void {
  const all = readAllResults(view)
  expect(all).toHaveLength(view.record.rowsRead)
  for (const filter of FILTERS) {
    const expected = all.filter((row) => isMatch(row, filter)).map(({ row }) => row)
    const label = JSON.stringify(filter)
    expect([label, readAllResults(view, filter).map(({ row }) => row)]).toEqual([label, expected])
    const paged: number[] = []
    for (let offset = 0; offset <= expected.length; offset += limit) {
      const { rows, total, isCounted } = readPage(view, { filter, offset, limit })
      paged.push(...rows.map(({ row }) => row))
      expect(isCounted).toBe(true)
      expect([label, total]).toEqual([label, expected.length])
    }
    expect([label, paged]).toEqual([label, expected])
    for (const { row } of all) {
      const offset = expected.indexOf(row)
      expect([label, row, findOffset(view, { filter, row })]).toEqual([
        label,
        row,
        offset < 0 ? null : offset,
      ])
    }
    const first = expected.at(0) ?? 1
    const sort = { by: { kind: 'row' }, order: 'descending' } as const
    const fromEnd = expected.length === 0 ? null : expected.length - 1
    expect([label, findOffset(view, { filter, sort, row: first })]).toEqual([label, fromEnd])
    expect(findOffset(view, { filter, row: view.record.rowsRead + 1_000 })).toBeNull()
  }
}

describe('pages of a run', () => {
  test('that has ended contain exactly the matching rows, for every filter and offset', async () => {
    const { runs, runId } = await completeRun(folder, 60)
    runs.read(runId, (view) => checkFilters(view))
  })

  test('that was stopped half-way show unsent rows as pending', async () => {
    onlyInLongForm()
    const { runs, runId, stop } = await startUnendingRun(folder, 100, 40)
    await stop()
    runs.read(runId, (view) => checkFilters(view))
  })

  test('that is in progress show rows in flight as sending', async () => {
    onlyInLongForm()
    const { runs, runId } = await startUnendingRun(folder, 100, 40)
    runs.read(runId, (view) => {
      const held = { ...view, isHeld: true, isCutOff: false }
      const live = toFamily(held, [held])
      checkFilters(live)
      const { rows } = readPage(live, { filter: { state: 'sending' }, offset: 0, limit: 100 })
      expect(rows.map(({ row }) => row).slice(0, 6)).toEqual([7, 27, 41, 42, 43, 44])
    })
  })

  test('that was interrupted show rows in flight as unknown', async () => {
    onlyInLongForm()
    const { runs, runId } = await startUnendingRun(folder, 100, 40)
    runs.read(runId, (view) => {
      expect(view.isCutOff).toBe(true)
      checkFilters(view)
      const { rows, total } = readPage(view, { filter: { state: 'unknown' }, offset: 0, limit: 100 })
      expect(rows.map(({ row }) => row).slice(0, 8)).toEqual([5, 7, 25, 27, 41, 42, 43, 44])
      expect(total).toBe(rows.length)
    })
  })

  test('that is a child contain the rows of its parent under their own numbers', async () => {
    const { runs, runId } = await completeRun(folder, 60)
    const child = await runs.retryAsChild(runId, 'resend').ended
    expect(child.rows.read).toBe(6)
    runs.read(child.run_id, (view) => {
      checkFilters(view, 2)
      const { rows, total } = readPage(view, { filter: {}, offset: 2, limit: 3 })
      expect(rows.map(({ row }) => row)).toEqual([23, 25, 43])
      expect(total).toBe(6)
    })
  })

  test('find rows in flight in a child run whose rows lie far apart', () => {
    const journal = openReadyJournal([1, 20_000, 40_000, 60_000].map((row) => toIntakeRow(row)))
    const claims = new ItemClaims(journal, readRecord(journal))
    journal.transact('power', () => {
      claims.raiseWatermark(claims.readFresh(3))
      updateRunRecord(journal.db, { state: 'running' })
    })
    const view = {
      db: journal.db,
      file: journal.file,
      record: readRecord(journal),
      workspace: '/w',
      isHeld: true,
      isCutOff: false,
    }
    const read = (state: 'sending' | 'unknown' | 'pending', isCutOff: boolean) => {
      const run = { ...view, isCutOff }
      const query = { filter: { state }, offset: 0, limit: 10 }
      return readPage(toFamily(run, [run]), query).rows.map(({ row }) => row)
    }
    expect(read('sending', false)).toEqual([1, 20_000, 40_000])
    expect(read('unknown', true)).toEqual([1, 20_000, 40_000])
    expect(read('pending', true)).toEqual([60_000])
  })

  test('are never longer than 500 rows, and never fail on an odd offset or limit', async () => {
    const { runs, runId } = await completeRun(folder, 520)
    runs.read(runId, (view) => {
      const read = (offset: number, limit: number) =>
        readPage(view, { filter: {}, offset, limit }).rows.map(({ row }) => row)
      expect(read(0, 10_000)).toHaveLength(500)
      expect(read(510, 500)).toEqual([511, 512, 513, 514, 515, 516, 517, 518, 519, 520])
      expect(read(520, 10)).toEqual([])
      expect(read(0, 0)).toEqual([])
      expect(read(0, -1)).toEqual([])
    })
  })
})

test('a row shows its outcome, its triggered rules and its cells', async () => {
  const { runs, runId } = await completeRun(folder, 10)
  const all = runs.read(runId, (view) => readAllResults(view))
  expect(all[5]).toEqual({
    row: 6,
    place: { row: 7, line: null },
    state: 'succeeded',
    status: 200,
    errorCode: null,
    message: null,
    taskId: `task-${runId}-6`,
    postId: `${runId}-6`,
    customIndexItemId: null,
    answer: null,
    triggeredRules: [
      { ruleId: 'r2', ruleName: 'Even' },
      { ruleId: 'r3', ruleName: 'Threefold' },
    ],
    durationMs: expect.any(Number),
    callbackLatencyMs: null,
    attempts: 1,
    classScores: [],
    cells: ['comma, inside', 'user5'],
  })
  expect(all[2]).toMatchObject({
    state: 'rejected',
    status: 400,
    errorCode: 'INVALID_PARAM',
    message: 'not allowed',
  })
  expect(all[4]).toMatchObject({ state: 'unknown', status: 503, errorCode: 'BUSY', attempts: 2 })
  expect(all[6]).toMatchObject({ state: 'succeeded', status: 200, errorCode: null, attempts: 2 })
  expect(all[9]).toMatchObject({ state: 'invalid', status: null, postId: null, taskId: null, attempts: 0 })
  expect(all[9]?.message).toBeTruthy()
  expect(all.map(({ cells }) => cells[0])).toEqual(
    createTexts(10).map((text) => (text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text)),
  )
})
