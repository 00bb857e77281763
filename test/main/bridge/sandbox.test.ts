import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { sandboxContents } from '../../../src/shared/bridge/sandbox.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import type { Rule } from '../../../src/shared/sandbox/content.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const ALL = { endpoint: null, outcome: null, offset: 0, limit: 50 }

async function openWindow(workspace = createTemporaryFolder()) {
  const bridge = withBridge(workspace)
  const { client, received } = await connectWindow('message port', bridge.services)
  /** Sends one text to the sandbox and returns the names of the triggered rules. */
  const send = async (text: string, postId: string) => {
    const path = writeText(`text_data,user_id,post_id\n${text},u1,${postId}\n`)
    const request = await createRequest(bridge.services, path, '', { destination: { kind: 'sandbox' } })
    const { runId } = await client.runs.start({ request: { ...request, retry: { limit: 0 } } })
    await client.runs.awaitReady({ runId })
    await client.runs.begin({ runId })
    await bridge.services.engine.runs.heldRun(runId)?.ended
    const { rows, triggered_rules: rules } = await client.runs.summarize({ runId })
    return { rows, rules: rules.map(({ rule_name: name }) => name) }
  }
  return { bridge, client, received, workspace, send }
}

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.message ?? String(error),
  )

const GREETING: Rule = {
  rule_id: 'greeting',
  rule_name: 'Greeting',
  conditions: [{ subject: 'watchlist', watchlist: 'greetings' }],
  action_id: 'flag-for-review',
  active: true,
}

it('changes rules and lists for later runs, and shows the received requests', async () => {
  const { client, send } = await openWindow()
  await client.sandbox.start()
  expect((await send('good morning', 'p1')).rules).toEqual([])
  const rules = await client.sandbox.putRule({ rule: GREETING, shown: null })
  expect(rules.map(({ rule_id: id }) => id)).toContain('greeting')
  const lists = await client.sandbox.putWatchlist({
    name: 'greetings',
    terms: [{ term: 'Good Morning', notes: null }],
    shown: null,
  })
  expect(lists.watchlists.find(({ name }) => name === 'greetings')?.terms).toEqual([
    { term: 'good morning', notes: null },
  ])
  expect((await send('good morning', 'p2')).rules).toEqual(['Greeting'])
  await client.sandbox.putRule({ rule: { ...GREETING, active: false }, shown: GREETING })
  expect((await send('good morning', 'p3')).rules).toEqual([])
  expect(
    (await client.sandbox.removeRule({ ruleId: 'greeting' })).map(({ rule_id: id }) => id),
  ).not.toContain('greeting')
  await client.sandbox.removeWatchlist({ name: 'greetings' })
  const arrived = await client.sandbox.arrived(ALL)
  expect(arrived.arrivals.map(({ subject, outcome }) => [subject, outcome])).toEqual([
    ['p3', 'accepted'],
    ['p2', 'accepted'],
    ['p1', 'accepted'],
  ])
  expect(arrived.counts).toEqual([{ endpoint: 'task/v1/sync', outcome: 'accepted', requests: 3 }])
  await client.sandbox.forgetArrived()
  expect(await client.sandbox.arrived(ALL)).toMatchObject({ total: 0, counts: [] })
  // The post_ids can be sent again.
  expect((await send('good morning', 'p1')).rows.succeeded).toBe(1)
})

it('changes only the terms that a person changed, since a run may add others meanwhile', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  type Terms = { term: string; notes: string | null }[]
  const put = async (terms: Terms, shown: Terms | null) => {
    const { watchlists } = await client.sandbox.putWatchlist({ name: 'mine', terms, shown })
    return watchlists.find(({ name }) => name === 'mine')?.terms
  }
  const one = { term: 'one', notes: null }
  const two = { term: 'two', notes: null }
  const three = { term: 'three', notes: null }
  const four = { term: 'four', notes: null }
  expect(await put([one, two], null)).toEqual([one, two])
  // Another window saves what the first one does not show.
  const noted = { term: 'one', notes: 'noted elsewhere' }
  expect(await put([noted, two, three], [one, two])).toEqual([noted, three, two])
  expect(await put([one, four], [one, two])).toEqual([four, noted, three])
  expect(await toMessage(put([one], null))).toContain('the watchlist mine was changed meanwhile')
  await client.sandbox.removeWatchlist({ name: 'mine' })
  expect(await toMessage(put([one, two], [one]))).toContain('the watchlist mine was changed meanwhile')
})

