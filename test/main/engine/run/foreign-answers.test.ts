import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import {
  addConnection,
  changeConnections,
  findConnection,
  readConnections,
} from '../../../../src/main/engine/workspace/connections.ts'
import { toPlanConnection } from '../../../../src/shared/plan/stored-connection.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from '../load/load-runs.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const RULES = [{ rule_id: 'r', rule_name: 'Of another row' }]

/** A service that answers some requests with the post_id that `toOther` gives for their number. */
function startService(toOther: (postId: string, number: number) => string) {
  return startFaultServer({
    onRequest: (request, wire) => {
      const answer = toTaskAnswer(request, RULES)
      wire.send(200, { ...answer, post_id: toOther(String(answer.post_id), request.number) })
    },
  })
}

test("a row that gets somebody else's answer is unknown, has none of its rules, and is counted", async () => {
  const { baseUrl } = await startService((postId, number) => (number === 12 ? 'somebody-else' : postId))
  const pace = { kind: 'closed', concurrency: 1 } as const
  const run = runs.start(createRunPlan(folder, 40, baseUrl, { pace }))
  const summary = await run.ended
  expect(summary.rows).toMatchObject({ succeeded: 39, unknown: 1 })
  expect(summary.echoes).toEqual({ verified: 39, alike: 0, not_verifiable: 0, mismatched: 1 })
  expect(summary.triggered_rules).toEqual([{ rule_id: 'r', rule_name: 'Of another row', rows: 39 }])
  expect(summary.errors).toMatchObject([
    {
      outcome: 'unknown',
      status: 200,
      error_code: 'ECHO_MISMATCH',
      message: 'the answer names post_id "…"; the request named "…"',
      rows: 1,
    },
  ])
  const page = runs.read(run.runId, (view) =>
    readPage(view, { filter: { state: 'unknown' }, offset: 0, limit: 9 }),
  )
  expect(page.rows).toMatchObject([{ row: 12, state: 'unknown', taskId: null, triggeredRules: [] }])
  expect(page.rows[0]?.message).toMatch(/^the answer names post_id "somebody-else"; the request named "/)
})

test('a load test counts foreign answers, which never succeed', async () => {
  const loads = createLoadRuns(folder)
  const { baseUrl } = await startService((postId, number) => (number % 4 === 0 ? 'somebody-else' : postId))
  const { summary } = await loads.run(
    loads.createPlan(5, baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 40 }),
  )
  expect(summary.requests).toMatchObject({ sent: 40, succeeded: 30, unknown: 10 })
  expect(summary.echoes).toEqual({ verified: 30, alike: 0, not_verifiable: 0, mismatched: 10 })
})

test('a load test counts answers that repeat the id in another form', async () => {
  const loads = createLoadRuns(folder)
  const { baseUrl } = await startService((postId, number) => (number % 4 === 0 ? ` ${postId}` : postId))
  const { summary } = await loads.run(
    loads.createPlan(5, baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 40 }),
  )
  expect(summary.requests).toMatchObject({ sent: 40, succeeded: 40 })
  expect(summary.echoes).toEqual({ verified: 40, alike: 10, not_verifiable: 0, mismatched: 0 })
})

test('a row that gets the answer of another row says so, and its connection carries no further request', async () => {
  const ids: string[] = []
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = toTaskAnswer(request)
      ids.push(String(answer.post_id))
      // The previous answer repeats nothing, so its owner is unknown.
      if (request.number === 6) wire.send(200, { task_id: 't', triggered_rules: [] })
      else wire.send(200, request.number === 7 ? { ...answer, post_id: ids[2] } : answer)
    },
  })
  const pace = { kind: 'closed', concurrency: 1 } as const
  const run = runs.start(createRunPlan(folder, 10, server.baseUrl, { pace }))
  const { rows, echoes } = await run.ended
  expect(rows).toMatchObject({ succeeded: 9, unknown: 1 })
  expect(echoes).toEqual({ verified: 8, alike: 0, not_verifiable: 1, mismatched: 1 })
  const page = runs.read(run.runId, (view) => readPage(view, { filter: {}, offset: 0, limit: 20 }))
  const told = page.rows.flatMap(({ row, message }) => (message === null ? [] : [[row, message]]))
  expect(told).toEqual([
    [6, expect.stringMatching(/^the next answer on its connection was that of another row/)],
    [
      7,
      `the answer names post_id "${ids[2]}", which is that of another row of this run; the request named "${ids[6]}"`,
    ],
  ])
  expect(server.connections).toBe(2)
})

test("an answer that repeats nothing and names another row's task says so, and its connection carries no further request", async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const number = request.number === 5 ? 3 : request.number
      const body = { task_id: `t${number}`, triggered_rules: RULES }
      wire.send(200, request.number === 7 ? { ...body, task_id: 't1', from_cache: true } : body)
    },
  })
  const pace = { kind: 'closed', concurrency: 1 } as const
  const run = runs.start(createRunPlan(folder, 8, server.baseUrl, { pace }))
  const summary = await run.ended
  expect(summary.rows).toMatchObject({ succeeded: 8 })
  expect(summary.warnings).toMatchObject([
    {
      code: 'SHARED_TASKS',
      message: expect.stringMatching(/^1 row succeeded by an answer with the task_id/),
    },
  ])
  const page = runs.read(run.runId, (view) =>
    readPage(view, { filter: { answer: 'shared_task' }, offset: 0, limit: 9 }),
  )
  expect(page.rows).toMatchObject([{ row: 5, state: 'succeeded' }])
  expect(page.rows[0]?.message).toBe(
    'the answer names the task of another row, and nothing in it tells whose it is',
  )
  expect(server.connections).toBe(2)
})

