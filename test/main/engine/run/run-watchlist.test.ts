import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFacets } from '../../../../src/main/engine/run/results/facets.ts'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { SluiceError } from '../../../../src/shared/messages/errors.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { type Plan, type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import type { RowAnswer } from '../../../../src/shared/run/item-state.ts'
import type { RowFilter } from '../../../../src/shared/run/row-filters.ts'
import { type FaultServer, startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { judgeCounts } from '../../../helpers/history/judge-counts.ts'
import { readRunHistory } from '../../../helpers/history/read-run-history.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
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

/** A watchlist with these terms; a request of more than `most` terms is refused as a whole. */
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

test('terms go out several per request, and the outcome of each row is the answer about its term', async () => {
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

test('a request that is refused as a whole for its size is split until it is accepted, and no term is lost', async () => {
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

test('a term of a split request has its tries by number, those before the split with its first half', async () => {
  const server = await startWatchlist([], 2)
  const { run_id: runId } = await runs.start(createPlan(server, ['a,', 'b,', 'c,', 'd,'])).ended
  const numbers = [1, 3].map((row) =>
    runs.read(runId, (view) => readRow(view, row).attempts.map(({ number }) => number)),
  )
  expect(numbers).toEqual([[1, 2], [2]])
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

/** A watchlist that cannot process some terms until told otherwise. */
async function startFailingWatchlist(failing: string[]) {
  const service = { failing: new Set(failing), isBroken: false }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (service.isBroken) return wire.reset()
      const { watchlist, terms } = toBody(request.body)
      const isFailing = ({ term }: Term) => service.failing.has(term)
      const lists = {
        added_terms: terms.filter((term) => !isFailing(term)),
        pre_existing_terms: [],
        failed_terms: terms.filter(isFailing).map(({ term }) => ({ term, reason: 'busy' })),
      }
      wire.send(200, JSON.stringify({ message: `of ${terms.length}`, watchlist, ...lists }))
    },
  })
  return Object.assign(service, { server })
}

const listTerms = ({ requests }: FaultServer) =>
  requests.map(({ body }) =>
    toBody(body)
      .terms.map(({ term }) => term)
      .join(' '),
  )

const readMessage = (text: string | null | undefined) =>
  (JSON.parse(text ?? '{}') as { message?: string }).message

/** Differences between a run's tables and its counters and summary. */
const findFaults = (runId: string): string[] =>
  judgeCounts(readRunHistory(toJournalFile(folder, runId))).map(({ message }) => message)

const ALL_TERMS = ['a,1', 'b,2', 'c,3', 'd,4', 'e,5', 'f,6', 'g,7']

test('a retry sends unsuccessful terms in the run itself, and every row keeps its earlier answer', async () => {
  const service = await startFailingWatchlist(['a', 'c', 'e', 'g'])
  const { run_id: runId, rows } = await runs.start(createPlan(service.server, ALL_TERMS)).ended
  expect(rows).toMatchObject({ succeeded: 3, rejected: 4 })
  service.failing = new Set(['c'])
  const once = await runs.retry(runId).ended
  expect(once).toMatchObject({
    run_id: runId,
    state: 'completed',
    retries: [],
    rows: { read: 7, succeeded: 6, rejected: 1, not_sent: 0 },
    requests: { sent: 6, succeeded: 6, retried: 3 },
    terms: { added: 6, failed: [{ term: 'c', notes: '3', row: 4, record: 3 }] },
  })
  service.failing = new Set()
  const twice = await runs.retry(runId).ended
  expect(twice).toMatchObject({ rows: { succeeded: 7, rejected: 0 }, terms: { added: 7, failed: [] } })
  expect(listTerms(service.server)).toEqual(['a b c', 'd e f', 'g', 'a c', 'e', 'g', 'c'])
  expect(
    twice.sessions.map(({ kind, rows_taken: taken, requests: { sent } }) => [kind, taken, sent]),
  ).toEqual([
    ['start', 0, 3],
    ['retry', 4, 3],
    ['retry', 1, 1],
  ])
  const told = [1, 2, 3, 4, 5, 6, 7].map((row) => {
    const { result, responseBody, requestBody, attempts } = runs.read(runId, (view) => readRow(view, row))
    return [
      result.attempts,
      readMessage(responseBody),
      toBody(requestBody ?? '')
        .terms.map(({ term }) => term)
        .join(' '),
      attempts.map(({ number, response }) => [number, readMessage(response?.body)]),
    ]
  })
  expect(told).toEqual([
    [
      2,
      'of 2',
      'a c',
      [
        [1, 'of 3'],
        [2, undefined],
      ],
    ],
    [1, 'of 3', 'a b c', [[1, undefined]]],
    [
      3,
      'of 1',
      'c',
      [
        [1, 'of 3'],
        [2, 'of 2'],
        [3, undefined],
      ],
    ],
    [1, 'of 3', 'd e f', [[1, undefined]]],
    [
      2,
      'of 1',
      'e',
      [
        [1, 'of 3'],
        [2, undefined],
      ],
    ],
    [1, 'of 3', 'd e f', [[1, undefined]]],
    [
      2,
      'of 1',
      'g',
      [
        [1, 'of 1'],
        [2, undefined],
      ],
    ],
  ])
  expect(findFaults(runId)).toEqual([])
})

test('an export has with each term the answer to its last request', async () => {
  const service = await startFailingWatchlist(['a', 'c', 'e'])
  const { run_id: runId } = await runs.start(createPlan(service.server, ALL_TERMS)).ended
  service.failing = new Set()
  await runs.retry(runId).ended
  const file = join(folder, 'retried-terms.jsonl')
  await openEngine(folder).results.exportRun(runId, { file })
  const exported = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(
    exported.map(({ attempts, exchange_in_record: other, response, request, tries }) => [
      attempts,
      other,
      response?.body.message ?? null,
      request?.body.terms.map(({ term }: Term) => term).join(' ') ?? null,
      tries.map(
        ({ response: answer }: { response?: { body: { message: string } } }) => answer?.body.message ?? null,
      ),
    ]),
  ).toEqual([
    [2, null, 'of 2', 'a c', ['of 3', null]],
    [1, null, 'of 3', 'a b c', [null]],
    [2, 1, null, null, [null, null]],
    [1, null, 'of 3', 'd e f', [null]],
    [2, null, 'of 1', 'e', ['of 3', null]],
    [1, 4, null, null, [null]],
    [1, null, 'of 1', 'g', [null]],
  ])
})

test('terms whose answers are lost in a retry are unknown, and a resend sends them as they were sent', async () => {
  const service = await startFailingWatchlist(['b', 'c', 'f'])
  const { run_id: runId } = await runs.start(createPlan(service.server, ALL_TERMS)).ended
  service.isBroken = true
  const broken = await runs.retry(runId, 'skip').ended
  expect(broken.rows).toMatchObject({ succeeded: 4, unknown: 3 })
  expect((await runs.retry(runId, 'skip').ended.catch((error: SluiceError) => error.code)) as unknown).toBe(
    'RUN_NOT_RESUMABLE',
  )
  service.isBroken = false
  service.failing = new Set()
  const { rows } = await runs.retry(runId, 'resend').ended
  expect(rows).toMatchObject({ succeeded: 7, unknown: 0 })
  expect(new Set(listTerms(service.server).slice(3))).toEqual(new Set(['b c', 'f']))
  expect(readAnswers(runId).map(([, , answer]) => answer)).toEqual(Array(7).fill('added'))
  expect(findFaults(runId)).toEqual([])
})

test('a part of a request that the service refuses for its size is not split, since the service accepted the whole before', async () => {
  let most = 3
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { watchlist, terms } = toBody(request.body)
      if (terms.length > most)
        return wire.send(413, toErrorAnswer(413, 'TOO_MANY_TERMS', `at most ${most} terms`))
      const lists = {
        added_terms: [{ term: 'b' }],
        pre_existing_terms: [],
        failed_terms: [{ term: 'a' }, { term: 'c' }],
      }
      wire.send(200, JSON.stringify({ message: 'done', watchlist, ...lists }))
    },
  })
  const { run_id: runId } = await runs.start(createPlan(server, ['a,', 'b,', 'c,'])).ended
  most = 1
  const retried = await runs.retry(runId).ended
  expect(listTerms(server)).toEqual(['a b c', 'a c'])
  expect(retried.rows).toMatchObject({ succeeded: 1, rejected: 2 })
  expect(retried.errors).toMatchObject([{ error_code: 'TOO_MANY_TERMS', rows: 2 }])
  expect(findFaults(runId)).toEqual([])
})

/** The reported data of rows: their tries, their request and answer, and the answers to their other tries. */
const tellRows = (runId: string, rows: readonly number[]) =>
  rows.map((row) => {
    const { result, responseBody, requestBody, unsentBody, attempts } = runs.read(runId, (view) =>
      readRow(view, row),
    )
    return [
      ...[result.state, result.attempts, readMessage(responseBody)],
      requestBody === null ? `not ${listBodyTerms(unsentBody)}` : listBodyTerms(requestBody),
      attempts.map(({ number, response }) => [number, readMessage(response?.body)]),
    ]
  })

const listBodyTerms = (text: string | null | undefined) =>
  toBody(text ?? '{"terms":[]}')
    .terms.map(({ term }) => term)
    .join(' ')

const GAPS = ['a,1', 'b,2', ',3', 'c,4', 'd,5', ',6', 'e,7']

test('a correction of terms continues the run, and each row keeps its earlier request and answers', async () => {
  const service = await startFailingWatchlist(['b', 'd'])
  const plan = createPlan(service.server, GAPS, { termsPerRequest: 4 } as never)
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ read: 7, succeeded: 3, rejected: 2, invalid: 2 })
  service.failing = new Set(['d'])
  const fixes: Fix[] = [
    { kind: 'cell', row: 2, field: 'term', value: 'better', was: 'b' },
    { kind: 'cell', row: 3, field: 'term', value: 'x' },
    { kind: 'cell', row: 6, field: 'term', value: 'y' },
  ]
  const once = await runs.correct(runId, fixes).ended
  expect(once).toMatchObject({
    run_id: runId,
    state: 'completed',
    retries: [],
    rows: { read: 7, succeeded: 6, rejected: 1, invalid: 0, not_sent: 0 },
    requests: { sent: 4, succeeded: 4, retried: 1 },
    terms: { added: 6, failed: [{ term: 'd', row: 6, record: 5 }] },
  })
  // The terms that no request had before are between those of one that is sent again.
  expect(listTerms(service.server)).toEqual(['a b c d', 'e', 'better d', 'x y'])
  expect(tellRows(runId, [1, 2, 3, 5, 6])).toEqual([
    ['succeeded', 1, 'of 4', 'a b c d', [[1, undefined]]],
    [
      ...['succeeded', 2, 'of 2', 'better d'],
      [
        [1, 'of 4'],
        [2, undefined],
      ],
    ],
    ['succeeded', 1, 'of 2', 'x y', [[1, undefined]]],
    [
      ...['rejected', 2, 'of 2', 'better d'],
      [
        [1, 'of 4'],
        [2, undefined],
      ],
    ],
    ['succeeded', 1, 'of 2', 'x y', [[1, undefined]]],
  ])
  service.failing = new Set()
  expect((await runs.retry(runId).ended).rows).toMatchObject({ succeeded: 7 })
  expect(listTerms(service.server).slice(4)).toEqual(['d'])
  expect(findFaults(runId)).toEqual([])
})

