import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { startProxy } from '../../helpers/proxy-server.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'a-key-that-nobody-sees-8812'
const TASK = { kind: 'task', api: 'v1', mode: 'sync', legacy: false } as const
const SANDBOX = { kind: 'sandbox' } as const

async function openWindow(answer?: () => Promise<boolean>) {
  const workspace = createTemporaryFolder()
  const bridge = withBridge(workspace, answer)
  const { client, received } = await connectWindow('message port', bridge.services)
  const addConnection = (name: string, baseUrl: string, isProduction = false) =>
    client.connections.add({
      name,
      label: 'default',
      apiKey: KEY,
      settings: { baseUrl, taskBaseUrl: null, timeoutMs: null, isProduction },
    })
  return { workspace, bridge, client, received, addConnection }
}

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.message ?? String(error),
  )

const toTask = (postId: string, text = 'hello') =>
  JSON.stringify({ text_data: text, user_id: 'u1', post_id: postId }, null, 2)

it('sends one request, shows its full answer, and adds it to no run', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  const text = toTask('p1', 'you stupid idiot')
  const exchange = await client.scratchpad.send({ destination: SANDBOX, endpoint: TASK, text })
  expect(exchange).toMatchObject({
    request: { method: 'POST', body: text },
    answer: { status: 200, body: { cutFromBytes: null } },
    verdict: { outcome: 'succeeded', rules: [{ ruleName: 'Bullying' }], isAcknowledgement: false },
    awaitsCallback: false,
  })
  expect(exchange.request.headers).toContainEqual(['authorization', 'token ••••••••'])
  expect(exchange.answer?.headers.map(([name]) => name.toLowerCase())).toContain('x-sandbox-notice')
  const { durationMs, waitingMs } = exchange.timings
  expect(durationMs).toBeGreaterThan(0)
  expect(waitingMs).toBeLessThanOrEqual(durationMs)
  const again = await client.scratchpad.send({ destination: SANDBOX, endpoint: TASK, text })
  expect(again.verdict).toMatchObject({ outcome: 'rejected', errorCode: 'DUPLICATE_POST_ID' })
  expect((await client.runs.list()).entries).toEqual([])
})

it('sends through the system proxy, as a run does', async () => {
  const tls = await createCertificate({ name: 'api.service.test' })
  const service = await startFaultServer({
    tls,
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const proxy = await startProxy({ leadsTo: service.port })
  vi.stubEnv('HTTPS_PROXY', proxy.url)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const { client, workspace, addConnection } = await openWindow()
  const caFile = join(workspace, 'ca.pem')
  writeFileSync(caFile, tls.cert)
  await addConnection('staging', 'https://api.service.test')
  changeConnections(workspace, (known) => ({
    ...known,
    connections: known.connections.map((one) => ({ ...one, tls: { caFile } })),
  }))
  await client.connections.setKey({ name: 'staging', label: 'default', apiKey: KEY })
  const destination = { kind: 'stored', name: 'staging' } as const
  const { answer } = await client.scratchpad.send({ destination, endpoint: TASK, text: toTask('p1') })
  expect(answer?.status).toBe(200)
  expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: 'api.service.test:443' }])
})

it("waits for an async request's callback and says how long it took", async () => {
  onlyInLongForm()
  const { client } = await openWindow()
  await client.sandbox.start()
  await client.sandbox.behave({ latency: '0ms', callbacks: 'delay=5ms' })
  const endpoint = { ...TASK, mode: 'async' } as const
  const { id, awaitsCallback, request, verdict } = await client.scratchpad.send({
    destination: SANDBOX,
    endpoint,
    text: toTask('p1', 'you stupid idiot'),
  })
  expect(verdict).toMatchObject({ outcome: 'succeeded', isAcknowledgement: true })
  expect(awaitsCallback).toBe(true)
  expect(JSON.parse(request.body ?? '')).toMatchObject({ post_id: 'p1', callback_url: expect.any(String) })
  const callback = await waitFor(async () => {
    const found = await client.scratchpad.takeCallback({ id })
    if (found === null) throw new Error('it has not come yet')
    return found
  })
  expect(callback).toMatchObject({ verdict: { outcome: 'succeeded', rules: [{ ruleName: 'Bullying' }] } })
  expect(callback.latencyMs).toBeGreaterThanOrEqual(5)
  expect(await client.scratchpad.takeCallback({ id })).toBeNull()
})

