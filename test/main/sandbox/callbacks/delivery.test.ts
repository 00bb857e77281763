import { once } from 'node:events'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxOptions } from '../../../../src/main/sandbox/sandbox-options.ts'
import { type CallbackReceiver, withCallbackReceiver } from '../../../helpers/callback-receiver.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import { type TestSandbox, withSandbox } from '../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

const ASYNC = '/api/v1/task/async'

function submit(sandbox: TestSandbox, receiver: { url: string }, postId: string) {
  const callback_url = `${receiver.url}/${postId}`
  return sandbox.post(ASYNC, { text_data: 'hello', user_id: 'u', post_id: postId, callback_url })
}

async function submitMany(
  sandbox: TestSandbox,
  receiver: CallbackReceiver,
  count: number,
): Promise<string[]> {
  const posts = Array.from({ length: count }, (_, i) => `p-${i}`)
  await Promise.all(posts.map((post) => submit(sandbox, receiver, post)))
  return posts
}

/** The address of a receiver that is gone. */
const NOWHERE = { url: 'http://127.0.0.1:1/callback' }

describe('a callback', () => {
  it('is posted as JSON once, over reused connections', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ callbacks: 'connections=4' })
    const posts = await submitMany(sandbox, receiver, 100)
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 100, failed_attempts: 0 })
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(
      posts.map((post) => `/callback/${post}`).sort(),
    )
    expect(receiver.received.map(({ body }) => body['post_id']).sort()).toEqual(posts.toSorted())
    expect(receiver.received[0]?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-sandbox-notice': 'not a moderation decision',
    })
    expect(receiver.connections()).toBeLessThanOrEqual(4)
    expect(receiver.mostAtOnce()).toBeLessThanOrEqual(4)
  })

  it('is posted again until it gets a 2xx, whatever came before', async () => {
    const statuses = [500, 404, 301, 429, 204]
    let answered = 0
    const receiver = await withCallbackReceiver((response) => {
      response.statusCode = statuses[answered++] ?? 500
      response.end()
    })
    const sandbox = await withSandbox({ callbacks: 'backoff=1ms' })
    await submit(sandbox, receiver, 'p')
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 1, failed_attempts: 4 })
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1)
    const [callback] = (await sandbox.findPost('p')).callbacks
    expect(callback).toMatchObject({ state: 'delivered', attempts: 5, last_result: '204', body: null })
  })

  it('waits as long as a 503 with Retry-After asks', async () => {
    const receiver = await withCallbackReceiver((response) => {
      if (receiver.received.length === 1) response.writeHead(503, { 'retry-after': '20' })
      response.end()
    })
    const sandbox = await withSandbox({ callbacks: 'backoff=1ms' })
    await submit(sandbox, receiver, 'p')
    await expect.poll(async () => (await sandbox.callbacks())[0]?.attempts).toBe(1)
    const [pending] = await sandbox.callbacks('pending')
    expect(pending).toMatchObject({ last_result: '503', body: { post_id: 'p' } })
    expect(Date.parse(pending?.at ?? '') - Date.now()).toBeGreaterThan(15_000)
    await sandbox.sendPendingCallbacks()
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 1 })
  })

  it('is given up after the last attempt, and stays on record', async () => {
    const sandbox = await withSandbox({ callbacks: 'attempts=3,backoff=1ms' })
    await submit(sandbox, NOWHERE, 'p')
    expect(await sandbox.waitForCallbacks()).toEqual({
      pending: 0,
      delivered: 0,
      failed: 1,
      dropped: 0,
      failed_attempts: 3,
    })
    expect(await sandbox.callbacks('failed')).toMatchObject([{ attempts: 3, last_result: 'ECONNREFUSED' }])
  })

  it('times out if the receiver does not answer', async () => {
    const receiver = await withCallbackReceiver(() => {})
    const sandbox = await withSandbox({ callbacks: 'attempts=2,backoff=1ms,timeout=20ms' })
    await submit(sandbox, receiver, 'p')
    expect(await sandbox.waitForCallbacks()).toMatchObject({ failed: 1 })
    expect(await sandbox.callbacks()).toMatchObject([{ attempts: 2, last_result: 'TIMEOUT' }])
  })

  it('fails if the connection ends during the answer', async () => {
    const receiver = await withCallbackReceiver((response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{', () => response.destroy())
    })
    const sandbox = await withSandbox({ callbacks: 'attempts=2,backoff=1ms' })
    await submit(sandbox, receiver, 'p')
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 0, failed: 1 })
  })

  it('goes to no receiver with an untrusted certificate', async () => {
    const { key, cert } = await createCertificate({ ip: '127.0.0.1' })
    const server = createServer({ key, cert }, (_request, response) => response.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const sandbox = await withSandbox({ callbacks: 'attempts=1' })
    await submit(sandbox, { url: `https://127.0.0.1:${port}` }, 'p')
    expect(await sandbox.waitForCallbacks()).toMatchObject({ failed: 1 })
    expect(await sandbox.callbacks()).toMatchObject([{ last_result: 'DEPTH_ZERO_SELF_SIGNED_CERT' }])
  })

  it('is not sent for a request without callback_url', async () => {
    const sandbox = await withSandbox()
    const answer = await sandbox.post(ASYNC, { text_data: 'x', user_id: 'u', post_id: 'p' })
    expect(answer.status).toBe(200)
    expect(await sandbox.callbacks()).toEqual([])
  })
})