test('terms that a correction leaves out keep their tries, and a later one sends them with the terms of their request', async () => {
  const service = await startFailingWatchlist(['a', 'c'])
  const { run_id: runId } = await runs.start(createPlan(service.server, ['a,1', 'b,2', 'c,3'])).ended
  service.failing = new Set(['c2'])
  const better = { kind: 'cell', row: 3, field: 'term', value: 'c2', was: 'c' } as const
  const leftOut = await runs.correct(runId, [{ kind: 'leave_out_row', row: 1 }, better]).ended
  expect(leftOut.rows).toMatchObject({ succeeded: 1, rejected: 1, left_out: 1 })
  expect(tellRows(runId, [1, 2, 3])).toEqual([
    ['left_out', 1, undefined, 'not a', [[1, 'of 3']]],
    ['succeeded', 1, 'of 3', 'a b c', [[1, undefined]]],
    [
      ...['rejected', 2, 'of 1', 'c2'],
      [
        [1, 'of 3'],
        [2, undefined],
      ],
    ],
  ])
  expect(findFaults(runId)).toEqual([])
  const file = join(folder, 'left-out-terms.jsonl')
  await openEngine(folder).results.exportRun(runId, { file })
  const exported = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(
    exported.map(({ response, tries }) => [
      response?.body.message ?? null,
      tries.map(
        ({ response: answer }: { response?: { body: { message: string } } }) => answer?.body.message ?? null,
      ),
    ]),
  ).toEqual([
    [null, ['of 3']],
    ['of 3', [null]],
    ['of 1', ['of 3', null]],
  ])
  service.failing = new Set()
  expect((await runs.correct(runId, [better]).ended).rows).toMatchObject({ read: 3, succeeded: 3 })
  expect(listTerms(service.server)).toEqual(['a b c', 'c2', 'a c2'])
  expect(tellRows(runId, [2])).toEqual([['succeeded', 1, 'of 3', 'a b c', [[1, undefined]]]])
  expect(findFaults(runId)).toEqual([])
})