it('refuses to replace a rule that another window changed', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  const edited = { ...GREETING, rule_name: 'Salutation' }
  const put = (rule: Rule, shown: Rule | null) => toMessage(client.sandbox.putRule({ rule, shown }))
  expect(await put(GREETING, null)).toBe('done')
  expect(await put(GREETING, null)).toBe('done')
  expect(await put(edited, GREETING)).toBe('done')
  const refused = 'the rule greeting was changed meanwhile; nothing was saved'
  expect(await put({ ...GREETING, active: false }, GREETING)).toBe(refused)
  expect(await put(GREETING, null)).toBe(refused)
  expect(await client.sandbox.rules()).toContainEqual(edited)
  await client.sandbox.removeRule({ ruleId: 'greeting' })
  expect(await put(edited, edited)).toBe(refused)
})

it('stores one of two changes made in the same moment', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  const { putIndex, putRule, putWatchlist } = client.sandbox
  const first = 'https://a.example/'
  await putRule({ rule: GREETING, shown: null })
  await putIndex({ indexId: 'mine', urls: [first], shown: null })
  const changes = [
    (name: string) => putRule({ rule: { ...GREETING, rule_name: name }, shown: GREETING }),
    (path: string) => putIndex({ indexId: 'mine', urls: [first + path], shown: [first] }),
    (path: string) => putIndex({ indexId: 'new', urls: [first + path], shown: null }),
    (term: string) => putWatchlist({ name: 'mine', terms: [{ term, notes: null }], shown: null }),
  ]
  for (const put of changes) {
    const said = await Promise.all(['one', 'two'].map((text) => toMessage(put(text))))
    expect(said.toSorted()).toEqual(['done', expect.stringContaining('changed meanwhile; nothing was saved')])
  }
})

it('stores a new list again if the first answer was lost', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  const list = { name: 'mine', terms: [{ term: 'Hello', notes: 'polite' }], shown: null }
  const { watchlists } = await client.sandbox.putWatchlist(list)
  expect((await client.sandbox.putWatchlist(list)).watchlists).toEqual(watchlists)
})

it('stores indexes and appeals that a person creates', async () => {
  const { client } = await openWindow()
  await client.sandbox.start()
  const urls = ['https://media.example.com/a.png', 'https://media.example.com/b.png']
  const made = await client.sandbox.putIndex({ indexId: 'mine', urls, shown: null })
  expect(made.indexes).toContainEqual({ custom_index_id: 'mine', items: 2 })
  const page = await client.sandbox.indexItems({ indexId: 'mine', offset: 1, limit: 1 })
  expect(page).toMatchObject({ total: 2, items: [{ url: urls[1] }] })
  const [first = '', second = ''] = urls
  const listItems = async () =>
    (await client.sandbox.indexItems({ indexId: 'mine', offset: 0, limit: 10 })).items
  const [, stays] = await listItems()
  const turned = ['https://media.example.com/c.png', second, first]
  await client.sandbox.putIndex({ indexId: 'mine', urls: turned, shown: urls })
  expect(await toMessage(client.sandbox.putIndex({ indexId: 'mine', urls: [], shown: urls }))).toContain(
    'the index mine was changed meanwhile',
  )
  const items = await listItems()
  expect(items[1]).toEqual(stays)
  expect(new Set(items.map(({ custom_index_item_id: id }) => id)).size).toBe(3)
  const before = (await client.sandbox.lists()).appeals
  expect((await client.sandbox.addSampleAppeals({ samples: before + 2 })).appeals).toBe(before + 2)
  await client.sandbox.putAppeal({
    appealId: 'my appeal',
    status: 'Reviewed',
    reviewedAfterReads: null,
    isOverturned: true,
  })
  const { appeals } = await client.sandbox.appeals({ offset: before + 2, limit: 10 })
  expect(appeals).toMatchObject([{ appeal_id: 'my appeal', status: 'Reviewed', reads: 0 }])
  expect((await client.sandbox.removeAppeals({ appealId: 'my appeal' })).appeals).toBe(before + 2)
  expect((await client.sandbox.removeAppeals({ appealId: null })).appeals).toBe(0)
  expect((await client.sandbox.removeIndex({ indexId: 'mine' })).indexes).toHaveLength(1)
  const bad = client.sandbox.putIndex({ indexId: 'bad', urls: ['no address'], shown: null })
  expect(await toMessage(bad)).toContain('items.0.url: must be an http or https URL')
})

