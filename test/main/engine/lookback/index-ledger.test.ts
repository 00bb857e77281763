import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { addConnection, changeConnections } from '../../../../src/main/engine/workspace/connections.ts'
import { storedConnectionSchema } from '../../../../src/shared/plan/stored-connection.ts'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { writeRun } from '../../../helpers/write-run.ts'
import { openLedgerWorkspace } from './ledger-workspace.ts'

const ADD = { kind: 'index-add', indexId: 'sandbox-index' } as const
const REMOVE = { kind: 'index-remove', indexId: 'sandbox-index' } as const
const ALL = { states: ['known', 'removed', 'removal_unknown', 'add_unknown'] } as const

const toImages = (names: readonly string[]) =>
  `url,metadata,content_variant\n${names.map((name) => `https://media.example.com/${name}.png,"{""name"":""=${name}""}",cats\n`).join('')}`

/** Whether rows are marked as possibly sent and have no outcome yet. */
function isMarked(file: string): boolean {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const found = db.prepare('SELECT claimed, (SELECT count(*) FROM result) AS results FROM run').get()
    return Number(found?.['claimed']) > 0 && found?.['results'] === 0
  } finally {
    db.close()
  }
}

async function openIndex(options?: Parameters<typeof openLedgerWorkspace>[0]) {
  const opened = await openLedgerWorkspace(options)
  const readIds = async () => (await opened.read('index')).entries.map((entry) => entry.custom_index_item_id)
  /** In alphabetical order, because rows in flight together arrive in any order. */
  const readHeld = async () =>
    (await opened.sandbox.indexItems('sandbox-index')).map((item) => item.custom_index_item_id).sort()
  return { ...opened, readIds, readHeld }
}

