import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'key-of-the-window'

const TEXTS = ['win a free prize now', 'claim your cash prize now', 'see you at lunch', 'good morning']

/** A window, and a function that sends the same source again. */
async function open() {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const { services, host } = withBridge()
  const { client } = await connectWindow('message port', services)
  const rows = TEXTS.map((text, index) => `u${index},${text},p${index},${index < 2 ? 'spam' : 'ham'}`)
  const source = writeText(`user_id,text_data,post_id,truth\n${rows.join('\n')}\n`)
  const { sourceId } = await services.sources.add(source)
  const send = async () => {
    await sandbox.admin('DELETE', '/tasks')
    const request = await createRequest(services, source, sandbox.baseUrl, {
      source: { sourceId },
      operation: { kind: 'task', legacy: true },
    })
    const { runId } = await client.runs.start({ request, apiKey: KEY })
    await client.runs.awaitReady({ runId })
    await client.runs.begin({ runId })
    await services.engine.runs.heldRun(runId)?.ended
    return runId
  }
  return { sandbox, services, host, client, send, source }
}

const toCode = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.code ?? String(error),
  )

it('compares two runs, lists their changes page by page, and writes them to a file', async () => {
  const { sandbox, services, client, host, send } = await open()
  const a = await send()
  await sandbox.admin('DELETE', '/rules/rule-spam')
  const b = await send()
  const pair = { a, b }
  const prepared: string[] = []
  services.engine.results.storeFindings = async (runId) => void prepared.push(runId)
  const decisions = await client.compare.decisions(pair)
  expect(prepared).toEqual([a, b])
  expect(decisions).toMatchObject({
    joined_by: 'post_id',
    joined: { rows: 4, changed: 2 },
    unfinished: 0,
    a: { run_id: a, state: 'completed' },
    b: { run_id: b },
  })
  expect(decisions.joined.rules[0]).toMatchObject({ rule: 'Likely spam', newly: 0, no_longer: 2, both: 0 })
  expect(decisions).not.toHaveProperty('listed')

  const list = { kind: 'no-longer', rule: 'Likely spam' } as const
  const first = await client.compare.changes({ ...pair, list, offset: 0, limit: 1 })
  expect(first).toMatchObject({
    total: 2,
    rows: [
      {
        key: 'p0',
        keyLength: 2,
        no_longer: ['Likely spam'],
        cells: ['u0', 'win a free prize now', 'p0', 'spam'],
        cellLengths: [2, 20, 2, 4],
      },
    ],
  })
  expect((await client.compare.changes({ ...pair, list, offset: 1, limit: 1 })).rows).toMatchObject([
    { key: 'p1' },
  ])
  expect(
    await toCode(
      client.compare.changes({ ...pair, list: { kind: 'newly', rule: 'none' }, offset: 0, limit: 1 }),
    ),
  ).toBe('BAD_USAGE')
  expect(await toCode(client.compare.decisions({ a, b: 'nowhere' }))).toBe('RUN_NOT_FOUND')

  const file = join(createTemporaryFolder(), 'changes.csv')
  const { targetId } = host.addExportFile(file)
  expect(
    await client.compare.exportChanges({ ...pair, list: { kind: 'changed' }, format: 'csv', targetId }),
  ).toMatchObject({ kind: 'file', file, rows: 2 })
  expect(readFileSync(file, 'utf8')).toContain('sluice_no_longer_triggered')
})

it('compares two runs by the labels of a column', async () => {
  onlyInLongForm()
  const { sandbox, client, send } = await open()
  const a = await send()
  await sandbox.admin('DELETE', '/rules/rule-spam')
  const b = await send()
  const labels = {
    column: 'truth',
    useVerdicts: false,
    positives: [{ value: 'spam', rule: 'Likely spam' }],
    separator: null,
  }
  const judged = await client.compare.byLabels({ a, b, labels })
  expect(judged).toMatchObject({
    rows: 4,
    rules: [{ rule: 'Likely spam', change: { recall: { value: -1 } } }],
  })
  const positives = [{ value: 'spma', rule: 'Likely spam' }, ...labels.positives]
  const { warnings } = await client.compare.byLabels({ a, b, labels: { ...labels, positives } })
  expect(warnings).toContain('No row has the label `spma`.')
  expect(await toCode(client.compare.byLabels({ a, b, labels: { ...labels, column: 'turth' } }))).toBe(
    'BAD_USAGE',
  )
  const trend = await client.compare.trend({ runId: b, labels })
  expect(trend.runs).toMatchObject([
    { run_id: a, rules: [{ rule: 'Likely spam', share: 0.5 }], metrics: { rows: 4 } },
    { run_id: b, rules: [], metrics: { rows: 4 } },
  ])
  expect((await client.compare.trend({ runId: a })).runs).toMatchObject([
    { metrics: null },
    { metrics: null },
  ])
})

it('overlays the latencies of several runs, each compared with the first', async () => {
  onlyInLongForm()
  const { client, send } = await open()
  const runIds = [await send(), await send(), await send()]
  const overlay = await client.compare.latency({ runIds })
  expect(overlay.runs.map(({ runId, letter }) => [runId, letter])).toEqual(
    runIds.map((runId, index) => [runId, 'ABC'[index]]),
  )
  const duration = overlay.series.find(({ metric }) => metric === 'http_req_duration')
  expect(duration?.latencies.map((latency) => latency?.percentiles.count)).toEqual([4, 4, 4])
  const edges = duration?.latencies.map((latency) => latency?.bars.map(({ fromMs }) => fromMs))
  expect(edges?.[1]).toEqual(edges?.[0])
  expect(overlay.comparisons).toHaveLength(2)
  expect(overlay.comparisons[1]?.sentence).toMatch(/\bC\b/)
  expect(overlay.comparisons[1]?.sentence).not.toMatch(/\bB\b/)
  expect(await toCode(client.compare.latency({ runIds: [] }))).toBe('BAD_USAGE')
})

it('sets, lists and removes the baselines of the connection and source of a run', async () => {
  onlyInLongForm()
  const { client, send, services } = await open()
  const [first, second] = [await send(), await send()]
  expect(await client.baselines.list({ runId: second })).toEqual([])
  const set = await client.baselines.set({ runId: first, name: 'default' })
  expect(set).toMatchObject([{ name: 'default', runId: first, runName: 'posts.csv' }])
  await client.baselines.set({ runId: second, name: 'release-4' })
  expect(await client.baselines.list({ runId: second })).toMatchObject([
    { name: 'default', runId: first },
    { name: 'release-4', runId: second },
  ])
  await services.engine.runs.deleteRun(first)
  expect(await client.baselines.list({ runId: second })).toMatchObject([
    { name: 'default', runName: null },
    { name: 'release-4' },
  ])
  expect(await client.baselines.remove({ runId: second, name: 'default' })).toMatchObject([
    { name: 'release-4' },
  ])
  expect(await toCode(client.baselines.set({ runId: second, name: ' ' }))).toBe('BAD_USAGE')
})
