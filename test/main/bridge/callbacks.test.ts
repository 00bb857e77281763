import { expect, it } from 'vitest'
import { toCallbackPath } from '../../../src/main/engine/receiver/addresses.ts'
import { readReceiverSettings } from '../../../src/main/engine/receiver/receiver-settings.ts'
import { DEFAULT_SANDBOX_KEY } from '../../../src/main/sandbox/sandbox-options.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followReceiver } from '../../../src/shared/bridge/follow.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

async function open() {
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  const { workspace } = services.engine
  const { secret } = readReceiverSettings(workspace)
  /** Posts to the address of a run's item, as the service does. */
  const post = async (runToken: string, item: number, body: string) => {
    const baseUrl = (await client.receiver.status())?.baseUrl ?? ''
    const url = `${baseUrl}${toCallbackPath(secret, { runToken, item })}`
    return (await fetch(url, { method: 'POST', body })).status
  }
  return { services, client, post }
}

/** Starts an async run against a sandbox that calls back or never does. */
async function startAsync(
  { services, client }: Awaited<ReturnType<typeof open>>,
  callbacks: string,
  files: [string, ...string[]] = [writeRows(3)],
) {
  const sandbox = await withSandbox({ callbacks })
  const operation = { kind: 'task', mode: 'async' } as const
  const { sourceId } = await services.sources.unite(files)
  const request = await createRequest(services, files[0], sandbox.baseUrl, {
    operation,
    source: { sourceId },
    callback: { timeoutMs: 3_600_000 },
  })
  const { runId } = await client.runs.start({ request, apiKey: DEFAULT_SANDBOX_KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  return runId
}

it('shows an empty inbox, and follows the receiver from closed to listening', async () => {
  onlyInLongForm()
  const { client } = await open()
  expect(await client.receiver.overview()).toEqual({
    baseUrl: null,
    received: 0,
    refused: {},
    lastRefused: {},
    probes: 0,
    counts: {
      received: 0,
      settled: 0,
      early: 0,
      late: 0,
      doubled: 0,
      differing: 0,
      other_post: 0,
      unreadable: 0,
    },
    awaiting: [],
    newest: [],
  })
  const states: (string | null)[] = []
  for await (const state of followReceiver(client)) {
    states.push(state?.baseUrl ?? null)
    if (state !== null) break
    await client.receiver.open()
  }
  const { baseUrl } = await client.receiver.overview()
  expect(states).toEqual([null, baseUrl])
})

it('says how long a test callback took, and by which status the address answered', async () => {
  const { client } = await open()
  const { baseUrl } = await client.receiver.open()
  const { status, answeredMs, arrivedMs } = await client.receiver.test({ publicUrl: baseUrl })
  expect(status).toBe(200)
  expect(answeredMs).toBeGreaterThan(0)
  expect(arrivedMs).toBeGreaterThanOrEqual(answeredMs)
  expect((await client.receiver.overview()).newest).toEqual([])
})

it('lists callbacks with their effect: settled, doubled, differing, unreadable, or matching nothing', async () => {
  const opened = await open()
  const { services, client, post } = opened
  const runId = await startAsync(opened, '')
  await services.engine.runs.heldRun(runId)?.ended
  const [first] = (await client.receiver.overview()).newest
  const { text } = (await client.receiver.readBody({ id: first?.id ?? 0 })) ?? { text: '' }
  expect(JSON.parse(text)).toMatchObject({ task_id: expect.any(String) })
  expect(await post(runId, first?.record ?? 0, text)).toBe(200)
  expect(await post(runId, first?.record ?? 0, '{"task_id": "another"}')).toBe(200)
  expect(await post(runId, 2, '{"hello": "there"}')).toBe(200)
  expect(await post('a-run-that-is-gone', 1, '{}')).toBe(200)
  const { baseUrl } = await client.receiver.open()
  expect((await fetch(`${baseUrl}/callback/x/1/forged`, { method: 'POST', body: '{}' })).status).toBe(404)

  const overview = await client.receiver.overview()
  expect(overview).toMatchObject({
    received: 7,
    counts: { received: 6, settled: 3, doubled: 1, differing: 1, unreadable: 1 },
    awaiting: [],
  })
  expect((await client.receiver.status())?.refused).toEqual({ forged: 1 })
  const run = { runId, name: 'posts.csv' }
  expect(overview.newest.map(({ effect, run: of, row, record }) => ({ effect, of, row, record }))).toEqual([
    { effect: 'unmatched', of: null, row: null, record: 1 },
    { effect: 'unreadable', of: run, row: 3, record: 2 },
    { effect: 'differing', of: run, row: first?.row, record: first?.record },
    { effect: 'doubled', of: run, row: first?.row, record: first?.record },
    ...overview.newest.slice(4).map(({ row, record }) => ({ effect: 'settled', of: run, row, record })),
  ])
  expect(overview.newest).toHaveLength(7)
  expect(await client.receiver.readBody({ id: 999 })).toBeNull()
})

it('says which runs wait for callbacks, for how many rows and until when', async () => {
  onlyInLongForm()
  const opened = await open()
  const { services, client } = opened
  const runId = await startAsync(opened, 'drop=100%')
  const readAwaiting = async () => (await client.receiver.overview()).awaiting
  await expect.poll(async () => (await readAwaiting())[0]?.rows).toBe(3)
  const [awaiting] = await readAwaiting()
  expect(awaiting).toMatchObject({ runId, name: 'posts.csv' })
  const leftMs = (awaiting?.firstOverdueAtMs ?? 0) - Date.now()
  expect(leftMs).toBeGreaterThan(3_000_000)
  expect(leftMs).toBeLessThanOrEqual(3_600_000)
  expect(awaiting?.lastOverdueAtMs).toBeGreaterThanOrEqual(awaiting?.firstOverdueAtMs ?? 0)
  services.engine.runs.heldRun(runId)?.stop()
  await services.engine.runs.heldRun(runId)?.ended
  expect((await readAwaiting()).map(({ rows }) => rows)).toEqual([3])
})

it('leaves a note at the row whose callback was refused for its size', async () => {
  onlyInLongForm()
  const opened = await open()
  const { services, client, post } = opened
  const runId = await startAsync(opened, 'drop=100%')
  await expect.poll(async () => (await client.receiver.overview()).awaiting[0]?.rows).toBe(3)
  expect(await post(runId, 2, 'x'.repeat(6_000_000))).toBe(413)
  services.engine.runs.heldRun(runId)?.stop()
  await services.engine.runs.heldRun(runId)?.ended
  const { newest, awaiting } = await client.receiver.overview()
  expect(newest).toMatchObject([{ effect: 'unreadable', row: 3, record: 2 }])
  expect(awaiting.map(({ rows }) => rows)).toEqual([3])
  const detail = await client.results.row({ runId, row: 2 })
  expect(JSON.stringify(detail)).toContain('more than 5.2 MB, the limit of the receiver')
})

it('names the file of the row that a callback is for in a run of several files', async () => {
  onlyInLongForm()
  const opened = await open()
  // The first row of the second file has the id of the first.
  const runId = await startAsync(opened, '', [writeRows(1, 'a.csv'), writeRows(2, 'b.csv')])
  await opened.services.engine.runs.heldRun(runId)?.ended
  const { newest } = await opened.client.receiver.overview()
  expect(newest.map(({ row, file }) => `${row} of ${file}`).toSorted()).toEqual(['2 of a.csv', '3 of b.csv'])
})

it('keeps a public address, but not that of a production connection', async () => {
  const { client } = await open()
  const settings = {
    baseUrl: 'https://live.example.com',
    taskBaseUrl: null,
    timeoutMs: null,
    isProduction: true,
  }
  await client.connections.add({ name: 'live', settings, label: 'only' })
  await client.settings.change({ publicUrl: 'https://hooks.example.com' })
  const refused = await client.settings
    .change({ publicUrl: 'https://live.example.com' })
    .catch(parseBridgeError)
  expect(refused).toMatchObject({ code: 'BAD_USAGE' })
  expect((await client.settings.read()).settings.publicUrl).toBe('https://hooks.example.com')
})
