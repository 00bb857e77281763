import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import type { RunRequestInput } from '../../../src/shared/bridge/runs.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'the-key-of-the-service'

async function open() {
  const bridge = withBridge()
  const { client } = await connectWindow('websocket', bridge.services)
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  return { bridge, client, sandbox }
}

async function check(client: BridgeClient, request: RunRequestInput) {
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  const problems = await client.check.problems({ runId })
  return { runId, errors: problems.filter(({ severity }) => severity === 'error') }
}

async function send(client: BridgeClient, runId: string) {
  const begun = await client.runs.begin({ runId })
  for await (const _ of followRun(client, begun.runId));
  return client.runs.summarize(begun)
}

const CSV = 'text_data,user_id,post_id\nhello there,u;1,p1\nhow are you,,p2\nfine thanks,u3,p1\n'

it("checks and sends a page's rows as fixed, and shows both texts", async () => {
  const { bridge, client, sandbox } = await open()
  const path = writeText(CSV)
  const request = await createRequest(bridge.services, path, sandbox.baseUrl)
  const before = await check(client, request)
  expect(before.errors.map(({ code, field, rows }) => [code, field, rows]).sort()).toEqual([
    ['forbidden_character', 'user_id', 1],
    ['not_unique', 'post_id', 1],
    ['required', 'user_id', 1],
  ])
  const { rowHash } = await client.results.row({ runId: before.runId, row: 2 })
  await client.runs.deleteRun({ runId: before.runId })
  const { runId, errors } = await check(client, {
    ...request,
    fixes: [
      { kind: 'substitute', field: 'user_id' },
      { kind: 'cell', record: 2, rowHash, field: 'user_id', value: 'ann', was: '' },
      { kind: 'leave_out', problem: 'not_unique', field: 'post_id' },
    ],
  })
  expect(errors).toEqual([])
  const { body } = await client.review.readRequest({ runId, row: 1 })
  expect(JSON.parse(body ?? '')).toMatchObject({ user_id: 'u~3B1' })
  const summary = await send(client, runId)
  expect(summary).toMatchObject({
    rows: { read: 3, succeeded: 2, invalid: 0, left_out: 1 },
    corrected: { rows: 2, cells: 2, fields: [{ field: 'user_id', cells: 2 }], split: 0 },
  })
  expect((await sandbox.findPost('p2')).task?.request).toMatchObject({ user_id: 'ann' })
  expect((await client.results.row({ runId, row: 1 })).corrections).toEqual([
    { field: 'user_id', before: 'u;1', own: 'u;1', sent: 'u~3B1' },
  ])
  expect(readFileSync(path, 'utf8')).toBe(CSV)
})

it('holds a correction, releases its rows when it is deleted, and sends the next one as part of its run', async () => {
  onlyInLongForm()
  const { bridge, client, sandbox } = await open()
  const path = writeText(CSV.replace('u;1', 'u1'))
  const { runId } = await check(client, await createRequest(bridge.services, path, sandbox.baseUrl))
  expect((await send(client, runId)).rows).toMatchObject({ succeeded: 1, invalid: 2 })

  const retry = { runId, onUnknown: 'skip', apiKey: KEY } as const
  const first = await client.runs.correctRun({ ...retry, fixes: [] })
  await client.runs.awaitReady(first)
  expect((await client.runs.summarize(first)).rows).toMatchObject({ read: 2, invalid: 2, not_sent: 0 })
  await client.runs.deleteRun(first)
  const fixes = [
    { kind: 'cell', row: 2, field: 'user_id', value: 'ann' },
    { kind: 'cell', row: 3, field: 'post_id', value: 'p3' },
  ] as const
  const second = await client.runs.correctRun({ ...retry, fixes: [...fixes] })
  await client.runs.awaitReady(second)
  expect((await sandbox.stats()).requests).toBe(1)
  expect(await send(client, second.runId)).toMatchObject({
    run_id: runId,
    rows: { read: 3, succeeded: 3, invalid: 0 },
    sessions: [{ kind: 'start' }, { kind: 'correction', rows_taken: 2 }],
  })
  expect(await client.runs.summarize(second).catch(parseBridgeError)).toMatchObject({ code: 'RUN_NOT_FOUND' })
  expect((await client.runs.list({})).entries).toHaveLength(1)
  const hashes = await Promise.all(
    [2, 3].map(async (row) => (await client.results.row({ runId, row })).rowHash),
  )
  expect((await client.runs.readPlan({ runId })).fixes).toEqual(
    fixes.map((fix, index) => ({ ...fix, rowHash: hashes[index] })),
  )
})