test('a term that a correction leaves out keeps the trace of its request', async () => {
  const { server } = await startFailingWatchlist(['c'])
  const plan = createPlan(server, ['a,1', 'b,2', 'c,3'])
  const traced = { ...plan, connection: { ...plan.connection, traceparent: true } }
  const { run_id: runId } = await runs.start(traced).ended
  await runs.correct(runId, [{ kind: 'leave_out_row', row: 3 }]).ended
  const file = join(folder, 'left-out-traces.csv')
  await openEngine(folder).results.exportRun(runId, { file })
  const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const traces = lines.map((line) => /(?<=,)[0-9a-f]{32}(?=,|$)/m.exec(line)?.[0])
  expect(traces).toEqual(Array(3).fill(expect.any(String)))
  expect(new Set(traces).size).toBe(1)
})

test('terms of an interrupted correction are unknown, and a resend sends them', async () => {
  const service = await startFailingWatchlist(['b', 'd'])
  const plan = createPlan(service.server, GAPS, { termsPerRequest: 4 } as never)
  const { run_id: runId } = await runs.start({ ...plan, retry: { ...plan.retry, limit: 0 } }).ended
  service.failing = new Set()
  service.isBroken = true
  const fixes: Fix[] = [3, 6].map((row) => ({ kind: 'cell', row, field: 'term', value: `x${row}` }))
  expect((await runs.correct(runId, fixes).ended).rows).toMatchObject({ succeeded: 3, unknown: 4 })
  service.isBroken = false
  expect((await runs.resume(runId, 'resend').ended).rows).toMatchObject({ succeeded: 7, unknown: 0 })
  expect(listTerms(service.server).slice(4)).toEqual(['b d', 'x3 x6'])
  expect(findFaults(runId)).toEqual([])
})

