import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toMediaPath } from '../../../src/main/engine/receiver/addresses.ts'
import { readReceiverSettings } from '../../../src/main/engine/receiver/receiver-settings.ts'
import { indexAddPath } from '../../../src/shared/operations/index-add.ts'
import { indexRemovePath } from '../../../src/shared/operations/index-remove.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import {
  indexAddAcknowledgementSchema,
  indexAddResponseSchema,
  indexRemoveResponseSchema,
} from '../../helpers/answer-schemas.ts'
import { withCallbackReceiver } from '../../helpers/callback-receiver.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const INDEX = 'sandbox-index'
const ADD = indexAddPath({ indexId: INDEX, mode: 'sync' })
const ADD_ASYNC = indexAddPath({ indexId: INDEX, mode: 'async' })
const REMOVE = indexRemovePath({ indexId: INDEX, mode: 'sync' })
const REMOVE_ASYNC = indexRemovePath({ indexId: INDEX, mode: 'async' })
const IMAGE = 'https://example.com/cat.png'

async function add(sandbox: TestSandbox, item: Record<string, unknown>, path = ADD) {
  const answer = await sandbox.post(path, item)
  expect(answer.status).toBe(200)
  return indexAddResponseSchema.strict().parse(JSON.parse(answer.text))
}

async function refuse(sandbox: TestSandbox, path: string, body: unknown) {
  const answer = await sandbox.post(path, body)
  expect(answer.status).toBe(400)
  return serviceErrorSchema.parse(JSON.parse(answer.text)).error_code
}

let postNumber = 0
async function findMatches(sandbox: TestSandbox, url: string, index = INDEX) {
  postNumber += 1
  const task = { url, user_id: 'u', post_id: `p-${postNumber}`, models: ['visual', index] }
  const body = JSON.parse((await sandbox.post('/api/v2/task/sync', task)).text)
  return { matches: body.models[1].response.matches, rules: body.triggered_rules }
}

/**
 * Serves the last part of each path as content, so that `/a/cat` and `/b/cat` are equal. `toUrl` gives the
 * address that a run of the workspace gives to a file.
 */
