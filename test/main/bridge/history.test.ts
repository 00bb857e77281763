import { existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { parseBridgeError, toShownError } from '../../../src/shared/bridge/errors.ts'
import type { AnnotationChange } from '../../../src/shared/lookback/annotations.ts'
import { NO_RETENTION } from '../../../src/shared/lookback/retention.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { openRun, type WrittenRun, writeRun } from '../../helpers/write-run.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows, writeText } from './plans.ts'

const KEY = 'a-key-of-the-service'

async function openWindow(runs: readonly WrittenRun[] = []) {
  const workspace = createTemporaryFolder()
  for (const run of runs) writeRun(workspace, run)
  const bridge = withBridge(workspace)
  const { client } = await connectWindow('message port', bridge.services)
  const list = async (query: Parameters<typeof client.runs.list>[0] = {}) =>
    (await client.runs.list(query)).entries.map(({ summary }) => summary.run_id)
  return { workspace, bridge, client, list }
}

type TestWindow = Awaited<ReturnType<typeof openWindow>>

const TWO: readonly WrittenRun[] = ['run-1', 'run-2'].map((runId) => ({ runId }))

const toError = async (call: PromiseLike<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { id: parseBridgeError(error)?.said.id, ...toShownError(error) }
}

/** Sends the waiting rows and returns the run when it has ended. */
async function sendWaiting({ bridge, client }: TestWindow, runId: string) {
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await bridge.services.engine.runs.heldRun(runId)?.ended
  return client.runs.summarize({ runId })
}

it('changes name, tags and note of a run, finds the run by them, and undoes the change', async () => {
  const { client, list } = await openWindow(TWO)
  const change = { name: 'Before the rule', addTags: ['nightly'], note: 'sent with model 3' }
  await client.history.annotate({ runId: 'run-1', change })
  const found = await client.runs.list({ tags: ['nightly'], search: 'model 3', limit: 10 })
  expect(found).toMatchObject({
    total: 1,
    all: 2,
    choices: { tags: ['nightly'], connections: ['https://api.example.com'] },
    entries: [{ summary: { run_id: 'run-1', name: 'Before the rule', note: 'sent with model 3' } }],
  })
  expect(found.entries[0]?.figures.sizeBytes).toBeGreaterThan(1_000)
  await client.history.annotate({
    runId: 'run-1',
    change: { name: '', removeTags: ['nightly'], note: '' },
  })
  expect(await list({ tags: ['nightly'] })).toEqual([])
  expect((await client.runs.summarize({ runId: 'run-1' })).name).toBe('run-1')
  const refused = client.history.annotate({ runId: 'run-1', change: { addTags: ['a,b'] } })
  expect(await toError(refused)).toMatchObject({ message: expect.stringContaining('comma') })
})

it('replaces no name or note that was changed elsewhere since a person saw it, and says what it is now', async () => {
  const { client } = await openWindow(TWO)
  const annotate = (change: AnnotationChange) => client.history.annotate({ runId: 'run-1', change })
  const before = { name: 'run-1', note: '' }
  await annotate({ name: 'Mine', note: 'first', before })
  const refused = await toError(annotate({ note: 'second', addTags: ['lost'], before }))
  expect(refused.message).toBe(
    'the note was changed elsewhere meanwhile; nothing was saved. It is now: “first”',
  )
  expect((await toError(annotate({ name: 'Yours', before }))).message).toContain('It is now: “Mine”')
  expect(await client.runs.summarize({ runId: 'run-1' })).toMatchObject({ name: 'Mine', note: 'first' })
  expect(await client.runs.summarize({ runId: 'run-1' })).not.toHaveProperty('tags')
  // A call that is repeated because its answer was lost.
  await annotate({ note: 'first', before })
  await annotate({ note: 'second', before: { name: 'Mine', note: 'first' } })
  expect(await client.runs.summarize({ runId: 'run-1' })).toMatchObject({ note: 'second' })
})

it('lists runs although the inbox cannot be read, which the callbacks screen reports', async () => {
  const { workspace, client, list } = await openWindow(TWO)
  const journal = openRun(workspace, { runId: 'run-1' })
  journal.transact('power', () => journal.db.exec("UPDATE run SET callback_base = 'https://example.com/'"))
  journal.close()
  writeFileSync(join(workspace, 'inbox'), 'no database'.repeat(1_000))
  expect(await list()).toEqual(['run-2', 'run-1'])
  expect((await toError(client.receiver.overview())).message).toContain(join(workspace, 'inbox'))
})

it('lists a run whose journal is damaged with the reason, and deletes it when asked', async () => {
  const { workspace, client, list } = await openWindow(TWO)
  truncateSync(toJournalFile(workspace, 'run-1'), 100)
  const { unreadable, total } = await client.runs.list()
  expect(unreadable).toEqual([{ runId: 'run-1', message: expect.stringMatching(/\w/) }])
  expect(total).toBe(1)
  await client.runs.deleteRun({ runId: 'run-1' })
  expect((await client.runs.list()).unreadable).toEqual([])
  expect(await list()).toEqual(['run-2'])
})