/** Draws the same numbers for a seed. */
function createDraw(seed: number): (below: number) => number {
  let state = seed * 7919 + 17
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

test.each([1, 2, 3, 4])(
  'corrections of a stopped run send every term once in requests that are no larger (draw %i)',
  async (seed) => {
    const draw = createDraw(seed)
    const names = Array.from({ length: 40 }, (_, index) => `t${index + 1}`)
    const isEmpty = names.map(() => draw(3) === 0)
    const failing = names.filter(() => draw(3) === 0)
    const service = await startFailingWatchlist(failing)
    const lines = names.map((name, index) => `${isEmpty[index] ? '' : name},n`)
    const run = runs.start(createPlan(service.server, lines, { termsPerRequest: 5 } as never), { hold: true })
    await run.until(({ phase }) => phase === 'ready')
    const limit = 1 + draw(4)
    run.command({ kind: 'begin', limit })
    await run.until(({ phase, requests: { sent } }) => phase === 'ready' && sent >= limit)
    run.command({ kind: 'stop' })
    await run.ended
    const sentBefore = new Set(listTerms(service.server).flatMap((terms) => terms.split(' ')))
    // Some stay empty for the second correction.
    const late = new Set(names.filter((_name, index) => isEmpty[index] && draw(3) === 0))
    const fillIn = (wanted: (name: string) => boolean): Fix[] =>
      names.flatMap((name, index) =>
        isEmpty[index] && wanted(name) ? [{ kind: 'cell', row: index + 1, field: 'term', value: name }] : [],
      )
    const first = await runs.correct(
      run.runId,
      fillIn((name) => !late.has(name)),
    ).ended
    expect(first.rows).toMatchObject({ read: 40, invalid: late.size, not_sent: 0 })
    expect(findFaults(run.runId)).toEqual([])
    service.failing = new Set()
    const second = await runs.correct(
      run.runId,
      fillIn(() => true),
    ).ended
    expect(second.rows).toMatchObject({ read: 40, succeeded: 40 })
    expect(findFaults(run.runId)).toEqual([])
    const requests = listTerms(service.server).map((terms) => terms.split(' '))
    expect(Math.max(...requests.map((terms) => terms.length))).toBeLessThanOrEqual(5)
    const counts = new Map<string, number>()
    for (const term of requests.flat()) counts.set(term, (counts.get(term) ?? 0) + 1)
    const expected = names.map((name) => [
      name,
      // Once, and again in each session after one in which it failed.
      failing.includes(name) ? 1 + (sentBefore.has(name) ? 1 : 0) + (late.has(name) ? 0 : 1) : 1,
    ])
    expect([...counts].sort()).toEqual(expected.sort())
    for (const [index, name] of names.entries()) {
      const detail = runs.read(run.runId, (view) => readRow(view, index + 1))
      expect([name, detail.result.attempts]).toEqual([name, counts.get(name)])
      const sent = requests.findLast((terms) => terms.includes(name))
      expect(listBodyTerms(detail.requestBody)).toBe(sent?.join(' '))
    }
  },
)

test('a retry as a run of its own sends only unsuccessful terms, in separate requests', async () => {
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

/** A watchlist whose first answer mentions neither `a` nor `b`, and could not process `bad`. */
async function sendUnmentioned() {
  const server = await startFaultServer({
    onRequest: ({ body, number }, wire) => {
      const { watchlist, terms } = toBody(body)
      const lists =
        number === 1
          ? { added_terms: terms.filter(({ term }) => term === 'c'), failed_terms: [{ term: 'bad' }] }
          : { added_terms: [], pre_existing_terms: terms }
      wire.send(200, { message: 'done', watchlist, ...lists })
    },
  })
  const lines = ['a,', 'b,', 'c,', 'bad,']
  const run = await runs.start(createPlan(server, lines, { termsPerRequest: 4 })).ended
  expect(readAnswers(run.run_id)).toEqual([
    [1, 'unknown', null],
    [2, 'unknown', null],
    [3, 'succeeded', 'added'],
    [4, 'rejected', 'failed'],
  ])
  return run.run_id
}

test('terms that no list mentioned count as added or pre-existing when they are sent again by a retry', async () => {
  const runId = await sendUnmentioned()
  await runs.retry(runId, 'resend').ended
  expect(readAnswers(runId)).toEqual([
    [1, 'succeeded', 'added_or_pre_existing'],
    [2, 'succeeded', 'added_or_pre_existing'],
    [3, 'succeeded', 'added'],
    [4, 'succeeded', 'pre_existing'],
  ])
})

test('terms that no list mentioned count as added or pre-existing when a resume sends them again', async () => {
  const runId = await sendUnmentioned()
  await runs.resume(runId, 'resend').ended
  expect(readAnswers(runId)).toEqual([
    [1, 'succeeded', 'added_or_pre_existing'],
    [2, 'succeeded', 'added_or_pre_existing'],
    [3, 'succeeded', 'added'],
    [4, 'rejected', 'failed'],
  ])
})