describe('callbacks', () => {
  it('come before their acknowledgement if they are early', async () => {
    const order: string[] = []
    const receiver = await withCallbackReceiver((response, { body }) => {
      order.push(`callback ${body['post_id']}`)
      response.end()
    })
    const sandbox = await withSandbox({ callbacks: 'early=100%,delay=1s' })
    for (const post of ['a', 'b', 'c']) {
      await submit(sandbox, receiver, post)
      order.push(`answer ${post}`)
    }
    expect(order).toEqual(['a', 'b', 'c'].flatMap((post) => [`callback ${post}`, `answer ${post}`]))
  })

  it('that are early do not delay the acknowledgement if the receiver is gone', async () => {
    const sandbox = await withSandbox({ callbacks: 'early=100%,backoff=1000s' })
    expect((await submit(sandbox, NOWHERE, 'p')).status).toBe(200)
    expect(await sandbox.callbacks()).toMatchObject([{ timing: 'early', state: 'pending', attempts: 1 }])
  })

  it('come twice if they are doubled, and never if they are dropped', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ callbacks: 'double=50%,drop=20%' })
    await submitMany(sandbox, receiver, 120)
    const { delivered, dropped } = await sandbox.waitForCallbacks()
    const copies = new Map<string, number>()
    for (const { path } of receiver.received) copies.set(path, (copies.get(path) ?? 0) + 1)
    const doubled = [...copies.values()].filter((count) => count === 2).length
    expect(copies.size + dropped).toBe(120)
    expect(delivered).toBe(copies.size + doubled)
    expect(dropped).toBeGreaterThan(10)
    expect(doubled).toBeGreaterThan(25)
    expect(doubled).toBeLessThan(copies.size)
  })

  it('that are late wait, and can be sent at once on request', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ callbacks: 'late=10%@1000s' })
    const posts = await submitMany(sandbox, receiver, 120)
    await expect.poll(async () => (await sandbox.callbacks('delivered')).length).toBeGreaterThan(90)
    const late = await sandbox.callbacks('pending')
    expect(late.length).toBeGreaterThan(3)
    expect(late.every(({ timing }) => timing === 'late')).toBe(true)
    await sandbox.sendPendingCallbacks()
    await sandbox.waitForCallbacks()
    expect(new Set(receiver.received.map(({ body }) => body['post_id']))).toEqual(new Set(posts))
  })

  it('come in another order than the tasks if they are shuffled', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ callbacks: 'shuffle=50ms' })
    const posts = Array.from({ length: 30 }, (_, i) => `p-${i}`)
    for (const post of posts) await submit(sandbox, receiver, post)
    await sandbox.waitForCallbacks()
    const order = receiver.received.map(({ body }) => body['post_id'])
    expect(order).not.toEqual(posts)
    expect(order.toSorted()).toEqual(posts.toSorted())
  })

  it('are refused if too many wait', async () => {
    const options: SandboxOptions = { callbacks: 'late=100%@1000s', maxPendingCallbacks: 2 }
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox(options)
    await submit(sandbox, receiver, 'a')
    await submit(sandbox, receiver, 'b')
    const refused = await submit(sandbox, receiver, 'c')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(JSON.parse(refused.text).error_code).toBe('CALLBACK_QUEUE_FULL')
    expect((await sandbox.findPost('c')).task).toBeNull()
    await sandbox.sendPendingCallbacks()
    await sandbox.waitForCallbacks()
    expect((await submit(sandbox, receiver, 'c')).status).toBe(200)
  })

  it('can be deleted', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ callbacks: 'late=100%@1000s' })
    await submit(sandbox, receiver, 'a')
    await sandbox.admin('DELETE', '/callbacks')
    await sandbox.sendPendingCallbacks()
    await submit(sandbox, receiver, 'b')
    await sandbox.sendPendingCallbacks()
    await sandbox.waitForCallbacks()
    expect(receiver.received.map(({ body }) => body['post_id'])).toEqual(['b'])
  })

  it('that wait are stored in a store file, and go out after a restart', async () => {
    const databaseFile = join(createTemporaryFolder(), 'sandbox.sqlite')
    const receiver = await withCallbackReceiver()
    const first = await withSandbox({ databaseFile, callbacks: 'late=50%@1000s' })
    const posts = await submitMany(first, receiver, 40)
    const findTimings = async () => new Set((await first.callbacks('pending')).map(({ timing }) => timing))
    await expect.poll(findTimings).toEqual(new Set(['late']))
    const pending = await first.callbacks('pending')
    await first.close()
    expect(pending.length).toBeGreaterThan(5)

    const second = await withSandbox({ databaseFile })
    expect((await second.stats()).callbacks).toMatchObject({ pending: pending.length })
    await second.sendPendingCallbacks()
    expect(await second.waitForCallbacks()).toMatchObject({ delivered: 40 })
    expect(receiver.received.map(({ body }) => body['post_id']).sort()).toEqual(posts.toSorted())
  })
})

describe('a fault of an async task', () => {
  it('after it was stored loses the acknowledgement, but the callback comes', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ faults: ['reset-after=100%,tries=1'] })
    await expect(submit(sandbox, receiver, 'p')).rejects.toThrow()
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 1 })
    expect(receiver.received[0]?.body).toMatchObject({ post_id: 'p' })
    expect((await submit(sandbox, receiver, 'p')).status).toBe(400)
  })

  it('before it was stored prevents the callback', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ faults: ['reset-before=100%,tries=1'] })
    await expect(submit(sandbox, receiver, 'p')).rejects.toThrow()
    expect(await sandbox.callbacks()).toEqual([])
    expect((await submit(sandbox, receiver, 'p')).status).toBe(200)
    expect(await sandbox.waitForCallbacks()).toMatchObject({ delivered: 1 })
  })
})
