import { expect, it } from 'vitest'
import { describeProduction } from '../../../src/main/bridge/production-gate.ts'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { SandboxOptions } from '../../../src/main/sandbox/sandbox-options.ts'
import type { CapacityProgress } from '../../../src/shared/bridge/capacity.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followCapacity } from '../../../src/shared/bridge/follow.ts'
import type { RunRequestInput } from '../../../src/shared/bridge/runs.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows, writeText } from './plans.ts'

const KEY = 'a-key-that-must-stay-in-memory'

const PROBE = {
  pace: { kind: 'closed', concurrency: 1 },
  durationMs: 150,
  warmupMs: 0,
  thresholds: ['p(99)<20000'],
} satisfies RunRequestInput['load']

async function open(options: SandboxOptions = {}) {
  const sandbox = await withSandbox({ apiKeys: [KEY], latency: '5ms', ...options })
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const toRequest = (load: RunRequestInput['load']) =>
    createRequest(bridge.services, writeRows(3), sandbox.baseUrl, load === undefined ? {} : { load })
  return { sandbox, bridge, client, toRequest }
}

async function followToEnd(client: BridgeClient, searchId: string): Promise<CapacityProgress[]> {
  const seen: CapacityProgress[] = []
  for await (const progress of followCapacity(client, searchId)) seen.push(progress)
  return seen
}

const toError = (call: PromiseLike<unknown>) => call.then(() => null, parseBridgeError)

it('sends one load test after another until the bounds are reached, and reports the result', async () => {
  onlyInLongForm()
  const { client, toRequest } = await open()
  expect(await client.capacity.newest()).toBeNull()
  const { searchId } = await client.capacity.start({
    request: await toRequest(PROBE),
    bounds: { max: 4, maxProbes: 2, coolDownMs: 0 },
    apiKey: KEY,
  })
  const seen = await followToEnd(client, searchId)
  const last = seen.at(-1) ?? expect.fail('a search says how it stands')
  expect(last).toMatchObject({
    isOver: true,
    current: null,
    report: {
      name: 'posts.csv',
      unit: 'requests_in_flight',
      end: 'probe_limit',
      capacity: 2,
      interval: { low: 2, high: null },
      thresholds: ['p(99)<20000', 'http_req_failed:rate<0.01'],
      curve: [
        { level: 1, held: 1 },
        { level: 2, held: 1 },
      ],
    },
  })
  const { entries } = await client.runs.list()
  const runIds = entries.map(({ summary }) => summary.run_id).reverse()
  expect(await client.capacity.newest()).toEqual({ searchId, name: 'posts.csv', isOver: true, runIds })
  expect(entries.map(({ summary }) => summary.name)).toEqual([
    'posts.csv, probe 2 at 2 in flight',
    'posts.csv, probe 1 at 1 in flight',
  ])
  expect(last.report.probes.map(({ run_id }) => run_id)).toEqual(runIds)
  // Windows that ask later get the result too.
  expect((await followToEnd(client, searchId)).map(({ isOver }) => isOver)).toEqual([true])
})

it('ends with its current probe when stopped, and keeps what it found', async () => {
  const { client, bridge, toRequest } = await open()
  const { searchId } = await client.capacity.start({
    request: await toRequest({ ...PROBE, durationMs: 60_000 }),
    bounds: {},
    apiKey: KEY,
  })
  const running = followCapacity(client, searchId)
  let current: CapacityProgress['current'] = null
  while (current === null) current = (await running.next()).value?.current ?? null
  const other = client.capacity.start({ request: await toRequest(PROBE), bounds: {}, apiKey: KEY })
  expect((await toError(other))?.message).toContain('another capacity search is still going on')
  // Windows can follow the probe like any load test.
  expect(bridge.services.liveRuns.find(current.runId)).not.toBeNull()
  await client.capacity.stop({ searchId })
  expect((await followToEnd(client, searchId)).at(-1)).toMatchObject({
    isOver: true,
    report: { end: 'interrupted', probes: [], capacity: null },
  })
})

it.each([
  ['is no load test', undefined, /not a load test/],
  [
    'has stages',
    { pace: { kind: 'stages', of: 'rate', stages: [{ from: 1, to: 1, durationMs: 9 }] } },
    /stages/,
  ],
  [
    'ends after requests',
    { pace: PROBE.pace, requests: 5, thresholds: PROBE.thresholds },
    /number of requests/,
  ],
  ['has no threshold', { pace: PROBE.pace, durationMs: 100 }, /no threshold/],
] as [string, RunRequestInput['load'], RegExp][])(
  'searches with nothing that %s',
  async (_why, load, words) => {
    const { client, sandbox, toRequest } = await open()
    const start = client.capacity.start({ request: await toRequest(load), bounds: {}, apiKey: KEY })
    expect(await toError(start)).toMatchObject({ code: 'BAD_PLAN', message: expect.stringMatching(words) })
    expect((await sandbox.stats()).requests).toBe(0)
  },
)

it('says why it found nothing if no row can be sent', async () => {
  onlyInLongForm()
  const { client, bridge, sandbox } = await open()
  const rows = writeText('text_data,user_id\nhello,not_allowed\n')
  const request = await createRequest(bridge.services, rows, sandbox.baseUrl, { load: PROBE })
  const { searchId } = await client.capacity.start({ request, bounds: { maxProbes: 1 }, apiKey: KEY })
  const failed = await toError(followToEnd(client, searchId))
  expect(failed?.message).toContain('the first probe could not send anything')
  expect(await toError(client.capacity.stop({ searchId: 'unknown' }))).toMatchObject({ code: 'BAD_USAGE' })
})

it('overloads no production connection unless a person confirms it outside the page', async () => {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: sandbox.baseUrl,
    isProduction: true,
    keys: [{ label: 'default', env: 'NOWHERE' }],
    activeKey: 'default',
  })
  changeConnections(workspace, (known) => addConnection(known, live))
  const bridge = withBridge(workspace)
  const { client } = await connectWindow('message port', bridge.services)
  const request = await createRequest(bridge.services, writeRows(3), '', {
    destination: { kind: 'stored', name: 'live' },
    load: PROBE,
  })
  const start = client.capacity.start({ request, bounds: { max: 8 }, apiKey: KEY })
  expect(await toError(start)).toMatchObject({ code: 'NOT_CONFIRMED' })
  expect((await sandbox.stats()).requests).toBe(0)
  const [question] = bridge.questions
  const words = describeProduction(question ?? expect.fail('a person was asked'))
  expect(words.title).toBe('Overload production connection live?')
  expect(words.lines.join('\n')).toContain('Everyone who uses this deployment may get slow answers')
  expect(words.lines.join('\n')).toContain('From 1 request in flight to at most 8 requests in flight.')
})
