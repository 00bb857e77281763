import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ListQuery } from '../../../src/shared/bridge/lists.ts'
import { LEDGER_STATES } from '../../../src/shared/lookback/ledger.ts'
import type { PlanInput } from '../../../src/shared/plan/plan.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'a-key-of-the-service'
const INDEX = 'sandbox-index'

async function openWindow() {
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  /** Sends a source to its end. */
  const send = async (
    operation: PlanInput['operation'],
    source: string | { sourceId: string },
    destination: 'typed' | 'stored' = 'typed',
  ) => {
    const request = await createRequest(
      bridge.services,
      typeof source === 'string' ? writeText(source) : '/nowhere',
      sandbox.baseUrl,
      {
        operation,
        ...(typeof source !== 'string' && { source }),
        ...(destination === 'stored' && { destination: { kind: 'stored', name: 'staging' } }),
      },
    )
    const { runId } = await client.runs.start({ request, ...(destination === 'typed' && { apiKey: KEY }) })
    await client.runs.awaitReady({ runId })
    await client.runs.begin({ runId })
    await bridge.services.engine.runs.heldRun(runId)?.ended
    return client.runs.summarize({ runId })
  }
  const read = async (query: Partial<Parameters<typeof client.lists.read>[0]> & Pick<ListQuery, 'of'>) => {
    const states = [...LEDGER_STATES[query.of]]
    const all = { service: null, list: null, states, search: null, offset: 0, limit: 100 }
    return client.lists.read({ ...all, ...query })
  }
  return { bridge, client, sandbox, send, read }
}

const toImages = (names: readonly string[]) =>
  `url\n${names.map((name) => `https://media.example.com/${name}.png`).join('\n')}\n`

it('lists the items that runs put into an index, by state and search, and removes some of them', async () => {
  const { client, send, read, sandbox } = await openWindow()
  expect(await read({ of: 'index' })).toBeNull()
  await send({ kind: 'index-add', indexId: INDEX }, toImages(['cat', 'dog', 'cow']))
  const ledger = await read({ of: 'index', search: '/C', states: ['known'] })
  expect(ledger).toMatchObject({ list: INDEX, counts: { known: 3 }, total: 2, runs: 1 })
  if (ledger === null) throw new Error('there is no ledger')
  const query: ListQuery = {
    of: 'index',
    service: ledger.service,
    list: ledger.list,
    states: ['known'],
    search: '/C',
  }
  const { isSandbox, name, sourceId } = await client.lists.toSource(query)
  expect({ isSandbox, name }).toEqual({ isSandbox: false, name: `${INDEX}-index.csv` })
  // A second draft leaves the source of the first unchanged.
  await client.lists.toSource({ ...query, search: '/dog' })
  const removal = await send({ kind: 'index-remove', indexId: INDEX }, { sourceId })
  expect(removal).toMatchObject({ rows: { read: 2, succeeded: 2 } })
  expect((await sandbox.indexItems(INDEX)).map(({ url }) => url)).toEqual([
    'https://media.example.com/dog.png',
  ])
  expect(await read({ of: 'index' })).toMatchObject({ counts: { known: 1, removed: 2 } })
})

it('writes the filtered items to a file that the person chose', async () => {
  onlyInLongForm()
  const { bridge, client, send, read } = await openWindow()
  await send({ kind: 'watchlist-add', watchlist: 'sandbox_terms' }, 'term,notes\nFree Coins,spam\nhello,\n')
  const ledger = await read({ of: 'watchlist', states: ['known'] })
  if (ledger === null) throw new Error('there is no ledger')
  const file = join(createTemporaryFolder(), 'terms.csv')
  const written = await client.lists.export({
    of: 'watchlist',
    service: ledger.service,
    list: ledger.list,
    states: ['known'],
    search: 'coins',
    format: 'csv',
    ...bridge.host.addExportFile(file),
  })
  expect(written).toMatchObject({ kind: 'file', file, rows: 1 })
  expect(readFileSync(file, 'utf8')).toContain('free coins,spam')
})

it('checks appeals again that are still in review', async () => {
  onlyInLongForm()
  const { client, send, read, sandbox } = await openWindow()
  const toAppeal = (id: string, more: object = {}) => ({
    appeal_id: id,
    original_decision: { action_id: 'remove', display_name: 'Remove post' },
    ...more,
  })
  await sandbox.admin('POST', '/appeals', { appeals: [toAppeal('first'), toAppeal('second')] })
  await send({ kind: 'appeal-status' }, 'appeal_id\nfirst\nsecond\n')
  const decided = { status: 'Reviewed', judgment: { action_name: 'Restore post', overturned: true } }
  await sandbox.admin('POST', '/appeals', { appeals: [toAppeal('first', decided)] })
  const ledger = await read({ of: 'appeals' })
  if (ledger === null) throw new Error('there is no ledger')
  expect(ledger.counts).toEqual({ in_review: 2 })
  const { sourceId } = await client.lists.toSource({
    of: 'appeals',
    service: ledger.service,
    list: null,
    states: ['in_review'],
    search: null,
  })
  await send({ kind: 'appeal-status' }, { sourceId })
  expect(await read({ of: 'appeals' })).toMatchObject({ counts: { in_review: 1, overturned: 1 } })
})

it('separates services by their keys, shows the connection in use first, and any other when chosen', async () => {
  onlyInLongForm()
  const { client, send, read, sandbox } = await openWindow()
  const { baseUrl } = sandbox
  const settings = { baseUrl, taskBaseUrl: null, timeoutMs: null, isProduction: false }
  await client.connections.add({ name: 'staging', settings, label: 'default', apiKey: KEY })
  const add = { kind: 'index-add', indexId: INDEX } as const
  await send(add, toImages(['a']), 'stored')
  await send(add, toImages(['b', 'c']), 'typed')
  const staging = { base_url: baseUrl, connections: ['staging'], api_key_env: null }
  const typed = { base_url: baseUrl, connections: [], api_key_env: null }
  expect(await read({ of: 'index' })).toMatchObject({
    service: staging,
    services: [staging, typed],
    counts: { known: 1 },
  })
  expect(await read({ of: 'index', service: typed })).toMatchObject({
    service: typed,
    counts: { known: 2 },
    warnings: ['1 other run to this address used the key of connection staging; it is not included.'],
  })
})
