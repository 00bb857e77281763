import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followRun, followRuns } from '../../../src/shared/bridge/follow.ts'
import type { RunRequestInput } from '../../../src/shared/bridge/runs.ts'
import type { RunSnapshot } from '../../../src/shared/run/snapshot.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, type Transport, withBridge } from './connect.ts'
import { createRequest, writeRows, writeText } from './plans.ts'

const KEY = 'a-key-that-must-stay-in-memory'

async function open(transport: Transport) {
  const bridge = withBridge()
  const window = await connectWindow(transport, bridge.services)
  return { bridge, window, client: window.client }
}

async function startReady(client: BridgeClient, request: RunRequestInput): Promise<string> {
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  return runId
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

const toError = async (call: PromiseLike<unknown>) =>
  parseBridgeError(
    await call.then(
      () => null,
      (error: unknown) => error,
    ),
  )

describe.each(['websocket', 'message port'] as const)('the bridge over a %s', (transport) => {
  // Tests that start runs and check nothing about the transport use the second one only in `npm run
  // test:long`.
  const itOverSocket = it.runIf(transport === 'websocket' || inject('isLong'))

  it('describes the app and says of a key only whether it exists', async () => {
    const { bridge, client } = await open(transport)
    expect(await client.app.describe()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      workspace: bridge.services.engine.workspace,
      platform: 'desktop',
      lastBaseUrl: null,
      beginsAt: { kind: 'sandbox' },
      lastOperation: null,
      sandboxBaseUrls: [],
    })
  })

  it('previews a source as the options read it, long cells cut and measured', async () => {
    const { bridge, client } = await open(transport)
    const long = 'x'.repeat(5000)
    const path = writeText(`text;id\n${long};0012\na;b;c\nlast;4\n`)
    const { sourceId, name } = await bridge.services.sources.add(path)
    expect(name).toBe('posts.csv')
    const preview = await client.source.preview({ source: { sourceId, delimiter: ';' }, limit: 2 })
    expect(preview.columns.slice(0, 2)).toEqual(['text', 'id'])
    expect(preview.rows[0]).toEqual({
      row: 1,
      place: { row: 2, line: null },
      cells: ['x'.repeat(300), '0012'],
      cellLengths: [5000, 4],
    })
    expect(preview).toMatchObject({ hasMore: true, malformedRows: 1, delimiterBy: 'given', header: true })
    const bare = await client.source.preview({ source: { sourceId, delimiter: ';', header: false } })
    expect(bare.rows).toHaveLength(4)
    expect(bare.hasMore).toBe(false)
  })

  itOverSocket(
    'takes a source from check through the first ten rows to the last, and shows the outcome of each',
    async () => {
      const { bridge, client } = await open(transport)
      const sandbox = await withSandbox({ apiKeys: [KEY] })
      const path = writeText(`${readFileSync(writeRows(40), 'utf8')}bad id,user_x,post-41\n`, 'forty.csv')
      const runId = await startReady(client, await createRequest(bridge.services, path, sandbox.baseUrl))

      expect((await sandbox.stats()).requests).toBe(0)
      const problems = await client.check.problems({ runId })
      expect(problems).toMatchObject([
        {
          severity: 'error',
          code: 'forbidden_character',
          field: 'user_id',
          rows: 1,
          examples: [{ row: 41 }],
        },
        { severity: 'warning', code: 'recommended', field: 'user_metadata', rows: 40 },
      ])
      const review = await client.review.readRequest({ runId, row: 3 })
      expect(review).toMatchObject({ method: 'POST', url: `${sandbox.baseUrl}/api/v1/task/sync`, row: 3 })
      expect(JSON.parse(review.body ?? '')).toEqual({
        text_data: 'hello number 3',
        user_id: 'user-3',
        post_id: 'post-3',
      })
      expect((await client.review.readRequest({ runId, row: 41 })).body).toBeNull()

      await client.runs.begin({ runId, limit: 10 })
      const trial = await followUntil(
        client,
        runId,
        ({ phase, rows }) => phase === 'ready' && rows.succeeded > 0,
      )
      expect(trial?.rows).toMatchObject({ succeeded: 10, not_sent: 30 })
      expect(JSON.stringify((await sandbox.findPost('post-3')).task?.request)).toBe(review.body)

      // A reader that does not confirm a snapshot gets no other until it does; then it gets the newest.
      const idle = await client.runs.watch({ runId, streamId: 'idle' })
      expect((await idle.next()).value).toMatchObject({ sequence: 1, snapshot: { phase: 'ready' } })
      await client.runs.begin({ runId })
      const last = await followUntil(client, runId, () => false)
      await client.events.seen({ streamId: 'idle', sequence: 1 })
      expect((await idle.next()).value).toEqual({ sequence: 2, snapshot: last })
      expect(last?.rows).toMatchObject({ read: 41, succeeded: 40, invalid: 1, not_sent: 0 })
      // A finished run has nothing to follow.
      expect(await followRun(client, runId).next()).toEqual({ done: true, value: undefined })
      const summary = await client.runs.summarize({ runId })
      expect(summary).toMatchObject({ state: 'completed', rows: last?.rows, name: 'forty.csv' })
      expect((await client.runs.list()).entries).toMatchObject([{ summary, isHeld: false, baselines: [] }])
      expect((await client.runs.readPlan({ runId })).source.path).toBe(path)

      const page = await client.results.page({ runId, filter: { state: 'succeeded' }, offset: 38, limit: 5 })
      expect(page.rows.map(({ row }) => row)).toEqual([39, 40])
      expect(page.total).toBe(40)
      const unsuccessful = { runId, filter: { unsuccessful: true }, offset: 0, limit: 5 } as const
      expect((await client.results.page(unsuccessful)).rows.map(({ row }) => row)).toEqual([41])
      expect(page.rows[0]).toMatchObject({ postId: 'post-39', status: 200, cellLengths: [15, 7, 7] })
      const { facets, isCounted } = await client.results.facets({ runId, filter: {} })
      expect(isCounted).toBe(true)
      expect(facets).toContainEqual(expect.objectContaining({ kind: 'state', value: 'succeeded', rows: 40 }))
      const search = { runId, filter: { search: 'post-3', ruleIds: [''] } }
      expect(await client.results.page({ ...search, offset: 0, limit: 5 })).toMatchObject({
        rows: [{ row: 3 }, { row: 30 }, { row: 31 }, { row: 32 }, { row: 33 }],
        total: 11,
        isCounted: true,
      })
      expect((await client.results.facets(search)).facets).toContainEqual(
        expect.objectContaining({ kind: 'state', value: 'succeeded', rows: 11 }),
      )
      const detail = await client.results.row({ runId, row: 3 })
      expect(detail).toMatchObject({ requestBody: review.body, attempts: [{ number: 1, status: 200 }] })
      const latency = await client.results.latency({ runId })
      expect(latency.bars.http_req_duration?.reduce((sum, { count }) => sum + count, 0)).toBe(40)
      expect(latency.seconds.reduce((sum, { sent }) => sum + sent, 0)).toBe(40)
      expect((await client.results.latency({ runId, sinceSecond: 100_000 })).seconds).toEqual([])

      const file = join(createTemporaryFolder(), 'results.csv')
      const target = bridge.host.addExportFile(file)
      expect(await client.exports.create({ runId, format: 'csv', ...target })).toMatchObject({
        kind: 'file',
        file,
        rows: 41,
      })
      expect(readFileSync(file, 'utf8')).toContain('hello number 40')

      const successFile = join(createTemporaryFolder(), 'forty-success.csv')
      const writeOutcomes = () =>
        client.exports.createOutcomes({ runId, format: 'csv', ...bridge.host.addExportFile(successFile) })
      const { success, errors, inNeither } = await writeOutcomes()
      expect(success).toMatchObject({ kind: 'file', file: successFile, rows: 40 })
      const errorFile = successFile.replace('success', 'errors')
      expect(errors).toMatchObject({ kind: 'file', file: errorFile, rows: 1 })
      expect(inNeither).toBe(0)
      expect(readFileSync(errorFile, 'utf8')).toMatch(/\r\nbad id,user_x,post-41,42,invalid,/)
      // The save dialog asked about the first file only, so no second file is replaced.
      expect(await writeOutcomes()).toMatchObject({ errors: { file: errorFile.replace('.csv', '-2.csv') } })
      const again = await startReady(client, await createRequest(bridge.services, errorFile, sandbox.baseUrl))
      expect((await client.results.row({ runId: again, row: 1 })).result.cells.slice(0, 3)).toEqual([
        ...['bad id', 'user_x', 'post-41'],
      ])
    },
  )

  itOverSocket('pauses, changes pace, stops, resumes, retries and deletes', async () => {
    const { bridge, client } = await open(transport)
    const sandbox = await withSandbox({ apiKeys: [KEY], latency: '10ms' })
    await sandbox.post('/api/v1/task/sync', { text_data: 'earlier', user_id: 'user-1', post_id: 'post-50' })
    const request = await createRequest(bridge.services, writeRows(50), sandbox.baseUrl, {
      pace: { kind: 'closed', concurrency: 1 },
    })
    const runId = await startReady(client, request)
    await client.runs.begin({ runId })
    await followUntil(client, runId, ({ rows }) => rows.succeeded > 0)
    await client.runs.pause({ runId })
    const paused = await followUntil(
      client,
      runId,
      ({ phase, inFlight }) => phase === 'paused' && inFlight === 0,
    )
    expect(paused?.rows.not_sent).toBeGreaterThan(0)
    expect(await toError(client.runs.deleteRun({ runId }))).toMatchObject({ code: 'RUN_BUSY' })
    await client.runs.stop({ runId })
    await followUntil(client, runId, () => false)
    expect(await client.runs.summarize({ runId })).toMatchObject({ state: 'interrupted', rows: paused?.rows })
    expect(await toError(client.runs.pause({ runId }))).toMatchObject({ code: 'RUN_NOT_HELD' })

    await client.runs.resumeRun({ runId, onUnknown: 'skip', apiKey: KEY, hold: true })
    await client.runs.setConcurrency({ runId, concurrency: 8 })
    await client.runs.begin({ runId })
    await followUntil(client, runId, () => false)
    const whole = await client.runs.summarize({ runId })
    expect(whole).toMatchObject({ state: 'completed', rows: { succeeded: 49, rejected: 1, not_sent: 0 } })

    expect(await client.runs.retryRun({ runId, onUnknown: 'skip', apiKey: KEY })).toEqual({ runId })
    await followUntil(client, runId, () => false)
    expect(await client.runs.summarize({ runId })).toMatchObject({
      parent_run_id: null,
      rows: { read: 50, succeeded: 49, rejected: 1 },
      sessions: [
        { kind: 'start' },
        { kind: 'resume' },
        { kind: 'retry', rows_taken: 1, requests: { sent: 1 } },
      ],
    })
    const child = await client.runs.correctRun({ runId, onUnknown: 'skip', apiKey: KEY, fixes: [] })
    await client.runs.awaitReady(child)
    expect(await client.runs.summarize(child)).toMatchObject({ parent_run_id: runId, rows: { read: 1 } })
    // The child has one of the parent's rows, but not the first.
    expect(await client.results.columns(child)).toEqual(await client.results.columns({ runId }))
    expect(await client.runs.begin(child)).toEqual({ runId })
    await followUntil(client, runId, () => false)
    expect(await client.runs.summarize({ runId })).toMatchObject({
      parent_run_id: null,
      rows: { read: 50, succeeded: 49, rejected: 1 },
      sessions: [
        { kind: 'start' },
        { kind: 'resume' },
        { kind: 'retry' },
        { kind: 'correction', rows_taken: 1, requests: { sent: 1 } },
      ],
    })
    expect((await client.runs.list()).entries.map(({ summary }) => summary.run_id)).toEqual([runId])
  })

  itOverSocket(
    'drops a held run that has sent nothing, as a window does when it goes back a step',
    async () => {
      const { bridge, client } = await open(transport)
      const sandbox = await withSandbox({ apiKeys: [KEY] })
      const runId = await startReady(
        client,
        await createRequest(bridge.services, writeRows(3), sandbox.baseUrl),
      )
      await client.runs.drop({ runId })
      expect((await client.runs.list()).entries).toEqual([])
      expect((await sandbox.stats()).requests).toBe(0)
    },
  )

  itOverSocket('leaves a dropped run alone that is being sent, is paused or has ended', async () => {
    onlyInLongForm()
    const { bridge, client } = await open(transport)
    const sandbox = await withSandbox({ apiKeys: [KEY], latency: '10ms' })
    const request = await createRequest(bridge.services, writeRows(150), sandbox.baseUrl, {
      pace: { kind: 'closed', concurrency: 1 },
    })
    const runId = await startReady(client, request)
    await client.runs.begin({ runId })
    await client.runs.drop({ runId })
    await followUntil(client, runId, ({ rows }) => rows.succeeded > 0)
    await client.runs.pause({ runId })
    await followUntil(client, runId, ({ phase }) => phase === 'paused')
    await client.runs.drop({ runId })
    await client.runs.resume({ runId })
    await client.runs.drop({ runId })
    await followUntil(client, runId, () => false)
    const { state, rows } = await client.runs.summarize({ runId })
    expect({ state, left: rows.not_sent }).toEqual({ state: 'completed', left: 0 })
    await client.runs.drop({ runId })
    expect(await client.runs.summarize({ runId })).toMatchObject({ state, rows })
  })

  itOverSocket('ends a dropped run that waits after a trial, so that it can be resumed', async () => {
    const { bridge, client } = await open(transport)
    const sandbox = await withSandbox({ apiKeys: [KEY] })
    const request = await createRequest(bridge.services, writeRows(5), sandbox.baseUrl)
    const runId = await startReady(client, request)
    await client.runs.begin({ runId, limit: 2 })
    await client.runs.pause({ runId })
    await client.runs.resume({ runId })
    await followUntil(client, runId, ({ phase, rows }) => phase === 'ready' && rows.succeeded === 2)
    await client.runs.drop({ runId })
    expect(await client.runs.summarize({ runId })).toMatchObject({ rows: { succeeded: 2, not_sent: 3 } })
    expect(await toError(client.runs.pause({ runId }))).toMatchObject({ code: 'RUN_NOT_HELD' })
    await client.runs.resumeRun({ runId, onUnknown: 'skip', apiKey: KEY })
    await followUntil(client, runId, () => false)
    expect(await client.runs.summarize({ runId })).toMatchObject({ rows: { succeeded: 5 } })
  })

  it('fails with our error codes, each with a message and a hint', async () => {
    const { bridge, client } = await open(transport)
    const missing = { runId: '20990101-000000-zzzz' }
    for (const call of [
      client.runs.summarize(missing),
      client.check.problems(missing),
      client.results.row({ ...missing, row: 1 }),
      client.exports.create({ ...missing, format: 'csv' }),
      followRun(client, missing.runId).next(),
    ]) {
      expect(await toError(call)).toMatchObject({
        code: 'RUN_NOT_FOUND',
        message: expect.stringContaining(missing.runId),
        hint: expect.stringMatching(/\w/),
      })
    }
    const { sourceId } = await bridge.services.sources.add('/nowhere/at-all.csv')
    const error = await toError(client.source.preview({ source: { sourceId } }))
    expect(error).toMatchObject({ code: 'BAD_SOURCE', message: expect.stringContaining('at-all.csv') })
    expect(error?.message).not.toContain('/nowhere')
  })

  it('gives rows only by page, of 500 at most', async () => {
    const { client } = await open(transport)
    const query = { runId: 'any', filter: {}, offset: 0, limit: 501 }
    expect(await toError(client.results.page(query))).toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringMatching(/limit: .*500/),
    })
    const source = { sourceId: 'any' }
    expect(await toError(client.source.preview({ source, limit: 501 }))).toMatchObject({ code: 'BAD_USAGE' })
  })

  it('reports an unusable source to those that wait for or follow its run, early or late', async () => {
    const { bridge, client } = await open(transport)
    const request = await createRequest(bridge.services, writeText('\0\0\0\0binary'), 'http://127.0.0.1:9')
    const { runId } = await client.runs.start({ request, apiKey: KEY })
    const early = toError(followUntil(client, runId, () => false))
    expect(await toError(client.runs.awaitReady({ runId }))).toMatchObject({ code: 'BAD_SOURCE' })
    expect(await early).toMatchObject({ code: 'BAD_SOURCE' })
    expect(await toError(followUntil(client, runId, () => false))).toMatchObject({ code: 'BAD_SOURCE' })
  })

  itOverSocket('says when runs begin and end', async () => {
    const { bridge, client } = await open(transport)
    const sandbox = await withSandbox({ apiKeys: [KEY] })
    const events = followRuns(client)
    const first = (await events.next()).value
    expect(first?.live).toEqual([])
    const runId = await startReady(
      client,
      await createRequest(bridge.services, writeRows(2), sandbox.baseUrl),
    )
    const begun = (await events.next()).value
    expect(begun?.revision).toBeGreaterThan(first?.revision ?? 0)
    await client.runs.begin({ runId })
    for await (const { live, revision } of events) {
      if (live.length > 0 || revision === begun?.revision) continue
      break
    }
    expect(await client.runs.summarize({ runId })).toMatchObject({ state: 'completed' })
  })

  itOverSocket('never gives, stores or repeats the key that was typed', async () => {
    const { bridge, window, client } = await open(transport)
    const sandbox = await withSandbox({ apiKeys: [KEY] })
    const runId = await startReady(
      client,
      await createRequest(bridge.services, writeRows(2), sandbox.baseUrl),
    )
    await client.runs.begin({ runId })
    await followUntil(client, runId, () => false)
    await client.review.readRequest({ runId, row: 1 })
    await client.results.row({ runId, row: 1 })
    expect(
      await toError(
        client.runs.start({
          request: await createRequest(bridge.services, '/x', sandbox.baseUrl),
          apiKey: `${KEY}\n`,
        }),
      ),
    ).toMatchObject({ code: 'NO_API_KEY' })
    expect(window.received.length).toBeGreaterThan(5)
    expect(window.received.join('\n')).not.toContain(KEY)
    const { workspace } = bridge.services.engine
    for (const entry of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      expect(readFileSync(join(entry.parentPath, entry.name)).includes(KEY), entry.name).toBe(false)
    }
  })

  itOverSocket(
    'starts the sandbox when asked, knows its key, and starts it again where a run needs it',
    async () => {
      onlyInLongForm()
      const { bridge, client } = await open(transport)
      const { baseUrl, sample } = await client.sandbox.start()
      expect(sample).toMatchObject({ name: 'sample.csv', sizeBytes: expect.any(Number) })
      expect((await client.source.preview({ source: { sourceId: sample.sourceId } })).columns).toContain(
        'text_data',
      )
      const { runId } = await client.runs.start({
        request: await createRequest(bridge.services, writeRows(2), baseUrl, {
          destination: { kind: 'sandbox' },
        }),
      })
      await client.runs.awaitReady({ runId })
      // It is in use, so it is kept unchanged.
      expect((await client.sandbox.start()).baseUrl).toBe(baseUrl)
      await client.sandbox.stop()
      expect((await client.app.describe()).sandboxBaseUrls).toEqual([baseUrl])
      await client.runs.stop({ runId })
      await followUntil(client, runId, () => false)
      await client.runs.resumeRun({ runId, onUnknown: 'skip' })
      expect(await followUntil(client, runId, () => false)).toMatchObject({ rows: { succeeded: 2 } })
      expect(bridge.services.sandbox.baseUrl()).toBe(baseUrl)
    },
  )

  it('drops a window that does not speak the protocol, and keeps serving the others', async () => {
    const { bridge, window } = await open(transport)
    window.sendRaw('{"this is": no protocol')
    await window.closed
    const other = await connectWindow(transport, bridge.services)
    expect((await other.client.runs.list()).entries).toEqual([])
  })
})