test('connections go on if their first answer has the task of another row, too', async () => {
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(200, { task_id: 't', triggered_rules: RULES }),
  })
  const pace = { kind: 'closed', concurrency: 1 } as const
  const { rows } = await runs.start(createRunPlan(folder, 8, server.baseUrl, { pace })).ended
  expect(rows).toMatchObject({ succeeded: 8 })
  expect(server.connections).toBe(2)
})

test('an answer that repeats its own post_id may have the task of another row', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, { ...toTaskAnswer(request, RULES), task_id: 't' }),
  })
  const pace = { kind: 'closed', concurrency: 1 } as const
  const { warnings, echoes } = await runs.start(createRunPlan(folder, 3, server.baseUrl, { pace })).ended
  expect({ warnings, echoes }).toMatchObject({ warnings: [], echoes: { verified: 3 } })
})

test('a load test counts answers that repeat nothing and name the task of another request', async () => {
  const loads = createLoadRuns(folder)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const number = request.number % 4 === 0 ? request.number - 1 : request.number
      wire.send(200, { task_id: `t${number}`, triggered_rules: RULES })
    },
  })
  const { summary } = await loads.run(
    loads.createPlan(5, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 40 }),
  )
  expect(summary.requests).toMatchObject({ sent: 40, succeeded: 40 })
  expect(summary.warnings).toContainEqual({
    code: 'SHARED_TASKS',
    message: expect.stringMatching(/^10 requests succeeded by an answer with the task_id/),
  })
})

test.each([
  ['a column', 'post_id,user_id,text_data', (row: number) => `post-${'x'.repeat(row)},u,text ${row}`],
  ['a template', 'user_id,text_data', (row: number) => `u,text ${row}`],
])(
  "the id of a row that was not sent yet counts as another row's, if ids are from %s",
  async (_, header, toLine) => {
    const path = join(folder, `ahead-${header.length}.csv`)
    writeFileSync(path, `${header}\n${[1, 2, 3, 4, 5, 6, 7, 8].map(toLine).join('\n')}\n`)
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        const answer = toTaskAnswer(request)
        const own = String(answer.post_id)
        const next = own.endsWith('x') ? `${own}x` : own.replace(/\d$/, (digit) => String(Number(digit) + 1))
        wire.send(200, { ...answer, post_id: next })
      },
    })
    const plan = createRunPlan(folder, 1, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 } })
    const run = runs.start({ ...plan, source: { ...plan.source, path } })
    const { rows, state, errors } = await run.ended
    // The last one names a row that does not exist. Answers that name other rows of the run do not count as
    // those of a service that rewrites ids.
    expect({ rows, state }).toMatchObject({ rows: { unknown: 8 }, state: 'completed' })
    expect(
      errors.map(({ message, rows: count }) => [message.includes('another row of this run'), count]),
    ).toEqual([
      [true, 7],
      [false, 1],
    ])
  },
)

test('a run whose first answers all name ids that nobody sent stops and asks, and continues once that is accepted', async () => {
  const server = await startService((postId) => `svc:${postId}`)
  const pace = { kind: 'closed', concurrency: 1 } as const
  const run = runs.start(createRunPlan(folder, 12, server.baseUrl, { pace }))
  const stopped = await run.ended
  expect(stopped).toMatchObject({ state: 'stopped', rows: { succeeded: 0, unknown: 5, not_sent: 7 } })
  expect(stopped.stop_reason).toMatch(
    /^The first 5 answers of http:\S+ that name a post_id all name another than was sent, such as "svc:/,
  )
  expect(stopped.stop_advice).toMatch(
    /^If this service rewrites ids, accept that \(ids_rewritten\) and resume/,
  )
  const again = await runs.resume(run.runId, 'skip').ended
  expect(again).toMatchObject({ state: 'stopped', rows: { unknown: 10, not_sent: 2 } })
  const ended = await runs.resume(run.runId, 'resend', { accept: ['ids_rewritten'] }).ended
  expect(ended).toMatchObject({ state: 'completed', rows: { succeeded: 12, unknown: 0 } })
  expect(ended.echoes).toEqual({ verified: 0, alike: 0, not_verifiable: 12, mismatched: 0 })
})

test('a paused run continues once it is accepted that the service rewrites ids, and the connection remembers', async () => {
  const server = await startService((postId) => `svc:${postId}`)
  changeConnections(folder, (known) =>
    addConnection(known, {
      name: 'live',
      baseUrl: server.baseUrl,
      keys: [{ label: 'default', env: 'KEY' }],
      activeKey: 'default',
      deliveredCodes: [],
      isProduction: false,
    }),
  )
  const connection = { baseUrl: server.baseUrl, name: 'live' }
  const pace = { kind: 'closed', concurrency: 1 } as const
  const plan = createRunPlan(folder, 12, server.baseUrl, { pace, connection })
  const run = runs.start(plan, { whenFailing: 'pause' })
  const { notice } = await run.until(({ phase }) => phase === 'paused')
  expect(notice?.code).toBe('ids_rewritten')
  run.command({ kind: 'resume', accept: ['ids_rewritten'] })
  const { rows, echoes } = await run.ended
  expect(rows).toMatchObject({ succeeded: 7, unknown: 5 })
  expect(echoes).toMatchObject({ not_verifiable: 7, mismatched: 5 })
  expect(runs.read(run.runId, ({ record }) => record.plan.connection.rewritesIds)).toBe(true)
  const stored = findConnection(readConnections(folder), 'live')
  expect(toPlanConnection(stored)).toMatchObject({ rewritesIds: true })
})