it('supports each endpoint, and reads an appeal without a key', async () => {
  onlyInLongForm()
  const { client } = await openWindow()
  const { baseUrl } = await client.sandbox.start()
  const send = async (endpoint: Parameters<typeof client.scratchpad.send>[0]['endpoint'], body: object) => {
    const text = JSON.stringify(body)
    const { verdict, request } = await client.scratchpad.send({ destination: SANDBOX, endpoint, text })
    return { outcome: verdict.outcome, request }
  }
  const url = 'https://media.example.com/a.png'
  const added = await send({ kind: 'index-add', mode: 'sync', indexId: 'sandbox-index' }, { url })
  expect(added.outcome).toBe('succeeded')
  const terms = await send(
    { kind: 'watchlist-add' },
    { watchlist: 'sandbox_terms', terms: [{ term: 'one' }, { term: 'two' }] },
  )
  expect(terms.outcome).toBe('succeeded')
  const appeal = await send({ kind: 'appeal-status' }, { appeal_id: 'appeal-2' })
  expect(appeal).toMatchObject({
    outcome: 'succeeded',
    request: { method: 'GET', url: `${baseUrl}/api/v1/appeals/status/appeal-2`, body: null },
  })
  expect(appeal.request.headers.map(([name]) => name)).not.toContain('authorization')
  const leaving = send({ kind: 'appeal-status' }, { appeal_id: '..' })
  expect(await toMessage(leaving)).toContain('appeal_id must not be "." or ".."')
})

it('says where a text is wrong, and what was expected and found', async () => {
  const { client } = await openWindow()
  const check = (text: string) => client.scratchpad.check({ endpoint: TASK, text })
  expect(await check('{"text_data": "a",\n  "post_id" "b"}')).toMatchObject([
    { code: 'not_json', args: { expected: 'colon' }, details: { line: 2, character: 13 }, path: [] },
  ])
  const wrong = { text_data: 7, user_id: 'a_b', post_id: 'p', url: 'x', models: ['no-model'] }
  const found = await check(JSON.stringify(wrong))
  expect(
    found.map(({ severity, code, path, found: value }) => [severity, code, path.join('.'), value]),
  ).toEqual([
    ['error', 'one_of', '', 'both'],
    ['error', 'not_a_url', 'url', 'x'],
    ['error', 'forbidden_character', 'user_id', 'a_b'],
    ['warning', 'unknown_model', 'models', 'no-model'],
    ['error', 'wrong_type', 'text_data', '7'],
  ])
  const twice =
    '{"text_data":"a","user_id":"u","user_id":"v","post_id":"p","user_metadata":{"age":1,"age":2}}'
  expect((await check(twice)).map(({ severity, code, found }) => [severity, code, found])).toEqual([
    ['warning', 'doubled_json_key', 'user_id'],
    ['warning', 'doubled_json_key', 'age'],
  ])
  const terms = { watchlist: '', terms: [{ term: 'fine' }, { term: 'x'.repeat(1_025) }, 'bare'] }
  const ofTerms = await client.scratchpad.check({
    endpoint: { kind: 'watchlist-add' },
    text: JSON.stringify(terms),
  })
  expect(ofTerms.map(({ code, path }) => [code, path])).toEqual([
    ['required', ['watchlist']],
    ['too_long', ['terms', 1, 'term']],
    ['required', ['terms', 2]],
  ])
  // A list of texts instead of objects has an error in each, more than a page could show.
  const listed = await client.scratchpad.check({
    endpoint: { kind: 'watchlist-add' },
    text: JSON.stringify({ watchlist: 'w', terms: Array.from({ length: 5_000 }, (_, index) => `t${index}`) }),
  })
  expect(listed).toHaveLength(100)
  expect(listed[99]?.path).toEqual(['terms', 99])
})