it('deletes no baseline, and says that the run is one', async () => {
  const { client, bridge, list } = await openWindow(TWO)
  const { engine } = bridge.services
  await engine.lookback.setBaseline('run-1', 'default')
  const baselines = (await client.runs.list()).entries.map((entry) => entry.baselines)
  expect(baselines).toEqual([[], ['default']])
  expect(await toError(client.runs.deleteRun({ runId: 'run-1' }))).toMatchObject({
    id: 'run_is_baseline',
    message: 'run run-1 is the baseline `default`, which later runs are compared with',
    hint: expect.stringContaining('Compare'),
  })
  engine.lookback.removeBaselines('run-1', null)
  await client.runs.deleteRun({ runId: 'run-1' })
  expect(await list()).toEqual(['run-2'])
})

it('shows which runs exceed limits, and deletes those that were shown, but no baseline', async () => {
  const { client, bridge, list } = await openWindow([...TWO, { runId: 'run-3' }])
  expect(await client.history.readRetention()).toEqual(NO_RETENTION)
  const retention = { ...NO_RETENTION, olderThanMs: 86_400_000 }
  await client.history.storeRetention(retention)
  expect(await client.history.readRetention()).toEqual(retention)
  await bridge.services.engine.lookback.setBaseline('run-2', 'default')
  expect(await client.history.findPrunable(retention)).toMatchObject({
    runs: [
      { run_id: 'run-1', reason: 'age' },
      { run_id: 'run-3', reason: 'age' },
    ],
    protected: 1,
  })
  expect(await list()).toHaveLength(3)
  // Another page's list may name runs that must stay.
  const runIds = ['run-1', 'run-2', 'missing']
  expect(await client.history.prune({ runIds, retention })).toEqual({ deleted: 1, busy: [] })
  expect(await list()).toEqual(['run-3', 'run-2'])
})

it('runs a run again with its current source, new post_ids and another connection', async () => {
  onlyInLongForm()
  const window = await openWindow()
  const { client, bridge } = window
  const [first, second] = [await withSandbox({ apiKeys: [KEY] }), await withSandbox({ apiKeys: [KEY] })]
  const file = writeRows(2)
  const request = await createRequest(bridge.services, file, first.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await sendWaiting(window, runId)
  expect(await client.history.planAgain({ runId })).toMatchObject({
    runId,
    name: 'posts.csv',
    isSandbox: false,
    sendsKey: true,
    needsKey: true,
    source: { name: 'posts.csv', change: 'same' },
    postIds: 'own',
    legacy: false,
    rows: 2,
  })
  writeFileSync(file, 'text_data,user_id,post_id\nhello,u1,post-1\nhello,u2,post-2\nhello,u3,post-3\n')
  const { source } = await client.history.planAgain({ runId })
  expect(source).toMatchObject({ change: 'changed', description: expect.stringContaining(runId) })

  const settings = { baseUrl: second.baseUrl, taskBaseUrl: null, timeoutMs: null, isProduction: false }
  await client.connections.add({ name: 'second', settings, label: 'default', apiKey: KEY })
  const destination = { kind: 'stored', name: 'second' } as const
  const again = await client.history.runAgain({ runId, destination, name: 'After the rule' })
  expect(await sendWaiting(window, again.runId)).toMatchObject({
    name: 'After the rule',
    connection: 'second',
    base_url: second.baseUrl,
    rows: { read: 3, succeeded: 3 },
  })
  expect((await second.tasks()).map((task) => task.post_id)).toEqual([
    `${again.runId}-1`,
    `${again.runId}-2`,
    `${again.runId}-3`,
  ])
  const kept = await client.history.runAgain({ runId, keepPostIds: true, apiKey: KEY })
  // The first service already has two of them.
  expect(await sendWaiting(window, kept.runId)).toMatchObject({
    base_url: first.baseUrl,
    rows: { succeeded: 1, rejected: 2 },
  })
  const readOperation = async (again: string) => (await client.runs.readPlan({ runId: again })).operation
  expect(await readOperation(kept.runId)).toMatchObject({ legacy: false })
  const scored = await client.history.runAgain({ runId, destination, legacy: true })
  await sendWaiting(window, scored.runId)
  expect(await readOperation(scored.runId)).toMatchObject({ kind: 'task', api: 'v1', legacy: true })
  expect(await client.history.planAgain({ runId: scored.runId })).toMatchObject({ legacy: true })
  const plain = await client.history.runAgain({ runId: scored.runId, legacy: false, apiKey: KEY })
  await client.runs.awaitReady({ runId: plain.runId })
  expect(await readOperation(plain.runId)).toMatchObject({ legacy: false })
  expect(await toError(client.history.runAgain({ runId }))).toMatchObject({
    message: expect.stringContaining('API key'),
  })
})

it('asks for the source of a rerun if it is missing, and accepts another', async () => {
  onlyInLongForm()
  const window = await openWindow()
  const { client, bridge } = window
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const file = writeRows(2)
  const request = await createRequest(bridge.services, file, sandbox.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await sendWaiting(window, runId)
  rmSync(file)
  expect((await client.history.planAgain({ runId })).source.change).toBe('missing')
  expect(await toError(client.history.runAgain({ runId, apiKey: KEY }))).toMatchObject({
    id: 'again_source_missing',
  })
  const other = writeText('text_data,user_id\nhello,u1\n', 'other.csv')
  const { sourceId } = await bridge.services.sources.add(other)
  expect((await client.history.planAgain({ runId, sourceId })).source).toMatchObject({
    name: 'other.csv',
    change: 'changed',
  })
  const again = await client.history.runAgain({ runId, sourceId, apiKey: KEY })
  expect(await sendWaiting(window, again.runId)).toMatchObject({ rows: { read: 1, succeeded: 1 } })
  expect(existsSync(file)).toBe(false)
})
