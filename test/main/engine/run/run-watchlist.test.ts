import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFacets } from '../../../../src/main/engine/run/results/facets.ts'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { type Plan, type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import type { RowAnswer } from '../../../../src/shared/run/item-state.ts'
import type { RowFilter } from '../../../../src/shared/run/row-filters.ts'
import { type FaultServer, startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

interface Term {
  term: string
  notes?: string | null
}

interface TermsBody {
  watchlist: string
  terms: Term[]
}

function toBody(text: string): TermsBody {
  return JSON.parse(text) as TermsBody
}

/** A watchlist that knows these terms; a request of more than `most` terms is refused as a whole. */
function startWatchlist(known: string[], most = Infinity): Promise<FaultServer> {
  const held = new Set(known)
  return startFaultServer({
    onRequest: (request, wire) => {
      const { watchlist, terms } = toBody(request.body)
      if (terms.length > most) {
        wire.send(413, toErrorAnswer(413, 'TOO_MANY_TERMS', `at most ${most} terms`))
        return
      }
      const isAdd = request.path.endsWith('/add')
      const lists: Record<string, unknown[]> = isAdd
        ? { added_terms: [], pre_existing_terms: [], failed_terms: [] }
        : { updated_terms: [], non_existent_terms: [], failed_terms: [] }
      for (const { term, notes } of terms) {
        const lower = term.toLowerCase()
        if (lower.startsWith('bad'))
          lists['failed_terms']?.push(lower.endsWith('1') ? lower : { term: lower })
        else if (isAdd)
          lists[held.has(lower) ? 'pre_existing_terms' : 'added_terms']?.push({ term: lower, notes })
        else lists[held.has(lower) ? 'updated_terms' : 'non_existent_terms']?.push({ term: lower, notes })
        if (isAdd && !lower.startsWith('bad')) held.add(lower)
      }
      wire.send(200, JSON.stringify({ message: 'done', watchlist, ...lists }))
    },
  })
}

let files = 0

function createPlan(
  server: FaultServer,
  lines: string[],
  operation: Partial<PlanInput['operation']> = {},
): Plan {
  files += 1
  const path = join(folder, `terms-${files}.csv`)
  writeFileSync(path, ['term,notes', ...lines, ''].join('\n'))
  return planSchema.parse({
    connection: { baseUrl: server.baseUrl, timeoutMs: 2_000 },
    source: { path },
    operation: { kind: 'watchlist-add', watchlist: 'slurs', termsPerRequest: 3, ...operation },
    pace: { kind: 'closed', concurrency: 1 },
    retry: { limit: 2, baseMs: 1, maxMs: 2 },
  })
}

const readAnswers = (runId: string): [number, string, RowAnswer | null][] =>
  runs
    .read(runId, (view) => readPage(view, { filter: {}, offset: 0, limit: 500 }))
    .rows.map(({ row, state, answer }) => [row, state, answer])

test('terms go out several a request, and each row ends as the answer says of its term', async () => {
  const server = await startWatchlist(['old'])
  const lines = ['New,a note', 'old,other', 'bad1,', 'bad2,x', 'Last,']
  const run = await runs.start(createPlan(server, lines)).ended
  expect(server.requests.map(({ body }) => toBody(body).terms)).toEqual([
    [{ term: 'New', notes: 'a note' }, { term: 'old', notes: 'other' }, { term: 'bad1' }],
    [{ term: 'bad2', notes: 'x' }, { term: 'Last' }],
  ])
  expect(readAnswers(run.run_id)).toEqual([
    [1, 'succeeded', 'added'],
    [2, 'succeeded', 'pre_existing'],
    [3, 'rejected', 'failed'],
    [4, 'rejected', 'failed'],
    [5, 'succeeded', 'added'],
  ])
  expect(run).toMatchObject({
    state: 'completed',
    operation: 'watchlist-add',
    rows: { read: 5, succeeded: 3, rejected: 2, not_sent: 0 },
    requests: { sent: 2, succeeded: 2 },
    terms: {
      added: 2,
      pre_existing: 1,
      updated: 0,
      non_existent: 0,
      failed: [
        { term: 'bad1', notes: null, row: 4, record: 3 },
        { term: 'bad2', notes: 'x', row: 5, record: 4 },
      ],
    },
  })
})

test("rows are found by the service's answer, combined with other filters", async () => {
  const server = await startWatchlist(['old'])
  const run = await runs.start(createPlan(server, ['New,', 'old,', 'bad1,', 'bad2,', 'Last,'])).ended
  runs.read(run.run_id, (view) => {
    const find = (filter: RowFilter) => {
      const { rows, total } = readPage(view, { filter, offset: 0, limit: 500 })
      return [rows.map(({ row }) => row), total]
    }
    expect(readFacets(view).facets.filter(({ kind }) => kind === 'answer')).toEqual([
      { kind: 'answer', value: 'added', label: 'added', rows: 2 },
      { kind: 'answer', value: 'failed', label: 'failed', rows: 2 },
      { kind: 'answer', value: 'pre_existing', label: 'pre_existing', rows: 1 },
    ])
    expect(find({ answer: 'added' })).toEqual([[1, 5], 2])
    expect(find({ answer: 'failed', state: 'rejected' })).toEqual([[3, 4], 2])
    expect(find({ answer: 'added', unsuccessful: true })).toEqual([[], 0])
    expect(find({ answer: 'pre_existing', search: 'OLD' })).toEqual([[2], 1])
    expect(find({ answer: 'updated' })).toEqual([[], 0])
  })
})

test('lower-cased duplicates are found and not sent, and do not break the order of the rest', async () => {
  const server = await startWatchlist([])
  const run = await runs.start(createPlan(server, ['One,', 'ONE,', 'two,', 'three,', 'four,'])).ended
  expect(server.requests.map(({ body }) => toBody(body).terms.map(({ term }) => term))).toEqual([
    ['One', 'two', 'three'],
    ['four'],
  ])
  expect(run.rows).toMatchObject({ read: 5, succeeded: 4, invalid: 1 })
  expect(run.errors).toMatchObject([{ outcome: 'invalid', error_code: 'not_unique', rows: 1 }])
})

test('a request that is refused whole for its size is split until it is taken, and no term is lost', async () => {
  const server = await startWatchlist([], 2)
  const lines = Array.from({ length: 16 }, (_, i) => `term ${i + 1},`)
  const run = await runs.start(createPlan(server, lines, { termsPerRequest: 8 } as never)).ended
  expect(run.rows).toMatchObject({ read: 16, succeeded: 16 })
  expect(run.terms).toMatchObject({ added: 16 })
  const taken = server.requests.filter(({ body }) => toBody(body).terms.length <= 2)
  expect(taken.flatMap(({ body }) => toBody(body).terms.map(({ term }) => term)).sort()).toEqual(
    lines.map((line) => line.slice(0, -1)).sort(),
  )
  expect(run.requests).toMatchObject({ rejected: 6, succeeded: 8 })
})

test('an update says which terms do not exist, and an empty note is kept or cleared as the person chose', async () => {
  const server = await startWatchlist(['a', 'b'])
  const update = { kind: 'watchlist-update', watchlist: 'slurs' } as const
  const lines = ['a,new', 'b,', 'c,new']
  const kept = await runs.start(createPlan(server, lines, update)).ended
  expect(kept.terms).toMatchObject({ updated: 2, non_existent: 1 })
  expect(readAnswers(kept.run_id)).toEqual([
    [1, 'succeeded', 'updated'],
    [2, 'succeeded', 'updated'],
    [3, 'rejected', 'non_existent'],
  ])
  await runs.start(createPlan(server, lines, { ...update, emptyNotes: 'clear' })).ended
  expect(server.requests.map(({ body }) => toBody(body).terms[1])).toEqual([
    { term: 'b' },
    { term: 'b', notes: null },
  ])
})

test('a retry sends only the terms that did not succeed, in requests of their own', async () => {
  const server = await startWatchlist(['a'])
  const update = { kind: 'watchlist-update', watchlist: 'slurs' } as const
  const parent = await runs.start(createPlan(server, ['x,1', 'a,2', 'y,3', 'z,4'], update)).ended
  expect(parent.rows).toMatchObject({ succeeded: 1, rejected: 3 })
  const child = await runs.retryAsChild(parent.run_id).ended
  expect(child.rows).toMatchObject({ read: 3, rejected: 3, not_sent: 0 })
  expect(server.requests.slice(2).map(({ body }) => toBody(body).terms.map(({ term }) => term))).toEqual([
    ['x', 'y'],
    ['z'],
  ])
  expect(runs.read(child.run_id, (view) => readRow(view, 3))).toMatchObject({
    requestMethod: 'POST',
    requestUrl: `${server.baseUrl}/api/v1/watchlist/update`,
    requestBody: JSON.stringify({
      watchlist: 'slurs',
      terms: [
        { term: 'x', notes: '1' },
        { term: 'y', notes: '3' },
      ],
    }),
  })
})

test('a request of unknown outcome leaves all its terms unknown, and a resend sends them unchanged', async () => {
  let isBroken = true
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (isBroken) return wire.reset()
      const terms = toBody(request.body).terms.map(({ term }) => ({ term }))
      const lists = { added_terms: terms, pre_existing_terms: [], failed_terms: [] }
      wire.send(200, JSON.stringify({ message: '', watchlist: 'slurs', ...lists }))
    },
  })
  const plan = createPlan(server, ['a,', 'b,', 'c,', 'd,'])
  const first = await runs.start({ ...plan, retry: { ...plan.retry, limit: 0 } }).ended
  expect(first.rows).toMatchObject({ unknown: 4 })
  isBroken = false
  const second = await runs.resume(first.run_id, 'resend').ended
  expect(second).toMatchObject({ state: 'completed', rows: { succeeded: 4, unknown: 0 } })
  const bodies = server.requests.map(({ body }) => body)
  expect(bodies.slice(2)).toEqual(bodies.slice(0, 2))
})

