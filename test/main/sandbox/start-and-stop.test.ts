import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { generate } from 'selfsigned'
import { Agent, request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ADMIN_TOKEN_HEADER } from '../../../src/main/sandbox/admin-access.ts'
import { createSandbox } from '../../../src/main/sandbox/sandbox.ts'
import type { SandboxOptions } from '../../../src/main/sandbox/sandbox-options.ts'
import { startSandboxThread } from '../../../src/main/sandbox/start-sandbox-thread.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { sendRaw } from '../../helpers/raw-http.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const SYNC = '/api/v1/task/sync'
const WORKER = new URL('../../../src/main/sandbox/sandbox-worker.ts', import.meta.url)

async function startThread(options: SandboxOptions) {
  const sandbox = await startSandboxThread(WORKER, options)
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** A process that runs only a sandbox and prints its address. */
function spawnSandbox(databaseFile: string) {
  const sandboxUrl = new URL('../../../src/main/sandbox/sandbox.ts', import.meta.url).href
  const script = `
    import { createSandbox } from ${JSON.stringify(sandboxUrl)}
    const { baseUrl } = await createSandbox(${JSON.stringify({ databaseFile })})
    console.log(baseUrl)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

describe('a sandbox with a store file', () => {
  it('remembers post_ids, keys and rules after a restart', async () => {
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    const task = { text_data: 'hello', user_id: 'u', post_id: 'p' }

    const first = await withSandbox({ databaseFile, apiKeys: ['one', 'two'] })
    expect((await first.post(SYNC, task)).status).toBe(200)
    await first.admin('DELETE', '/keys/2')
    await first.admin('DELETE', '/rules/rule-spam')
    await first.close()

    const second = await withSandbox({ databaseFile, apiKeys: ['one', 'two', 'three'] })
    const again = await second.post(SYNC, task)
    expect(JSON.parse(again.text).error_code).toBe('DUPLICATE_POST_ID')
    const statusOf = async (key: string) =>
      (await second.post(SYNC, { ...task, post_id: key }, { authorization: `token ${key}` })).status
    expect([await statusOf('one'), await statusOf('two'), await statusOf('three')]).toEqual([200, 403, 200])
    expect((await second.admin('GET', '/rules/rule-spam')).status).toBe(404)
    expect((await second.stats()).outcomes).toMatchObject({ accepted: 3, 'rejected:DUPLICATE_POST_ID': 1 })
  })

  it('remembers indexes, terms, appeals and requests, and does not seed them again', async () => {
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    const first = await withSandbox({ databaseFile })
    const item = { url: 'https://example.com/cat.png', metadata: { a: 1 } }
    expect((await first.post('/api/v1/custom_index/sandbox-index/add/sync', item)).status).toBe(200)
    await first.post('/api/v1/watchlist/add', { watchlist: 'sandbox_terms', terms: [{ term: 'kept' }] })
    await first.get('/api/v1/appeals/status/appeal-6')
    await first.admin('DELETE', '/appeals/appeal-1')
    const items = await first.indexItems('sandbox-index')
    const requests = await first.requests()
    await first.close()

    const second = await withSandbox({ databaseFile, indexes: ['other'] })
    expect(await second.indexItems('sandbox-index')).toEqual(items)
    expect((await second.admin('GET', '/indexes/other')).status).toBe(404)
    expect(await second.terms('sandbox_terms')).toContainEqual({ term: 'kept', notes: null })
    expect((await second.admin('GET', '/appeals')).body).toMatchObject({ total: 9 })
    expect((await second.admin('GET', '/appeals/appeal-6')).body).toMatchObject({ reads: 1 })
    expect(await second.requests()).toEqual(requests)
    expect(requests).toHaveLength(3)
  })

  it('of the first version is migrated', async () => {
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    const first = await withSandbox({ databaseFile })
    await first.post(SYNC, { text_data: 'hello', user_id: 'u', post_id: 'p' })
    await first.close()
    const database = new DatabaseSync(databaseFile)
    database.exec(`DROP TABLE request; DROP TABLE appeal; DROP TABLE index_item; DROP TABLE custom_index;
      DROP TABLE callback; ALTER TABLE task DROP COLUMN endpoint; PRAGMA user_version = 1;
      DELETE FROM seeded WHERE what IN ('indexes', 'appeals')`)
    database.close()
    const second = await withSandbox({ databaseFile })
    expect(await second.tasks()).toMatchObject([{ post_id: 'p', endpoint: 'task/v1/sync' }])
    expect((await second.admin('GET', '/appeals')).body).toMatchObject({ total: 10 })
    expect(await second.indexItems('sandbox-index')).toEqual([])
  })

  it('has stored what it answered, even if its process is killed at once', async () => {
    onlyInLongForm()
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    const killed = spawnSandbox(databaseFile)
    const [baseUrl] = await once(killed.stdout.setEncoding('utf8'), 'data')
    const tasks = Array.from({ length: 50 }, (_, i) => ({ text_data: 'x', user_id: 'u', post_id: `p-${i}` }))
    const answers = tasks.map((task) =>
      fetch(String(baseUrl).trim() + SYNC, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'token sandbox-key' },
        body: JSON.stringify(task),
      }),
    )
    const answered = (await Promise.all(answers)).filter((answer) => answer.status === 200)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(answered).toHaveLength(tasks.length)
    const sandbox = await withSandbox({ databaseFile })
    expect(await sandbox.stats()).toMatchObject({ tasks: tasks.length, outcomes: { accepted: tasks.length } })
  })

  it('locks the file', async () => {
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    await withSandbox({ databaseFile })
    await expect(createSandbox({ databaseFile })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(databaseFile),
    })
  })

  it('says so if the file cannot be opened', async () => {
    const databaseFile = join(createTemporaryFolder(), 'missing', 'sandbox.sqlite')
    await expect(createSandbox({ databaseFile })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(databaseFile),
      hint: expect.stringContaining('folder'),
    })
  })
})

describe('a sandbox', () => {
  it('names the port that is taken', async () => {
    const { port } = await withSandbox()
    await expect(createSandbox({ port })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: `the sandbox cannot listen on 127.0.0.1:${port}: another program uses that port`,
    })
  })

  it('names the second port that is taken, and releases the first', async () => {
    const taken = await withSandbox()
    const free = await createSandbox()
    await free.close()
    const { port } = free
    await expect(createSandbox({ port, taskPort: taken.taskPort })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: `the sandbox cannot listen on 127.0.0.1:${taken.taskPort}: another program uses that port`,
    })
    const again = await withSandbox({ port })
    expect(again.port).toBe(port)
  })

  it('refuses invalid settings, naming all at once and repeating no key', async () => {
    const options = { apiKeys: ['secret with spaces'], port: 99_999, colour: 'red' }
    await expect(createSandbox(options)).rejects.toMatchObject({ code: 'BAD_USAGE' })
    const error = await createSandbox(options).catch((reason: Error) => reason)
    expect(String(error)).toMatch(/port: .*apiKeys\.0: must be one word; .*colour/)
    expect(String(error)).not.toContain('secret')
    await expect(createSandbox({ latency: 'slow' })).rejects.toMatchObject({ code: 'BAD_USAGE' })
  })

  it('closes while requests wait for answers', async () => {
    const sandbox = await createSandbox({ latency: '60s' })
    const broken = fetch(sandbox.baseUrl + SYNC, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'token sandbox-key' },
      body: JSON.stringify({ text_data: 'x', user_id: 'u', post_id: 'p' }),
    }).catch(() => 'broken')
    const headers = { [ADMIN_TOKEN_HEADER]: sandbox.adminToken }
    const stats = async () => (await fetch(`${sandbox.baseUrl}/sandbox/admin/stats`, { headers })).json()
    await expect.poll(stats).toMatchObject({ tasks: 1 })
    await sandbox.close()
    expect(await broken).toBe('broken')
  })

  it('keeps the requests of the newest tasks only', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox({ keepRequests: 500 })
    for (let i = 0; i < 1_000; i += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, j) =>
          sandbox.post(SYNC, { text_data: 'x', user_id: 'u', post_id: `p-${i + j}` }),
        ),
      )
    }
    const kept = (await sandbox.tasks()).map((task) => task.request !== null)
    expect(kept.indexOf(true)).toBe(500)
    expect(kept.lastIndexOf(false)).toBe(499)
  })

  it('ends requests that are never sent in full', async () => {
    const sandbox = await withSandbox({ requestTimeoutMs: 120 })
    expect((await sendRaw(sandbox.baseUrl, 'POST /api/v1/task/sync HTTP/1.1\r\nhost: ')).status).toBe(408)
    const { host } = new URL(sandbox.baseUrl)
    const head = `host: ${host}\r\nauthorization: token ${sandbox.key}\r\ncontent-type: application/json\r\n`
    const half = `POST ${SYNC} HTTP/1.1\r\n${head}content-length: 900\r\n\r\n{"text_data":`
    expect((await sendRaw(sandbox.baseUrl, half)).status).toBe(408)
  })

  it('serves https with a certificate of its own', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }])
    const sandbox = await createSandbox({ tls: { key, cert } })
    onTestFinished(() => sandbox.close())
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    onTestFinished(() => dispatcher.close())
    expect(sandbox.baseUrl).toMatch(/^https:/)
    const headers = { [ADMIN_TOKEN_HEADER]: sandbox.adminToken }
    const answer = await request(`${sandbox.baseUrl}/sandbox/admin/stats`, { dispatcher, headers })
    expect(await answer.body.json()).toMatchObject({ requests: 0 })
    await expect(request(`${sandbox.baseUrl}/sandbox/admin/stats`)).rejects.toThrow()
  })
})

describe('a sandbox in a thread of its own', () => {
  it('listens, answers and ends', async () => {
    const sandbox = await startThread({ apiKeys: ['k'] })
    const answer = await fetch(sandbox.baseUrl + SYNC, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'token k' },
      body: JSON.stringify({ text_data: 'x', user_id: 'u', post_id: 'p' }),
    })
    expect(answer.status).toBe(200)
    const headers = { [ADMIN_TOKEN_HEADER]: sandbox.adminToken }
    expect((await fetch(`${sandbox.baseUrl}/sandbox/admin/stats`, { headers })).status).toBe(200)
    expect((await fetch(`${sandbox.taskBaseUrl}/api/v2/task/sync`, { method: 'POST' })).status).toBe(403)
    await sandbox.close()
    await sandbox.ended
    await expect(fetch(sandbox.taskBaseUrl)).rejects.toThrow()
    await expect(fetch(sandbox.baseUrl)).rejects.toThrow()
  })

  it('says why it cannot start', async () => {
    onlyInLongForm()
    const { port } = await startThread({})
    await expect(startSandboxThread(WORKER, { port })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    })
    await expect(startSandboxThread(WORKER, { faults: ['flood=1%'] })).rejects.toMatchObject({
      code: 'BAD_USAGE',
    })
  })
})
