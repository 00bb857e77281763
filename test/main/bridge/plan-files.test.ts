import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRowHash } from '../../../src/main/engine/mapping/row-hash.ts'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { isPlanName } from '../../../src/shared/bridge/plans.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'

/** A service that refuses requests with this text, or accepts them without one. */
const startService = (isRefused: (body: string) => boolean = () => false) =>
  startFaultServer({
    onRequest: (request, wire) =>
      isRefused(request.body)
        ? wire.send(400, toErrorAnswer(400, 'INVALID', 'no'))
        : wire.send(200, toTaskAnswer(request)),
  })

/** A window on a workspace that knows the connection `live`, and two services. */
async function openWindow() {
  let refused: string | null = null
  const [live, other] = [
    await startService((body) => refused !== null && body.includes(refused)),
    await startService(),
  ]
  const setRefused = (text: string) => {
    refused = text
  }
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('LIVE_KEY', 'the-key-of-live')
  vi.stubEnv('OTHER', 'another-secret')
  const workspace = createTemporaryFolder()
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: live.baseUrl,
    keys: [{ label: 'main', env: 'LIVE_KEY' }],
    activeKey: 'main',
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  const bridge = withBridge(workspace)
  const { client, received } = await connectWindow('message port', bridge.services)
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'posts.csv'), 'text_data,user_id\nhello,u-1\nworld,u-2\n')
  const write = (connection: object, more: object = {}) => {
    const file = join(folder, 'posts.sluiceplan')
    const plan = { connection, source: { path: 'posts.csv' }, operation: { kind: 'task' }, ...more }
    writeFileSync(file, JSON.stringify(plan))
    return file
  }
  const send = async (runId: string) => {
    await client.runs.awaitReady({ runId })
    await client.runs.begin({ runId })
    await bridge.services.engine.runs.heldRun(runId)?.ended
    return client.runs.summarize({ runId })
  }
  const { plans } = bridge.services
  return {
    live,
    other,
    client,
    received,
    workspace,
    folder,
    write,
    send,
    plans,
    host: bridge.host,
    setRefused,
  }
}

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.message ?? String(error),
  )

it('is recognised by its extension', () => {
  expect(['a.sluiceplan', 'B.SLUICEPLAN', 'posts.plan.json'].map(isPlanName)).toEqual([true, true, true])
  expect(['posts.json', 'plan.csv', 'sluiceplan'].map(isPlanName)).toEqual([false, false, false])
})

it('is shown before anything is read or sent, then sends with the key of the stored connection that it names', async () => {
  const { live, client, write, send, plans } = await openWindow()
  const { planId, question } = plans.open(write({ name: 'live' }, { name: 'May' }))
  expect(question).toBeNull()
  expect(await client.plans.describe({ planId })).toMatchObject({
    file: 'posts.sluiceplan',
    name: 'May',
    operation: { kind: 'task' },
    load: null,
    source: 'posts.csv',
    baseUrl: live.baseUrl,
    connectionName: 'live',
    isSandbox: false,
    needsKey: false,
    leftOut: [],
  })
  expect((await client.runs.list()).all).toBe(0)
  const { runId } = await client.plans.start({ planId })
  await client.runs.awaitReady({ runId })
  expect(live.requests).toEqual([])
  expect((await send(runId)).rows).toMatchObject({ read: 2, succeeded: 2 })
  expect(live.requests[0]?.headers.authorization).toContain('the-key-of-live')
})

it('is saved from a run and does the same when opened', async () => {
  onlyInLongForm()
  const { live, client, write, send, plans, host, folder } = await openWindow()
  const mapping = { user_metadata: { kind: 'template', template: '{"from":"may"}' } }
  const rowHash = createRowHash(['text_data', 'user_id'])(['hello', 'u-1'])
  const fixes = [{ kind: 'cell', record: 1, rowHash, field: 'user_id', value: 'u-9' }]
  const { planId } = plans.open(write({ name: 'live' }, { name: 'May', mapping, fixes }))
  const { runId } = await client.plans.start({ planId })
  await send(runId)
  const file = join(folder, 'saved.sluiceplan')
  expect(await client.plans.save({ runId, ...host.addExportFile(file) })).toMatchObject({
    saved: { kind: 'file', file },
    notes: [],
  })
  const text = readFileSync(file, 'utf8')
  expect(text).not.toContain('the-key-of-live')
  expect(text).not.toContain('$comment')
  expect(JSON.parse(text)).toMatchObject({ source: { path: 'posts.csv' }, mapping, fixes })
  const saved = await client.plans.start({ planId: plans.open(file).planId })
  expect((await send(saved.runId)).rows).toMatchObject({ read: 2, succeeded: 2 })
  expect(await client.runs.readPlan(saved)).toEqual(await client.runs.readPlan({ runId }))
  expect(live.requests).toHaveLength(4)
  const other = await toMessage(client.plans.save({ runId, ...host.addExportFile(join(folder, 'a.csv')) }))
  expect(other).toContain('does not end in .sluiceplan')
})