async function serveMedia(answerSlowly = false) {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    const content = request.url?.split('/').at(-1) ?? ''
    if (answerSlowly) return
    if (content === 'moved') response.writeHead(302, { location: '/cat' }).end()
    else if (content === 'missing') response.writeHead(404).end('cat')
    else response.end(content.repeat(content === 'large' ? 1_000 : 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const url = `http://127.0.0.1:${port}`
  const mediaWorkspace = createTemporaryFolder()
  const { secret } = readReceiverSettings(mediaWorkspace)
  const toUrl = (path: string) => url + toMediaPath(secret, { runToken: 'run', path })
  return { url, mediaWorkspace, toUrl, requests: () => requests }
}

describe('adding to a custom index', () => {
  it('returns the id of the new item, which keeps its submitted fields', async () => {
    const sandbox = await withSandbox()
    const { custom_index_item_id } = await add(sandbox, {
      url: IMAGE,
      metadata: { source: 'a', nested: { n: 1 } },
      content_variant: 'avatar',
    })
    expect(await sandbox.indexItems(INDEX)).toEqual([
      {
        custom_index_item_id,
        url: IMAGE,
        content_hash: null,
        metadata: { source: 'a', nested: { n: 1 } },
        content_variant: 'avatar',
      },
    ])
    const { matches } = await findMatches(sandbox, IMAGE)
    expect(matches).toEqual([
      {
        custom_index_item_id,
        similarity: 1,
        metadata: { source: 'a', nested: { n: 1 } },
        content_variant: 'avatar',
      },
    ])
  })

  it('accepts media instead of url', async () => {
    const sandbox = await withSandbox()
    await add(sandbox, { media: IMAGE })
    await add(sandbox, { media: 'https://example.com/other.png', url: IMAGE })
    expect((await sandbox.indexItems(INDEX)).map(({ url }) => url)).toEqual([IMAGE, IMAGE])
  })

  it('the same item twice makes two items, with the same ids under the same seed', async () => {
    const addTwice = async () => {
      const sandbox = await withSandbox({ seed: 'again' })
      return [await add(sandbox, { url: IMAGE }), await add(sandbox, { url: IMAGE })]
    }
    const [first, second] = await addTwice()
    expect(first?.custom_index_item_id).not.toBe(second?.custom_index_item_id)
    expect(first?.task_id).not.toBe(second?.task_id)
    expect(await addTwice()).toEqual([first, second])
  })

  it.each([
    [{}, 'REQUIRE_AT_LEAST_ONE_PARAM'],
    [{ metadata: { a: 1 } }, 'REQUIRE_AT_LEAST_ONE_PARAM'],
    [{ url: 5 }, 'PARAM_REQUIRED'],
    [{ url: null }, 'PARAM_REQUIRED'],
    [{ url: IMAGE, metadata: 'text' }, 'PARAM_REQUIRED'],
    [{ url: IMAGE, content_variant: 1 }, 'PARAM_REQUIRED'],
    [[], 'PARAM_REQUIRED'],
    [{ url: 'nonsense' }, 'INVALID_PARAM'],
    [{ url: IMAGE, callback_url: 'nonsense' }, 'INVALID_PARAM'],
    ['', 'INVALID_JSON'],
  ])('%j is refused with %s', async (item, errorCode) => {
    const sandbox = await withSandbox()
    expect(await refuse(sandbox, ADD, item)).toBe(errorCode)
    expect(await sandbox.indexItems(INDEX)).toEqual([])
  })

  it('to an unknown index or without the key is refused', async () => {
    const sandbox = await withSandbox()
    const path = indexAddPath({ indexId: 'no/such index', mode: 'sync' })
    expect(await refuse(sandbox, path, { url: IMAGE })).toBe('INVALID_CUSTOM_INDEX')
    expect((await sandbox.post(ADD, { url: IMAGE }, { authorization: 'token wrong' })).status).toBe(403)
    expect((await sandbox.requests()).map(({ subject, outcome }) => `${subject} ${outcome}`)).toEqual([
      'no/such index rejected:INVALID_CUSTOM_INDEX',
      `${INDEX} rejected:INVALID_API_KEY`,
    ])
  })
})

describe('removing from a custom index', () => {
  it('removes the item', async () => {
    const sandbox = await withSandbox()
    const { custom_index_item_id } = await add(sandbox, { url: IMAGE })
    const answer = await sandbox.post(REMOVE, { custom_index_item_id })
    expect(answer.status).toBe(200)
    expect(indexRemoveResponseSchema.strict().parse(JSON.parse(answer.text))).toMatchObject({
      custom_index_item_id,
    })
    expect(await sandbox.indexItems(INDEX)).toEqual([])
    expect((await findMatches(sandbox, IMAGE)).matches).toEqual([])
    expect(await refuse(sandbox, REMOVE, { custom_index_item_id })).toBe('INVALID_CUSTOM_INDEX_ITEM')
  })

  it('without a known item in that index is refused', async () => {
    const sandbox = await withSandbox({ indexes: [INDEX, 'other'] })
    const { custom_index_item_id } = await add(sandbox, { url: IMAGE })
    const removeFrom = (indexId: string, body: unknown) =>
      refuse(sandbox, indexRemovePath({ indexId, mode: 'sync' }), body)
    expect(await removeFrom('other', { custom_index_item_id })).toBe('INVALID_CUSTOM_INDEX_ITEM')
    expect(await removeFrom('nowhere', { custom_index_item_id })).toBe('INVALID_CUSTOM_INDEX')
    expect(await removeFrom(INDEX, {})).toBe('PARAM_REQUIRED')
    expect(await removeFrom(INDEX, { custom_index_item_id: 7 })).toBe('PARAM_REQUIRED')
    expect(await removeFrom(INDEX, { custom_index_item_id: '' })).toBe('INVALID_PARAM')
    expect(await sandbox.indexItems(INDEX)).toHaveLength(1)
  })
})

describe('an async change of a custom index', () => {
  it('is acknowledged, and its callback has the body of the sync answer', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox()
    const answer = await sandbox.post(ADD_ASYNC, { url: IMAGE, callback_url: receiver.url })
    const acknowledged = indexAddAcknowledgementSchema.strict().parse(JSON.parse(answer.text))
    await sandbox.waitForCallbacks()
    const added = indexAddResponseSchema.strict().parse(receiver.received[0]?.body)
    expect(added.task_id).toBe(acknowledged.task_id)

    const { custom_index_item_id } = added
    const again = await sandbox.post(REMOVE_ASYNC, { custom_index_item_id, callback_url: receiver.url })
    const removal = indexRemoveResponseSchema.strict().parse(JSON.parse(again.text))
    expect(removal.custom_index_item_id).toBe(custom_index_item_id)
    await sandbox.waitForCallbacks()
    expect(indexRemoveResponseSchema.strict().parse(receiver.received[1]?.body)).toEqual({
      ...removal,
      message: expect.any(String),
    })
    expect(await sandbox.indexItems(INDEX)).toEqual([])
  })

  it('posts nothing without a callback_url, and never for sync', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox()
    expect((await sandbox.post(ADD_ASYNC, { url: IMAGE })).status).toBe(200)
    const { custom_index_item_id } = await add(sandbox, { url: IMAGE, callback_url: receiver.url })
    await sandbox.post(REMOVE, { custom_index_item_id, callback_url: receiver.url })
    expect(await sandbox.callbacks()).toEqual([])
    expect(await sandbox.indexItems(INDEX)).toHaveLength(1)
  })

  it('takes effect and is called back although its acknowledgement was lost', async () => {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox({ faults: ['reset-after=100%'] })
    await expect(sandbox.post(ADD_ASYNC, { url: IMAGE, callback_url: receiver.url })).rejects.toThrow()
    await sandbox.waitForCallbacks()
    const [item] = await sandbox.indexItems(INDEX)
    expect(receiver.received.map(({ body }) => body['custom_index_item_id'])).toEqual([
      item?.custom_index_item_id,
    ])
    expect(await sandbox.requests()).toMatchObject([
      { endpoint: 'index-add/async', outcome: 'fault:reset-after', request: { url: IMAGE } },
    ])
  })

  it('can be tried again after a fault prevented it', async () => {
    const sandbox = await withSandbox({ faults: ['503=100%,tries=2'] })
    const statuses: number[] = []
    for (const _ of [1, 2, 3]) statuses.push((await sandbox.post(ADD, { url: IMAGE })).status)
    expect(statuses).toEqual([503, 503, 200])
    expect(await sandbox.indexItems(INDEX)).toHaveLength(1)
  })
})

