import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import { expect, inject, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import type { KeyPlace } from '../../../src/shared/plan/stored-connection.ts'
import { BUNDLED_CLI } from '../../helpers/build/bundles.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { findFilesWith, findProcessesWith, holdsSecret } from '../../helpers/find-secret.ts'
import { createMemoryKeyring } from '../../helpers/memory-keyring.ts'
import { findWhyNoSecretService, startSecretService } from '../../helpers/secret-service.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { withShell } from './with-shell.ts'

const ROWS = 'text_data,user_id,post_id\nhello,u1,p1\nbye,u2,p2\nagain,u3,p3\n'

/** A browser that was let in: its calls and everything it received. */
async function enter(entryUrl: string) {
  const { origin, host, port, hash } = new URL(entryUrl)
  const received: string[] = []
  const ask = async (method: string, path: string, body: string, headers: Record<string, string> = {}) => {
    const call = send({ host: '127.0.0.1', port, method, path, headers: { host, origin, ...headers } }).end(
      body,
    )
    const [response] = await once(call, 'response')
    const answer = await text(response)
    received.push(JSON.stringify(response.headers), answer)
    return { answer, cookie: String(response.headers['set-cookie']).replace(/;.*/, '') }
  }
  const { cookie } = await ask('POST', '/session', hash.slice(1), { 'content-type': 'text/plain' })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/bridge`, { headers: { host, origin, cookie } })
  onTestFinished(() => socket.terminate())
  socket.on('message', (data) => received.push(data.toString()))
  await once(socket, 'open')
  const websocket = socket as unknown as globalThis.WebSocket
  const client: BridgeClient = createORPCClient(new RPCLink({ websocket }))
  return { client, received, get: (path: string) => ask('GET', path, '', { cookie }), put: ask, cookie }
}

type Browser = Awaited<ReturnType<typeof enter>>

/** A service that repeats the key in its refusals and records the keys it got. */
async function startEcho() {
  const keys = new Set<string>()
  const service = await startFaultServer({
    onRequest(request, wire) {
      const { authorization = '' } = request.headers
      if (authorization !== '') keys.add(authorization)
      if (!request.path.includes('/task'))
        return wire.send(400, toErrorAnswer(400, 'PARAM_REQUIRED', authorization))
      const { post_id: postId } = JSON.parse(request.body)
      if (postId === 'p2') wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', `not with ${authorization}`))
      else wire.send(200, toTaskAnswer(request), { 'x-seen': authorization })
    },
  })
  return { baseUrl: service.baseUrl, keys }
}

/** Types a key, tests it, sends rows with it, views them and exports them. */
async function typeAndSend(browser: Browser, baseUrl: string, key: string, place: KeyPlace): Promise<string> {
  const { client, get, put, cookie } = browser
  expect(await client.connections.readStorage()).toMatchObject({ place })
  const settings = { baseUrl, taskBaseUrl: null, timeoutMs: null, isProduction: false }
  const [added] = await client.connections.add({ name: 'staging', settings, label: 'first', apiKey: key })
  expect(added?.keys).toEqual([{ label: 'first', place, state: 'ready' }])
  await client.connections.test({ name: 'staging' })
  const uploaded = await put('PUT', '/files/uploads?name=posts.csv', ROWS, { cookie })
  const { sourceId } = chosenSourceSchema.parse(JSON.parse(uploaded.answer))
  const destination = { kind: 'stored', name: 'staging' } as const
  const request = { destination, source: { sourceId }, operation: { kind: 'task' } } as const
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  for await (const _snapshot of followRun(client, runId));
  expect((await client.runs.summarize({ runId })).rows).toMatchObject({ succeeded: 2, rejected: 1 })
  await client.results.row({ runId, row: 2 })
  for (const format of ['csv', 'jsonl', 'xlsx'] as const) {
    const exported = await client.exports.create({ runId, format })
    if (exported.kind !== 'download') throw new Error('a browser downloads')
    await get(exported.url)
  }
  return runId
}

/** Sends the refused rows again after a restart, without typing anything. */
async function sendAgain({ client }: Browser, runId: string): Promise<void> {
  expect(await client.runs.readAccess({ runId })).toMatchObject({ needsKey: false })
  const again = await client.runs.retryRun({ runId, onUnknown: 'skip' })
  for await (const _snapshot of followRun(client, again.runId));
  expect((await client.runs.summarize({ runId: again.runId })).rows).toMatchObject({ rejected: 1 })
}

function expectNowhere(
  key: string,
  places: { folders: string[]; received: string[]; printed: string[] },
): void {
  for (const folder of places.folders) expect(findFilesWith(folder, key)).toEqual([])
  expect(places.received.filter((message) => holdsSecret(message, key))).toEqual([])
  expect(places.printed.filter((message) => holdsSecret(message, key))).toEqual([])
  expect(findProcessesWith(key)).toEqual([])
}

it('is used after a restart, and is in no file, page, message or process list', async () => {
  const service = await startEcho()
  const key = `typed-${randomUUID()}`
  const keyring = createMemoryKeyring()
  const workspace = createTemporaryFolder()
  const first = await withShell({ workspace, lastingKeys: keyring })
  const browser = await enter(first.createEntryUrl())
  const runId = await typeAndSend(browser, service.baseUrl, key, 'keyring')
  expectNowhere(key, { folders: [workspace], received: browser.received, printed: [] })
  await first.close()
  const second = await withShell({ workspace, lastingKeys: keyring })
  const later = await enter(second.createEntryUrl())
  await sendAgain(later, runId)
  expect([...service.keys]).toEqual([`token ${key}`])
  expect([...keyring.entries.values()].filter((entry) => holdsSecret(entry, key))).toHaveLength(1)
  await later.client.connections.remove({ name: 'staging' })
  expect(keyring.entries.size).toBe(0)
  expectNowhere(key, {
    folders: [workspace],
    received: [...browser.received, ...later.received],
    printed: [],
  })
})

const obstacle = inject('isLong') ? findWhyNoSecretService() : 'only in the long form'

it.skipIf(obstacle !== null)(
  `is kept by the real keyring and is in no file, log, page, message or process list${obstacle === null ? '' : ` (skipped: ${obstacle})`}`,
  async () => {
    const service = await startEcho()
    const keyring = await startSecretService()
    const key = `typed-${randomUUID()}`
    const home = createTemporaryFolder()
    const workspace = join(home, 'workspace')
    const printed: string[] = []
    const env = { ...keyring.env, HOME: home, SLUICE_WORKSPACE: workspace }
    const first = await openSluice(env, printed)
    const browser = await enter(first.entryUrl)
    const runId = await typeAndSend(browser, service.baseUrl, key, 'keyring')
    const folders = [home, keyring.home]
    expectNowhere(key, { folders, received: browser.received, printed })
    await stop(first.child)

    const second = await openSluice(env, printed)
    const later = await enter(second.entryUrl)
    await sendAgain(later, runId)
    expect([...service.keys]).toEqual([`token ${key}`])
    expectNowhere(key, { folders, received: later.received, printed })
    await keyring.lock()
    await stop(second.child)

    const third = await openSluice(env, printed)
    const { client, received } = await enter(third.entryUrl)
    const locked = client.runs.retryRun({ runId, onUnknown: 'skip' })
    await expect(locked).rejects.toThrow(/cannot be read from where it is kept: .*unlock/)
    const kept = client.connections.remove({ name: 'staging' })
    await expect(kept).rejects.toThrow(/could not be removed from the keyring: .*unlock/)
    expect(await client.connections.list()).toMatchObject([{ keys: [{ state: 'locked' }] }])
    expectNowhere(key, { folders, received, printed })
    await stop(third.child)
  },
)

/** `sluice open` in a process of its own; its output is added to `printed`. */
async function openSluice(
  env: Record<string, string>,
  printed: string[],
): Promise<{ child: ChildProcess; entryUrl: string }> {
  const child = spawn(process.execPath, [BUNDLED_CLI, 'open', '--no-browser'], {
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => stop(child))
  child.stderr.setEncoding('utf8').on('data', (line: string) => printed.push(line))
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => printed.push(line))
  const [entryUrl] = await once(lines, 'line')
  return { child, entryUrl: String(entryUrl) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  await ended
}