describe('the ledger of an index', () => {
  it('skips a run that was cut off before it read its source', async () => {
    const { workspace, sandbox, send, read } = await openIndex()
    await send(ADD, toImages(['a']))
    const plan = { connection: { baseUrl: sandbox.baseUrl }, operation: ADD }
    writeRun(workspace, { runId: '20251101-120000-000', state: 'interrupted', plan })
    expect((await read('index', ALL)).counts).toEqual({ known: 1 })
  })

  it('matches the sandbox after adds, removals, further adds, a crash and a resume', async () => {
    const { runs, sandbox, send, sendCutOff, read, readIds, readHeld, exportTo } = await openIndex()
    await send(ADD, toImages(['a', 'b', 'c', 'd']))
    const { entries } = await read('index')
    expect(entries).toMatchObject(
      ['a', 'b', 'c', 'd'].map((name) => ({
        state: 'known',
        outcome: 'added',
        url: `https://media.example.com/${name}.png`,
        metadata: { name: `=${name}` },
        content_variant: 'cats',
      })),
    )
    const some = await exportTo('index', 'some.csv', { search: '/A.png' })
    expect(some.rows).toBe(1)
    expect(await send(REMOVE, some.file)).toMatchObject({ rows: { read: 1, succeeded: 1 } })
    // An item that is added again is a new one.
    await send(ADD, toImages(['a', 'b']))
    expect(await readIds()).toHaveLength(5)
    expect((await readIds()).sort()).toEqual(await readHeld())

    const two = (await readIds()).slice(0, 2)
    const runId = await sendCutOff(REMOVE, `custom_index_item_id\n${two.join('\n')}\n`, isMarked)
    expect(await readHeld()).toHaveLength(3)
    const open = await read('index', ALL)
    expect(open.counts).toEqual({ known: 3, removed: 1, removal_unknown: 2 })
    expect(open.entries.filter(({ state }) => state === 'removal_unknown')).toMatchObject(
      two.map((id) => ({ custom_index_item_id: id, outcome: 'unknown', run_id: runId })),
    )
    expect(await runs.resume(runId, 'resend').ended).toMatchObject({ rows: { succeeded: 2 } })
    expect((await read('index')).counts).toEqual({ known: 3, removed: 3 })
    expect((await readIds()).sort()).toEqual(await readHeld())
    const held = await sandbox.indexItems('sandbox-index')
    expect((await read('index')).entries).toHaveLength(held.length)
    expect((await read('index')).entries).toEqual(
      expect.arrayContaining(held.map(({ url, metadata }) => expect.objectContaining({ url, metadata }))),
    )
  })

  it('counts interrupted adds as unknown items, even after they are sent again', async () => {
    const { runs, sendCutOff, read, readHeld } = await openIndex()
    const runId = await sendCutOff(ADD, toImages(['a', 'b']), isMarked)
    expect(await readHeld()).toHaveLength(2)
    const cut = await read('index', ALL)
    expect(cut.counts).toEqual({ add_unknown: 2 })
    expect(cut.entries[0]).toMatchObject({ custom_index_item_id: null, items: 1, metadata: { name: '=a' } })
    await runs.resume(runId, 'skip').ended
    expect((await read('index', ALL)).counts).toEqual({ add_unknown: 2 })
    await runs.retryAsChild(runId, 'resend').ended
    // The sandbox took them twice, and only the second answers have the ids.
    const again = await read('index', ALL)
    expect(again.counts).toEqual({ known: 2, add_unknown: 2 })
    const held = await readHeld()
    expect(held).toHaveLength(4)
    expect(held).toEqual(
      expect.arrayContaining((await read('index')).entries.map((entry) => entry.custom_index_item_id)),
    )
  })

  it('distinguishes a lost answer from a refused request', async () => {
    const { send, setFaults, read, readHeld } = await openIndex()
    await setFaults(['503-after=100%'])
    await send(ADD, toImages(['lost']))
    await setFaults(['429=100%'])
    await send(ADD, toImages(['refused']))
    await setFaults([])
    await send(ADD, toImages(['taken']))
    const [item] = await Promise.all([read('index').then(({ entries }) => entries[0])])
    await setFaults(['503-after=100%'])
    const removal = `custom_index_item_id\n${item?.custom_index_item_id}\n`
    await send(REMOVE, removal)
    expect((await read('index', ALL)).counts).toEqual({ add_unknown: 1, removal_unknown: 1 })
    await setFaults([])
    // The service now says that the item is gone.
    expect(await send(REMOVE, removal)).toMatchObject({ rows: { rejected: 1 } })
    const { counts, entries } = await read('index', { states: ['removed'] })
    expect(counts).toEqual({ add_unknown: 1, removed: 1 })
    expect(entries).toMatchObject([{ outcome: 'not_found', url: 'https://media.example.com/taken.png' }])
    expect(await readHeld()).toHaveLength(1)
  })

  it('lists an add whose callback names no item as unknown, and no retry sends it unasked', async () => {
    const { workspace, runs, toPlan, read } = await openIndex()
    const inbox = InboxWriter.open(workspace)
    onTestFinished(() => inbox?.close())
    const error = { error: true, status: 400, error_code: 'UNREACHABLE_URL', message: 'no such image' }
    const said = [{}, error, { custom_index_item_id: 'item-3' }, error]
    // Each callback comes before its acknowledgement.
    const server = await startFaultServer({
      onRequest: ({ number, body }, wire) => {
        const [, , runToken = '', item] = new URL(JSON.parse(body).callback_url).pathname.split('/')
        const task = { task_id: `t${number}`, message: 'done' }
        const text = Buffer.from(JSON.stringify({ ...task, ...said[number - 1] }))
        const callback = { runToken, item: Number(item), receivedAtUs: Date.now() * 1_000, body: text }
        inbox?.store(callback, () => wire.send(200, task))
      },
    })
    const plan = toPlan({ ...ADD, mode: 'async' }, toImages(['a', 'b', 'c']), {
      connection: { baseUrl: server.baseUrl },
      pace: { kind: 'closed', concurrency: 1 },
    })
    const base = { callbackBase: 'http://127.0.0.1:1' }
    const run = await runs.start(plan, base).ended
    expect(run).toMatchObject({
      rows: { succeeded: 1, rejected: 1, unknown: 1, awaiting: 0 },
      callbacks: { received: 3, settled: 2, unreadable: 1 },
    })
    expect(await read('index', ALL)).toMatchObject({
      counts: { known: 1, add_unknown: 1 },
      entries: [
        { state: 'add_unknown', url: 'https://media.example.com/a.png', items: 1 },
        { state: 'known', custom_index_item_id: 'item-3' },
      ],
    })
    expect(await runs.retryAsChild(run.run_id, 'skip', base).ended).toMatchObject({ rows: { read: 1 } })
    expect(server.requests).toHaveLength(4)
  })

  it('says that a removal of unknown items was refused, and keeps what it knows', async () => {
    const { send, read } = await openIndex()
    await send(ADD, toImages(['a']))
    await send(REMOVE, 'custom_index_item_id\nnever-added\n')
    const { counts, entries } = await read('index', { states: ['removed'] })
    expect(counts).toEqual({ known: 1, removed: 1 })
    expect(entries).toMatchObject([{ custom_index_item_id: 'never-added', outcome: 'not_found', url: null }])
  })

  it.each(['csv', 'xlsx', 'jsonl'])(
    'is the source of a removal and of further adds as .%s',
    async (ending) => {
      const { send, read, readIds, readHeld, exportTo, sandbox } = await openIndex()
      await send(ADD, toImages(['a', 'b']))
      const before = await sandbox.indexItems('sandbox-index')
      const { file, rows } = await exportTo('index', `items.${ending}`)
      expect(rows).toBe(2)
      expect(await send(REMOVE, file)).toMatchObject({ rows: { read: 2, succeeded: 2 } })
      expect(await readHeld()).toEqual([])
      expect((await read('index')).total).toBe(0)
      expect(await send(ADD, file)).toMatchObject({ rows: { read: 2, succeeded: 2 } })
      expect((await readIds()).sort()).toEqual(await readHeld())
      const strip = ({ url, metadata, content_variant }: (typeof before)[number]) => [
        url,
        metadata,
        content_variant,
      ]
      expect((await sandbox.indexItems('sandbox-index')).map(strip)).toEqual(before.map(strip))
    },
  )

  it.each(['csv', 'xlsx', 'jsonl'])(
    'has the metadata as it was sent, with every digit, also as a source (.%s)',
    async (ending) => {
      const { send, read, exportTo } = await openIndex()
      const server = await startFaultServer({
        onRequest: ({ number }, wire) =>
          wire.send(200, { custom_index_item_id: `item${number}`, task_id: `t${number}`, message: '' }),
      })
      const there = {
        connection: { baseUrl: server.baseUrl },
        pace: { kind: 'closed', concurrency: 1 },
      } as const
      const texts = [
        '{"id":12345678901234567890,"f":1.0,"e":1e400}',
        '{"a":1,"a":2}',
        '{"b":\r\n[-0, "\\u00e9"]}',
      ]
      const rows = texts.map((text, index) => `https://a.test/${index},"${text.replaceAll('"', '""')}"\n`)
      await send(ADD, `url,metadata\n${rows.join('')}`, there)
      expect((await read('index')).entries.map((entry) => entry.metadata_text)).toEqual(texts)
      expect((await read('index', { search: '567890' })).total).toBe(1)
      await send(ADD, (await exportTo('index', `items.${ending}`)).file, there)
      const sent = server.requests.map(({ body }) => body)
      const expected =
        ending === 'jsonl' ? sent.slice(0, 3).map((body) => body.replace('\r\n', ' ')) : sent.slice(0, 3)
      expect(sent.slice(3)).toEqual(expected)
    },
  )

  it('is read by page, and asks which index is meant if there are several', async () => {
    const { send, read, sandbox, exportTo } = await openIndex()
    await sandbox.admin('PUT', '/indexes/other')
    await send(ADD, toImages(['a', 'b', 'c']))
    await send({ kind: 'index-add', indexId: 'other' }, toImages(['d']))
    const open = await read('index')
    expect(open).toMatchObject({ list: null, entries: [], total: 0, runs: 2 })
    expect(open.lists).toEqual([
      { name: 'other', counts: { known: 1 } },
      { name: 'sandbox-index', counts: { known: 3 } },
    ])
    const page = await read('index', { list: 'sandbox-index' }, { offset: 1, limit: 1 })
    expect(page).toMatchObject({
      runs: 1,
      total: 3,
      offset: 1,
      entries: [{ url: 'https://media.example.com/b.png' }],
    })
    await expect(exportTo('index', 'items.csv')).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining('`other`, `sandbox-index`'),
    })
    await expect(read('index', { list: 'missing' })).rejects.toMatchObject({ code: 'BAD_USAGE' })
  })

  it('separates runs to another address or with another key', async () => {
    const { send, read, sandbox } = await openIndex()
    const other = { connection: { baseUrl: sandbox.baseUrl, apiKeyEnv: 'OTHER_KEY' } }
    await send(ADD, toImages(['a']))
    await send(ADD, toImages(['b', 'c']), other)
    await expect(read('index')).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining('OTHER_KEY'),
    })
    const one = await read('index', { service: { apiKeyEnv: 'OTHER_KEY' } })
    expect(one.counts).toEqual({ known: 2 })
    expect(one.warnings).toEqual([
      '1 other run to this address used the key in SLUICE_API_KEY; it is not included.',
    ])
    await expect(
      read('index', { service: { baseUrl: 'https://elsewhere.example.com' } }),
    ).rejects.toMatchObject({
      code: 'BAD_USAGE',
      hint: expect.stringContaining(sandbox.baseUrl),
    })
  })

  it('combines runs with any key of a stored connection, and all connections that share a key', async () => {
    onlyInLongForm()
    const { send, read, sandbox, workspace } = await openIndex()
    const { baseUrl } = sandbox
    for (const [name, envs] of [
      ['live', ['FIRST', 'SECOND']],
      ['again', ['SECOND']],
      ['apart', ['THIRD']],
    ] as const) {
      const keys = envs.map((env) => ({ label: env, env }))
      const added = storedConnectionSchema.parse({ name, baseUrl, keys, activeKey: envs[0] })
      changeConnections(workspace, (connections) => addConnection(connections, added))
    }
    const sendWith = (name: string, connection: object) =>
      send(ADD, toImages([name]), { connection: { baseUrl, ...connection } })
    await sendWith('a', { name: 'live', apiKeyEnv: 'FIRST' })
    await sendWith('b', { apiKeyEnv: 'SECOND' })
    await sendWith('c', { name: 'again', apiKeyEnv: 'SECOND' })
    await sendWith('d', { name: 'apart', apiKeyEnv: 'THIRD' })
    // A key for this run only.
    await sendWith('e', { name: 'live', apiKeyEnv: 'OTHER' })
    for (const connection of ['live', 'again']) {
      const { service, total } = await read('index', { service: { connection } })
      expect(service).toEqual({ base_url: baseUrl, connections: ['again', 'live'], api_key_env: null })
      expect(total).toBe(3)
    }
    expect((await read('index', { service: { apiKeyEnv: 'FIRST' } })).total).toBe(3)
    expect((await read('index', { service: { connection: 'apart' } })).total).toBe(1)
    expect((await read('index', { service: { connection: 'live', apiKeyEnv: 'OTHER' } })).total).toBe(1)
  })

  it('combines runs with a typed key of a stored connection, apart from other typed keys', async () => {
    const { send, read, sandbox, workspace } = await openIndex()
    const { baseUrl } = sandbox
    const live = { name: 'live', baseUrl, keys: [{ label: 'default' }], activeKey: 'default' }
    changeConnections(workspace, (known) => addConnection(known, storedConnectionSchema.parse(live)))
    const sendWith = (name: string, connection: object) =>
      send(ADD, toImages([name]), { connection: { baseUrl, keyFrom: 'window', ...connection } })
    await sendWith('a', { name: 'live' })
    await sendWith('b', {})
    await sendWith('c', { name: 'removed since' })
    const { service, services, total } = await read('index', { service: { connection: 'live' } })
    expect(service).toEqual({ base_url: baseUrl, connections: ['live'], api_key_env: null })
    expect(total).toBe(1)
    expect(services).toEqual([service, { base_url: baseUrl, connections: [], api_key_env: null }])
    expect((await read('index', { service: { baseUrl, apiKeyEnv: null } })).total).toBe(2)
  })

  it('is empty in a workspace without such runs', async () => {
    const { read } = await openIndex()
    await expect(read('index')).rejects.toMatchObject({
      code: 'BAD_USAGE',
      hint: expect.stringContaining('`index add`'),
    })
  })
})