test('terms whose first answer was lost count as added or pre-existing, in the run and in its retry', async () => {
  const held = new Set<string>()
  const lost = new Map<string, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { watchlist, terms } = toBody(request.body)
      const isNew = (term: Term) => !held.has(term.term)
      const lists = {
        added_terms: terms.filter(isNew),
        pre_existing_terms: terms.filter((term) => !isNew(term)),
        failed_terms: [],
      }
      for (const { term } of terms) held.add(term)
      // The first answer to the first request is lost, and two to the second.
      const first = terms[0]?.term ?? ''
      lost.set(first, (lost.get(first) ?? 0) + 1)
      if ((lost.get(first) ?? 0) <= (first === 'a' ? 1 : 2)) wire.reset()
      else wire.send(200, JSON.stringify({ message: 'done', watchlist, ...lists }))
    },
  })
  const plan = {
    ...createPlan(server, ['a,', 'b,', 'c,', 'd,']),
    retry: planSchema.shape.retry.parse({ limit: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 40 }),
  }
  const run = await runs.start(plan).ended
  expect(run.terms).toMatchObject({ added: 0, pre_existing: 0, added_or_pre_existing: 3 })
  expect(run.rows).toMatchObject({ succeeded: 3, unknown: 1 })
  const child = await runs.retryAsChild(run.run_id, 'resend').ended
  expect(readAnswers(child.run_id)).toEqual([[4, 'succeeded', 'added_or_pre_existing']])
})