it("copies a request from a row, without that row's callback address", async () => {
  onlyInLongForm()
  const { bridge, client } = await openWindow()
  const source = writeText('text_data,user_id,post_id\nhello,u1,p1\nhello,bad_user,p2\n')
  const request = await createRequest(bridge.services, source, '', {
    destination: SANDBOX,
    operation: { kind: 'task', mode: 'async' },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  const { body } = await client.review.readRequest({ runId, row: 1 })
  const draft = await client.scratchpad.fromRow({ runId, row: 1 })
  expect(draft).toMatchObject({ endpoint: { ...TASK, mode: 'async' }, destination: SANDBOX })
  expect(JSON.parse(draft.text)).toEqual({ text_data: 'hello', user_id: 'u1', post_id: 'p1' })
  expect(JSON.parse(body ?? '')).toHaveProperty('callback_url')
  // A run does not send an invalid row; here it can be tried as it is.
  const invalid = await client.scratchpad.fromRow({ runId, row: 2 })
  expect(JSON.parse(invalid.text)).toEqual({ text_data: 'hello', user_id: 'bad_user', post_id: 'p2' })
  const stranger = await withSandbox({ apiKeys: [KEY] })
  const typed = await createRequest(bridge.services, source, stranger.baseUrl)
  const other = await client.runs.start({ request: typed, apiKey: KEY })
  await client.runs.awaitReady(other)
  expect(await client.scratchpad.fromRow({ ...other, row: 1 })).toMatchObject({ destination: null })
})

it("sends no callback to a row of a run, and none of the sandbox's elsewhere", async () => {
  onlyInLongForm()
  const { bridge, client, addConnection } = await openWindow()
  const service = await startFaultServer({ onRequest: (_request, wire) => wire.send(200, {}) })
  await addConnection('staging', service.baseUrl)
  const source = writeText('text_data,user_id,post_id\nhello,u1,p1\n')
  const request = await createRequest(bridge.services, source, '', {
    destination: SANDBOX,
    operation: { kind: 'task', mode: 'async' },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  const { body } = await client.review.readRequest({ runId, row: 1 })
  const endpoint = { ...TASK, mode: 'async' } as const
  const staging = { kind: 'stored', name: 'staging' } as const
  const text = body ?? ''
  const twice = text.replace('{', '{"callback_url":"https://else.example",')
  for (const one of [text, twice]) {
    const sending = client.scratchpad.send({ destination: staging, endpoint, text: one })
    expect(await toMessage(sending)).toContain('callback_url is the address of a row of a run')
  }
  const toElsewhere = client.scratchpad.send({ destination: SANDBOX, endpoint, text: twice })
  expect(await toMessage(toElsewhere)).toContain('the sandbox posts callbacks only to Sluice')
  expect(service.requests).toEqual([])
})

it('asks a person before it sends to production, and shows no key to the page or in a file', async () => {
  let says = false
  const { bridge, client, received, workspace, addConnection } = await openWindow(async () => says)
  const service = await startFaultServer({
    onRequest: ({ headers }, wire) =>
      wire.send(400, {
        error: true,
        status: 400,
        error_code: 'PARAM_REQUIRED',
        message: `${headers['authorization']}`,
      }),
  })
  await addConnection('live', service.baseUrl, true)
  const send = () =>
    client.scratchpad.send({
      destination: { kind: 'stored', name: 'live' } as const,
      endpoint: TASK,
      text: toTask('p1'),
    })
  expect(await toMessage(send())).toContain('nothing was sent to live')
  expect(service.requests).toHaveLength(0)
  says = true
  const { verdict, answer } = await send()
  expect(verdict).toMatchObject({ outcome: 'rejected', errorCode: 'PARAM_REQUIRED' })
  expect(answer?.body.text).toContain('[redacted]')
  expect(bridge.questions).toEqual(
    [1, 2].map(() => ({ kind: 'request', connection: 'live', baseUrl: service.baseUrl, operation: 'task' })),
  )
  expect(received.join()).not.toContain(KEY)
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  for (const file of files) {
    expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(KEY)
  }
})

it('distinguishes an unreachable service from one that refuses, and tries each once', async () => {
  const { client, addConnection } = await openWindow()
  let requests = 0
  const service = await startFaultServer({
    onRequest: (_request, wire) => {
      requests += 1
      wire.send(503, { error: true, status: 503, error_code: 'SERVICE_UNAVAILABLE', message: 'later' })
    },
  })
  await addConnection('busy', service.baseUrl)
  await addConnection('nowhere', 'http://127.0.0.1:1')
  const send = (name: string) =>
    client.scratchpad.send({ destination: { kind: 'stored', name }, endpoint: TASK, text: toTask('p1') })
  expect(await send('busy')).toMatchObject({ answer: { status: 503 }, verdict: { outcome: 'unknown' } })
  expect(requests).toBe(1)
  expect(await send('nowhere')).toMatchObject({
    answer: null,
    verdict: { outcome: 'failed', errorCode: 'ECONNREFUSED' },
  })
})