it('is saved without the folder of an uploaded file, which is deleted with the window, and says so', async () => {
  onlyInLongForm()
  const { client, write, send, plans, host, workspace, folder } = await openWindow()
  const place = join(workspace, 'uploads', '0123')
  mkdirSync(place, { recursive: true })
  copyFileSync(join(folder, 'posts.csv'), join(place, 'posts.csv'))
  const { planId } = plans.open(write({ name: 'live' }, { source: { path: join(place, 'posts.csv') } }))
  const { runId } = await client.plans.start({ planId })
  await send(runId)
  rmSync(place, { recursive: true })
  const file = join(folder, 'saved.sluiceplan')
  const { notes } = await client.plans.save({ runId, ...host.addExportFile(file) })
  expect(notes).toEqual([expect.stringContaining('keep posts.csv next to this file, or change source.path')])
  const saved = JSON.parse(readFileSync(file, 'utf8'))
  expect(saved).toMatchObject({ $comment: notes[0], source: { path: 'posts.csv' } })
  const again = await client.plans.start({ planId: plans.open(file).planId })
  expect((await send(again.runId)).rows).toMatchObject({ read: 2, succeeded: 2 })
})

it('says if the plan of a held correction would send more rows than the correction', async () => {
  onlyInLongForm()
  const { client, write, send, plans, host, folder, setRefused } = await openWindow()
  setRefused('world')
  const { runId } = await client.plans.start({ planId: plans.open(write({ name: 'live' })).planId })
  expect((await send(runId)).rows).toMatchObject({ succeeded: 1, rejected: 1 })
  const retry = await client.runs.correctRun({ runId, onUnknown: 'skip', fixes: [] })
  await client.runs.awaitReady(retry)
  const file = join(folder, 'retry.sluiceplan')
  const { notes } = await client.plans.save({ ...retry, ...host.addExportFile(file) })
  expect(notes).toEqual([expect.stringContaining('was a retry of 1 row, but a plan sends every row')])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ $comment: notes[0] })
})

it('uses none of its variables, proxies or certificates with an address of its own, which needs a typed key', async () => {
  const { live, other, client, write, send, plans } = await openWindow()
  const file = write({
    baseUrl: other.baseUrl,
    apiKeyEnv: 'OTHER',
    proxy: { url: live.baseUrl },
    tls: { caFile: 'ca.pem' },
  })
  const { planId, question } = plans.open(file)
  expect(question?.sent).toContain(`the API key in OTHER to ${other.baseUrl}`)
  expect(await client.plans.describe({ planId })).toMatchObject({
    connectionName: null,
    needsKey: true,
    leftOut: ['the certificates', 'the proxy'],
  })
  expect(await toMessage(client.plans.start({ planId }))).toContain('key')
  const { runId } = await client.plans.start({ planId, apiKey: 'typed-by-a-person' })
  expect((await send(runId)).rows).toMatchObject({ succeeded: 2 })
  expect(live.requests).toEqual([])
  const sent = JSON.stringify(other.requests.map(({ headers }) => headers))
  expect(sent).toContain('typed-by-a-person')
  expect(sent).not.toMatch(/another-secret|the-key-of-live/)
})