describe('the items of a custom index', () => {
  it('match equal media on this machine, whatever their address', async () => {
    const media = await serveMedia()
    const sandbox = await withSandbox({ mediaWorkspace: media.mediaWorkspace })
    await add(sandbox, { url: media.toUrl('a/cat') })
    const [item] = await sandbox.indexItems(INDEX)
    expect(item?.content_hash).toMatch(/^[0-9a-f]{64}$/)
    const { matches, rules } = await findMatches(sandbox, media.toUrl('b/cat'))
    expect(matches).toHaveLength(1)
    expect(rules.map((rule: { rule_id: string }) => rule.rule_id)).toContain('rule-index')
    expect((await findMatches(sandbox, media.toUrl('b/dog'))).matches).toEqual([])
  })

  it('match by address if the media cannot be fetched', async () => {
    const media = await serveMedia()
    const sandbox = await withSandbox({ mediaLimitBytes: 1_000, mediaWorkspace: media.mediaWorkspace })
    for (const name of ['moved', 'missing', 'large']) {
      await add(sandbox, { url: media.toUrl(`a/${name}`) })
      expect((await findMatches(sandbox, media.toUrl(`a/${name}`))).matches).toHaveLength(1)
      expect((await findMatches(sandbox, media.toUrl(`b/${name}`))).matches).toEqual([])
    }
    expect((await sandbox.indexItems(INDEX)).every((item) => item.content_hash === null)).toBe(true)
  })

  it('are added although their media hangs', async () => {
    const media = await serveMedia(true)
    const sandbox = await withSandbox({ mediaTimeoutMs: 20, mediaWorkspace: media.mediaWorkspace })
    await add(sandbox, { url: media.toUrl('cat') })
    expect(await sandbox.indexItems(INDEX)).toMatchObject([{ content_hash: null }])
  })

  it('have their media fetched for the index only, and only by a sandbox limited to this machine', async () => {
    const media = await serveMedia()
    const { mediaWorkspace } = media
    const sandbox = await withSandbox({ host: '0.0.0.0', mediaWorkspace })
    const post = (path: string, body: unknown) =>
      fetch(`http://127.0.0.1:${sandbox.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `token ${sandbox.key}` },
        body: JSON.stringify(body),
      })
    expect((await post(ADD, { url: media.toUrl('cat') })).status).toBe(200)
    expect(media.requests()).toBe(0)

    const local = await withSandbox({ mediaWorkspace })
    await local.post('/api/v2/task/sync', { url: media.toUrl('cat'), user_id: 'u', post_id: 'p' })
    await local.post('/api/v1/task/sync', { url: media.toUrl('cat'), user_id: 'u', post_id: 'q' })
    expect(media.requests()).toBe(0)
  })
})

describe('an address that a row names', () => {
  it('reaches no service of this machine or its network except the media that a run of the workspace serves', async () => {
    const media = await serveMedia()
    const { mediaWorkspace, url } = media
    const other = createTemporaryFolder()
    const foreign = toMediaPath(readReceiverSettings(other).secret, { runToken: 'run', path: 'cat' })
    const { port } = new URL(url)
    const urls = [
      ...['/cat', '/media/run/AAAAAAAAAAAAAAAAAAAAAA/cat', foreign].map((path) => url + path),
      media.toUrl('cat').replace(/cat$/, 'dog'),
      media
        .toUrl('cat')
        .replace('127.0.0.1', '127.1')
        .replace(/media.run/, 'media/other'),
      ...['localhost', '127.1', '2130706433', '0x7f.1', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]'].map(
        (host) => `http://${host}:${port}/cat`,
      ),
      // Names that resolve to this machine, and addresses of its network.
      ...['127.0.0.1.nip.io', 'rebound.invalid', '10.0.0.1', '169.254.169.254', 'metadata.invalid'].map(
        (host) => `http://${host}:${port}${new URL(media.toUrl('cat')).pathname}`,
      ),
    ]
    for (const sandbox of [await withSandbox({ mediaWorkspace }), await withSandbox()]) {
      for (const one of urls) {
        await add(sandbox, { url: one })
        expect((await findMatches(sandbox, one)).matches, one).toHaveLength(1)
      }
      expect((await sandbox.indexItems(INDEX)).filter((item) => item.content_hash !== null)).toEqual([])
    }
    expect(media.requests()).toBe(0)
    const sandbox = await withSandbox({ mediaWorkspace: other })
    await add(sandbox, { url: media.toUrl('cat') })
    expect(media.requests()).toBe(0)
  })

  it('is not followed beyond the media it names', async () => {
    const media = await serveMedia()
    const sandbox = await withSandbox({ mediaWorkspace: media.mediaWorkspace })
    await add(sandbox, { url: media.toUrl('a/moved') })
    expect(media.requests()).toBe(1)
  })
})

