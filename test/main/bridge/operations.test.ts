import { expect, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import type { RunSnapshot } from '../../../src/shared/run/snapshot.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows, writeText } from './plans.ts'

const KEY = 'the-key-of-the-service'

async function open() {
  const bridge = withBridge(undefined, async () => true)
  const { client } = await connectWindow('websocket', bridge.services)
  return { bridge, client, workspace: bridge.services.engine.workspace }
}

/** Sets environment variables of this process until the test is over. */
function withVariables(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

/** Follows a run until a snapshot fits; returns the last snapshot if the run ends first. */
async function followUntil(client: BridgeClient, runId: string, fits: (snapshot: RunSnapshot) => boolean) {
  let last: RunSnapshot | null = null
  for await (const snapshot of followRun(client, runId)) {
    last = snapshot
    if (fits(snapshot)) break
  }
  return last
}

const isPaused = ({ phase, inFlight }: RunSnapshot) => phase === 'paused' && inFlight === 0

it('lists stored connections without their keys, and lets their runs follow the active key', async () => {
  const { bridge, client, workspace } = await open()
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  withVariables({ BRIDGE_OLD_KEY: 'not-any-more', BRIDGE_NEW_KEY: KEY })
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: sandbox.baseUrl,
    keys: [
      { label: 'old', env: 'BRIDGE_OLD_KEY' },
      { label: 'new', env: 'BRIDGE_NEW_KEY' },
      { label: 'unset', env: 'BRIDGE_UNSET_KEY' },
    ],
    activeKey: 'old',
    isProduction: true,
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  const [entry] = await client.connections.list()
  expect(entry).toMatchObject({ name: 'live', isProduction: true, isInUse: true, activeKey: 'old' })
  expect(entry?.keys.map(({ label, state }) => [label, state])).toEqual([
    ['old', 'ready'],
    ['new', 'ready'],
    ['unset', 'missing'],
  ])
  expect(JSON.stringify(entry)).not.toContain(KEY)

  const destination = { kind: 'stored', name: 'live' } as const
  const request = await createRequest(bridge.services, writeRows(30), '', { destination })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  expect(await client.runs.readAccess({ runId })).toEqual({
    connectionName: 'live',
    keyConnection: 'live',
    isProduction: true,
    needsKey: false,
    canChangeKey: true,
  })
  await client.runs.begin({ runId })
  const paused = await followUntil(client, runId, isPaused)
  expect(paused?.notice?.reason).toMatch(/API key/)
  const [used] = await client.connections.use({ name: 'live', key: 'new' })
  expect(used?.activeKey).toBe('new')
  await client.runs.resume({ runId })
  await followUntil(client, runId, () => false)
  const { rows } = await client.runs.summarize({ runId })
  expect(rows).toMatchObject({ read: 30, not_sent: 0 })
  expect(rows.succeeded).toBeGreaterThan(10)
  const missing = await client.connections.use({ name: 'nobody' }).catch(parseBridgeError)
  expect(missing).toMatchObject({ code: 'CONNECTION_NOT_FOUND' })
})

it('sends with a key that is typed while the run is paused', async () => {
  onlyInLongForm()
  const { bridge, client } = await open()
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const { runId } = await client.runs.start({
    request: await createRequest(bridge.services, writeRows(30), sandbox.baseUrl),
    apiKey: 'wrong',
  })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  const paused = await followUntil(client, runId, isPaused)
  expect(paused?.notice?.advice).toContain('Check the API key that was typed in')
  expect(paused?.notice?.advice).not.toContain('SLUICE_API_KEY')
  expect(await client.runs.setApiKey({ runId, apiKey: 'two words' }).catch(parseBridgeError)).toMatchObject({
    code: 'NO_API_KEY',
  })
  await client.runs.setApiKey({ runId, apiKey: KEY })
  await client.runs.resume({ runId })
  await followUntil(client, runId, () => false)
  const { rows } = await client.runs.summarize({ runId })
  expect(rows.succeeded).toBeGreaterThan(10)
  expect(rows.succeeded + rows.rejected).toBe(30)
})

it('keeps a typed key until another key of the stored connection becomes the active one', async () => {
  onlyInLongForm()
  const { bridge, client, workspace } = await open()
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  withVariables({ BRIDGE_NEW_KEY: KEY })
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: sandbox.baseUrl,
    keys: [
      { label: 'old', env: 'BRIDGE_UNSET_KEY' },
      { label: 'new', env: 'BRIDGE_NEW_KEY' },
    ],
    activeKey: 'old',
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  const destination = { kind: 'stored', name: 'live' } as const
  const request = await createRequest(bridge.services, writeRows(30), '', { destination })
  const { runId } = await client.runs.start({ request, apiKey: 'typed-and-wrong' })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  expect((await followUntil(client, runId, isPaused))?.notice?.advice).toContain('that was typed in')
  await client.connections.use({ name: 'live', key: 'new' })
  await client.runs.resume({ runId })
  await followUntil(client, runId, () => false)
  const { rows } = await client.runs.summarize({ runId })
  expect(rows.succeeded).toBeGreaterThan(10)
})

it('opens the receiver once, and tests one of its addresses', async () => {
  const { client } = await open()
  expect(await client.receiver.status()).toBeNull()
  const opened = await client.receiver.open()
  expect(opened).toMatchObject({ role: 'listening', received: 0, refused: {} })
  expect((await client.receiver.open()).baseUrl).toBe(opened.baseUrl)
  await client.receiver.test({ publicUrl: opened.baseUrl })
  const elsewhere = await withSandbox({})
  expect(await client.receiver.test({ publicUrl: elsewhere.baseUrl }).catch(parseBridgeError)).toMatchObject({
    code: 'RECEIVER_UNAVAILABLE',
  })
})

it("shows an appeal's request as it is: a read without a body or a key", async () => {
  onlyInLongForm()
  const { bridge, client } = await open()
  const sandbox = await withSandbox({})
  const path = writeText('appeal_id\nappeal-1\n""\n')
  const operation = { kind: 'appeal-status' } as const
  const { runId } = await client.runs.start({
    request: await createRequest(bridge.services, path, sandbox.baseUrl, { operation }),
  })
  await client.runs.awaitReady({ runId })
  const review = await client.review.readRequest({ runId, row: 1 })
  expect(review).toMatchObject({ method: 'GET', body: null, unsentBecause: null })
  expect(review.url).toBe(`${sandbox.baseUrl}/api/v1/appeals/status/appeal-1`)
  expect(review.headers.map(([name]) => name)).toEqual(['accept'])
  expect(await client.runs.readAccess({ runId })).toMatchObject({ needsKey: false, canChangeKey: false })
})