it('applies changed latency and faults at once, and says what a valid setting looks like', async () => {
  onlyInLongForm()
  const { client, send } = await openWindow()
  expect(await client.sandbox.read()).toMatchObject({
    running: null,
    setup: { seed: 'sluice', isKept: false },
  })
  expect(await toMessage(client.sandbox.behave({ latency: '1ms' }))).toBe('the sandbox is not running')
  await client.sandbox.start()
  const { running } = await client.sandbox.behave({
    latency: '0ms|2ms±1ms@25%',
    faults: ['429=100%,retry-after=2'],
  })
  expect(running?.behaviour).toMatchObject({
    modes: [
      { baseMs: 0, jitterMs: 0, share: 0.75 },
      { baseMs: 2, jitterMs: 1, share: 0.25 },
    ],
    readFaults: [{ kind: 'status', status: 429, share: 1, retryAfterS: 2 }],
  })
  expect((await send('hello', 'p1')).rows).toMatchObject({ rejected: 1 })
  expect(await toMessage(client.sandbox.behave({ latency: 'slow' }))).toContain(
    'latency "slow": expected durations such as 40ms or 1.5s. Write it like',
  )
  const reset = await client.sandbox.reset()
  expect(reset.running?.behaviour).toMatchObject({ latency: '110ms±70ms', faults: [] })
  expect(await client.sandbox.arrived(ALL)).toMatchObject({ total: 0 })
})

it('keeps rules, settings and received requests across restarts only if the person wants that', async () => {
  onlyInLongForm()
  const { client, workspace, send } = await openWindow()
  const setup = { port: 0, taskPort: 0, seed: 'mine', isKept: true }
  await client.sandbox.setUp(setup)
  await client.sandbox.start()
  await client.sandbox.putRule({ rule: GREETING, shown: null })
  await client.sandbox.behave({ latency: '3ms' })
  await send('hello', 'p1')
  await client.sandbox.stop()
  await expect(client.sandbox.rules()).rejects.toThrow('not running')
  expect(existsSync(join(workspace, 'sandbox.db'))).toBe(true)
  await client.sandbox.start()
  expect((await client.sandbox.rules()).map(({ rule_id: id }) => id)).toContain('greeting')
  expect(await client.sandbox.read()).toMatchObject({
    setup,
    running: { behaviour: { latency: '3ms' }, keys: [] },
  })
  await client.sandbox.setUp({ ...setup, isKept: false })
  expect((await client.sandbox.rules()).map(({ rule_id: id }) => id)).not.toContain('greeting')
  expect((await client.sandbox.read()).running?.behaviour.latency).toBe('110ms±70ms')
  expect(existsSync(join(workspace, 'sandbox.db'))).toBe(false)
})

it('keeps its own key from every page: none can take its name or remove it', async () => {
  const { bridge, client } = await openWindow()
  const { baseUrl } = await client.sandbox.start()
  const { keys } = await bridge.services.sandbox.admin(sandboxContents.keys, 'GET', '/keys')
  const taking = client.sandbox.addKey({ label: keys[0]?.label ?? '' })
  const removing = client.sandbox.removeKey({ keyId: keys[0]?.key_id ?? 0 })
  for (const call of [taking, removing]) {
    expect(await toMessage(call)).toBe('the key "key 1" is the one that Sluice sends')
  }
  expect(await bridge.services.sandbox.findKey(baseUrl)).not.toBeNull()
  expect((await bridge.services.sandbox.admin(sandboxContents.keys, 'GET', '/keys')).keys).toEqual(keys)
})

it('shows pages the keys that it made for other programs, once, and never the admin token or its own key', async () => {
  const { bridge, client, received, workspace } = await openWindow()
  const { baseUrl, sample } = await client.sandbox.start()
  const { key } = await client.sandbox.addKey({ label: 'curl' })
  const read = (authorization: string) =>
    fetch(`${baseUrl}/api/v1/watchlist/update`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{}',
    }).then(({ status }) => status)
  expect(await read(`token ${key}`)).toBe(400)
  const [made] = (await client.sandbox.read()).running?.keys ?? []
  expect(made).toMatchObject({ label: 'curl' })
  await client.sandbox.removeKey({ keyId: made?.key_id ?? 0 })
  expect(await read(`token ${key}`)).toBe(403)
  const own = await bridge.services.sandbox.findKey(baseUrl)
  const said = received.join('\n').replaceAll(key, '').replaceAll(sample.sourceId, '')
  expect(said).not.toMatch(/sandbox-token|[\w-]{32}/)
  expect(said).not.toContain(own?.toHeader(new URL(baseUrl)).replace('token ', '') ?? 'no key')
  expect(readFileSync(join(workspace, 'sandbox.json'), 'utf8')).not.toContain(key)
})

it('does not take a port that a stored connection leads to', async () => {
  const { client, workspace } = await openWindow()
  const stored = storedConnectionSchema.parse({
    name: 'staging',
    baseUrl: 'http://localhost:8080',
    keys: [{ label: 'default' }],
    activeKey: 'default',
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  const setup = { port: 0, taskPort: 8080, seed: 'mine', isKept: false }
  expect(await toMessage(client.sandbox.setUp(setup))).toBe(
    'port 8080 belongs to the connection staging, so the sandbox cannot have it',
  )
})