it('sends a held correction with the key and the concurrency that were set while it was held', async () => {
  const { bridge, client, sandbox } = await open()
  const path = writeText(CSV.replace('u;1', 'u1'))
  const { runId } = await check(client, await createRequest(bridge.services, path, sandbox.baseUrl))
  await send(client, runId)
  const fixes = [{ kind: 'cell', row: 2, field: 'user_id', value: 'ann' }] as const
  const held = await client.runs.correctRun({
    runId,
    onUnknown: 'skip',
    apiKey: 'an-old-key',
    fixes: [...fixes],
  })
  await client.runs.awaitReady(held)
  await client.runs.setApiKey({ ...held, apiKey: KEY })
  await client.runs.setConcurrency({ ...held, concurrency: 3 })
  expect((await send(client, held.runId)).rows).toMatchObject({ succeeded: 2, rejected: 0 })
  expect((await client.runs.readPlan({ runId })).pace).toMatchObject({ concurrency: 3 })
})

it('sends the first rows of a held correction and keeps the rest waiting', async () => {
  const { bridge, client, sandbox } = await open()
  const path = writeText('text_data,user_id,post_id\none,,p1\ntwo,,p2\nthree,,p3\nfour,u4,p4\n')
  const { runId } = await check(client, await createRequest(bridge.services, path, sandbox.baseUrl))
  await send(client, runId)
  const fixes = [1, 2, 3].map((row) => ({ kind: 'cell' as const, row, field: 'user_id', value: `ann${row}` }))
  const held = await client.runs.correctRun({ runId, onUnknown: 'skip', apiKey: KEY, fixes })
  await client.runs.awaitReady(held)
  const begun = await client.runs.begin({ ...held, limit: 1 })
  for await (const { phase, rows } of followRun(client, begun.runId)) {
    if (phase === 'ready' && rows.succeeded === 2) break
  }
  expect((await sandbox.stats()).requests).toBe(2)
  expect((await send(client, begun.runId)).rows).toMatchObject({ succeeded: 4, not_sent: 0 })
})

it('sends a held correction of terms, several per request, as part of its run', async () => {
  const { bridge, client, sandbox } = await open()
  const path = writeText('term,notes\nfirst,x\n,y\nthird,z\n')
  const operation = { kind: 'watchlist-add', watchlist: 'sandbox_terms', termsPerRequest: 10 } as const
  const request = await createRequest(bridge.services, path, sandbox.baseUrl, { operation })
  const { runId } = await check(client, request)
  expect(await send(client, runId)).toMatchObject({ rows: { succeeded: 2, invalid: 1 } })
  const fixes = [{ kind: 'cell' as const, row: 2, field: 'term', value: 'second' }]
  const held = await client.runs.correctRun({ runId, onUnknown: 'skip', apiKey: KEY, fixes })
  await client.runs.awaitReady(held)
  const sentBefore = (await sandbox.terms('sandbox_terms')).map(({ term }) => term)
  expect([sentBefore.includes('first'), sentBefore.includes('second')]).toEqual([true, false])
  expect(await send(client, held.runId)).toMatchObject({
    run_id: runId,
    retries: [],
    terms: { added: 3, failed: [] },
    rows: { read: 3, succeeded: 3, invalid: 0 },
  })
  expect((await client.runs.list({})).entries).toHaveLength(1)
})

it('refuses unknown fixes', async () => {
  const { bridge, client, sandbox } = await open()
  const request = await createRequest(bridge.services, writeText(CSV), sandbox.baseUrl)
  const fixes = [{ kind: 'cell', row: 0, field: 'user_id', value: 'x', path: '/etc/passwd' }] as never
  const error = await client.runs.start({ request: { ...request, fixes }, apiKey: KEY }).then(
    () => null,
    (thrown: unknown) => parseBridgeError(thrown),
  )
  expect(error).toMatchObject({ code: 'BAD_USAGE', message: expect.stringContaining('fixes') })
})