it('stays with a stored connection whose key is typed, and asks for that key until it has it', async () => {
  onlyInLongForm()
  const { live, client, write, send, plans } = await openWindow()
  const settings = { baseUrl: live.baseUrl, taskBaseUrl: null, timeoutMs: null, isProduction: false }
  await client.connections.add({ name: 'by-hand', settings, label: 'main' })
  const { planId, question } = plans.open(write({ name: 'by-hand' }))
  expect(question).toBeNull()
  const described = { connectionName: 'by-hand', baseUrl: live.baseUrl }
  expect(await client.plans.describe({ planId })).toMatchObject({ ...described, needsKey: true })
  await client.connections.setKey({ name: 'by-hand', label: 'main', apiKey: 'typed-for-by-hand' })
  expect(await client.plans.describe({ planId })).toMatchObject({ ...described, needsKey: false })
  const { runId } = await client.plans.start({ planId })
  expect((await send(runId)).rows).toMatchObject({ succeeded: 2 })
  expect(live.requests[0]?.headers.authorization).toContain('typed-for-by-hand')
})

it('shows both addresses that a typed key would be sent to', async () => {
  const { live, other, client, write, plans } = await openWindow()
  const addresses = { baseUrl: live.baseUrl, taskBaseUrl: other.baseUrl }
  const { planId, question } = plans.open(write({ ...addresses, keyFrom: 'window' }))
  expect(question?.sent).toBe(`the API key that you type to ${live.baseUrl} and ${other.baseUrl}`)
  expect(await client.plans.describe({ planId })).toMatchObject({ ...addresses, needsKey: true })
})

it('gets the stored key only for the stored address, whatever connection it names', async () => {
  const { other, client, write, plans } = await openWindow()
  const { planId, question } = plans.open(write({ name: 'live', baseUrl: other.baseUrl }))
  expect(question).not.toBeNull()
  expect(await client.plans.describe({ planId })).toMatchObject({ connectionName: null, needsKey: true })
  await toMessage(client.plans.start({ planId }))
  expect(other.requests).toEqual([])
})

it('needs a confirmation outside the page if it reads a file outside its own folder', async () => {
  const { write, plans, live, folder } = await openWindow()
  const elsewhere = join(createTemporaryFolder(), 'private\u202e.csv')
  writeFileSync(elsewhere, 'text_data\nsecret\n')
  const { question } = plans.open(write({ name: 'live' }, { source: { path: elsewhere } }))
  expect(question).toEqual({
    source: elsewhere.replace('\u202e', '\u{fffd}'),
    sent: `its rows to ${live.baseUrl}`,
  })
  symlinkSync(elsewhere, join(folder, 'link.csv'))
  expect(plans.open(write({ name: 'live' }, { source: { path: 'link.csv' } })).question).not.toBeNull()
})

it('does what it showed when it was opened, even if the file has changed since', async () => {
  const { other, client, write, plans } = await openWindow()
  const { planId } = plans.open(write({ name: 'live' }))
  write({ baseUrl: other.baseUrl })
  expect(await client.plans.describe({ planId })).toMatchObject({ connectionName: 'live' })
})

it('leaves the callback address to the workspace', async () => {
  onlyInLongForm()
  const { client, write, plans } = await openWindow()
  const operation = { kind: 'task', mode: 'async' }
  const { planId } = plans.open(
    write({ name: 'live' }, { operation, callback: { host: '0.0.0.0', port: 9_999 } }),
  )
  expect((await client.plans.describe({ planId })).leftOut).toEqual(['where callbacks are received'])
  const { runId } = await client.plans.start({ planId })
  await client.runs.awaitReady({ runId })
  expect((await client.runs.readPlan({ runId })).callback).toMatchObject({ host: '127.0.0.1' })
  expect((await client.receiver.status())?.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:/)
})

it('with problems lists all of them, without paths of this machine', async () => {
  const { client, folder, plans, write, received } = await openWindow()
  const describe = (planId: string) => toMessage(client.plans.describe({ planId }))
  const file = write({ name: 'live', port: 3 }, { operation: { kind: 'nothing' } })
  expect(await describe(plans.open(file).planId)).toMatch(
    /^posts\.sluiceplan has 2 problems; nothing was sent: .*operation/,
  )
  writeFileSync(file, '{')
  expect(await describe(plans.open(file).planId)).toContain('posts.sluiceplan is not valid JSON')
  write({ name: 'live' }, { source: { path: 'gone.csv' } })
  expect(await describe(plans.open(file).planId)).toBe('gone.csv does not exist')
  expect(await describe(plans.open(join(folder, 'gone.sluiceplan')).planId)).toContain('does not exist')
  expect(received.join('\n')).not.toContain(folder)
  expect(await describe('made-up')).toContain('no longer open')
})