describe('custom indexes', () => {
  it('are listed, replaced and removed by the admin routes', async () => {
    const sandbox = await withSandbox({ indexes: ['first'] })
    const items = [
      { url: IMAGE, custom_index_item_id: 'one' },
      { url: 'https://example.com/b', metadata: { b: 1 } },
    ]
    expect((await sandbox.admin('PUT', '/indexes/second', { items })).body).toEqual({
      custom_index_id: 'second',
      total: 2,
    })
    expect((await sandbox.admin('GET', '/indexes')).body).toEqual({
      indexes: [
        { custom_index_id: 'first', items: 0 },
        { custom_index_id: 'second', items: 2 },
      ],
    })
    expect((await findMatches(sandbox, IMAGE, 'second')).matches).toMatchObject([
      { custom_index_item_id: 'one' },
    ])
    expect((await sandbox.admin('GET', '/indexes/second?offset=1')).body).toMatchObject({
      items: [{ metadata: { b: 1 } }],
    })
    await sandbox.admin('PUT', '/indexes/second', { items: [] })
    expect(await sandbox.indexItems('second')).toEqual([])
    expect((await sandbox.admin('DELETE', '/indexes/second')).status).toBe(200)
    expect((await sandbox.admin('DELETE', '/indexes/second')).status).toBe(404)
    expect((await sandbox.admin('GET', '/indexes/second')).status).toBe(404)
    expect((await sandbox.admin('PUT', '/indexes/first', { items: [{ url: 'x' }] })).status).toBe(400)
  })
})
