import { expect, test } from 'vitest'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns, type InProcessRun, RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const NEW_KEY = 'the-new-key-of-the-run'
const REFUSAL = { error: true, status: 401, error_code: 'INVALID_API_KEY', message: 'unknown key' }

/** A service that accepts only the new key; `lose` breaks off requests that may have been accepted. */
async function startService(
  parts: { takesOld?: boolean; lose?: (text: string, tries: number) => boolean } = {},
) {
  const service = { takesOld: parts.takesOld ?? false }
  const tries = new Map<string, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { text_data: text } = JSON.parse(request.body) as { text_data: string }
      tries.set(text, (tries.get(text) ?? 0) + 1)
      if (parts.lose?.(text, tries.get(text) ?? 0)) return wire.reset()
      const isOld = !JSON.stringify(request.headers).includes(NEW_KEY)
      if (isOld && !service.takesOld) return wire.send(401, REFUSAL)
      wire.send(200, toTaskAnswer(request))
    },
  })
  const plan = (rows: number) =>
    createRunPlan(folder, rows, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 } })
  const replaceKey = (run: InProcessRun) =>
    run.command({
      kind: 'set_api_key',
      apiKey: ApiKey.create(NEW_KEY, { baseUrl: server.baseUrl }, 'of the test').seal(),
    })
  return { server, service, tries, plan, replaceKey }
}

test('rows that were refused for the key are sent again when it is replaced in a paused run', async () => {
  const { plan, replaceKey, tries } = await startService()
  const run = runs.start(plan(8), { whenFailing: 'pause' })
  const paused = await run.until(({ phase }) => phase === 'paused')
  expect(paused.notice?.code).toBe('key_refused')
  expect(paused.rows.rejected).toBe(5)
  replaceKey(run)
  run.command({ kind: 'begin' })
  const summary = await run.ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 8, rejected: 0 }, errors: [] })
  expect([...tries.values()]).toEqual([2, 2, 2, 2, 2, 1, 1, 1])
})

test('rows that were refused for the key are sent again when it is replaced while the run goes on', async () => {
  const { server, service, plan, replaceKey } = await startService({ takesOld: true })
  const run = runs.start(plan(6), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 1 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 1)
  service.takesOld = false
  run.command({ kind: 'begin', limit: 2 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.rejected === 2)
  replaceKey(run)
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 6, rejected: 0 } })
  expect(server.requests).toHaveLength(8)
})

test('a resumed run resends the rows that were refused for its previous key', async () => {
  const { service, plan } = await startService()
  const { runId, ended } = runs.start(plan(8))
  expect(await ended).toMatchObject({ state: 'stopped', rows: { rejected: 5, not_sent: 3 } })
  service.takesOld = true
  expect(await runs.resume(runId).ended).toMatchObject({
    state: 'completed',
    rows: { succeeded: 8, rejected: 0 },
    errors: [],
  })
})

test('a row with an earlier try that may have been accepted stays unknown when the key is replaced', async () => {
  const { plan, replaceKey, tries } = await startService({
    lose: (text, number) => text === 'text 1' && number === 1,
  })
  const run = runs.start(plan(8), { whenFailing: 'pause' })
  await run.until(({ phase }) => phase === 'paused')
  replaceKey(run)
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 7, unknown: 1 } })
  expect(tries.get('text 1')).toBe(2)
})

test('rows that the service refused for another reason are not sent again when the key is replaced', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) =>
      request.body.includes('"text 1"')
        ? wire.send(403, { error: true, status: 403, error_code: 'PARAM_REQUIRED', message: 'no' })
        : request.body.includes('"text 2"')
          ? wire.send(400, { error: true, status: 400, error_code: 'BAD_REQUEST', message: 'no' })
          : wire.send(200, toTaskAnswer(request)),
  })
  const run = runs.start(createRunPlan(folder, 3, server.baseUrl), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 2 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.rejected === 2)
  const apiKey = ApiKey.create(RUN_KEY, { baseUrl: server.baseUrl }, 'of the test').seal()
  run.command({ kind: 'set_api_key', apiKey })
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 1, rejected: 2 } })
  expect(server.requests).toHaveLength(3)
})

test('a key that is refused, too, pauses the run again, and a third one sends its rows', async () => {
  const { plan, replaceKey, server, tries } = await startService()
  const run = runs.start(plan(8), { whenFailing: 'pause' })
  await run.until(({ phase }) => phase === 'paused')
  const wrong = ApiKey.create('another-wrong-key', { baseUrl: server.baseUrl }, 'of the test').seal()
  run.command({ kind: 'set_api_key', apiKey: wrong })
  run.command({ kind: 'begin' })
  const again = await run.until(({ phase, requests }) => phase === 'paused' && requests.rejected === 10)
  expect(again.notice?.code).toBe('key_refused')
  expect(again.rows.rejected).toBe(5)
  replaceKey(run)
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({
    state: 'completed',
    rows: { succeeded: 8, rejected: 0 },
    requests: { sent: 18 },
  })
  expect([...tries.values()].reduce((sum, n) => sum + n, 0)).toBe(18)
})
