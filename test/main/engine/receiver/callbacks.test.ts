import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { toCallbackPath } from '../../../../src/main/engine/receiver/addresses.ts'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { openSocket, readAnswer, requestRaw, sendRaw } from '../../../helpers/raw-http.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { spawnReceiver } from './spawn-receiver.ts'
import { createManualClock, postCallback, startTestReceiver } from './with-receiver.ts'

describe('the callback receiver', () => {
  it('stores each callback with its item, its time and its unchanged body', async () => {
    const test = await startTestReceiver({}, createManualClock())
    const body = ' {"task_id": "a",\n "ü": 1} '
    expect(await postCallback(test.toUrl('run-1', 17), body)).toBe(200)
    expect(test.read('run-1')).toEqual([{ id: 1, item: 17, receivedAtUs: 1_800_000_000_000_000, body }])
    expect(test.counts()).toEqual({ received: 1, refused: {} })
  })

  it('keeps duplicates and callbacks of unknown runs for the reader to judge', async () => {
    const test = await startTestReceiver()
    const urls = [test.toUrl('run-1', 1), test.toUrl('run-1', 1), test.toUrl('of-another-time', 1)]
    expect(await Promise.all(urls.map((url) => postCallback(url)))).toEqual([200, 200, 200])
    expect(test.read('run-1')).toHaveLength(2)
    expect(test.read('of-another-time')).toHaveLength(1)
  })

  it('accepts a body of any type, in pieces, behind any path and query', async () => {
    const test = await startTestReceiver()
    const path = toCallbackPath(test.secret, { runToken: 'run-1', item: 1 })
    const send = (headers: Record<string, string>, target = path) =>
      requestRaw(test.baseUrl, 'POST', target, headers, '{"a":1}')
    const answers = await Promise.all([
      send({ 'content-type': 'text/plain' }),
      send({ 'content-type': 'no type at all' }),
      send({ 'content-type': 'application/x-www-form-urlencoded' }),
      send({}, `/hooks${path}?attempt=2`),
      send({}, `http://example.com${path}`),
      sendRaw(
        test.baseUrl,
        `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n` +
          '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
      ),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(new Set(test.read('run-1').map(({ body }) => body))).toEqual(new Set(['{"a":1}']))
  })

  it('accepts a list of JSON objects, since a v2 result may be one', async () => {
    const test = await startTestReceiver()
    expect(await postCallback(test.toUrl('run-1', 1), '[{"post_id":"p1","triggered_rules":[]}]')).toBe(200)
    expect(test.counts()).toEqual({ received: 1, refused: {} })
  })

  it('keeps a body that is neither a JSON object nor a list of them as evidence, and tells its sender', async () => {
    const test = await startTestReceiver()
    const bodies = ['', 'null', '[1]', '"text"', '{"cut": "of', '<html>', '\ufeff{"fine":true}']
    const statuses: number[] = []
    for (const [i, body] of bodies.entries())
      statuses.push(await postCallback(test.toUrl('run-1', i + 1), body))
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 200])
    expect(test.read('run-1').map(({ body }) => body)).toEqual([...bodies.slice(0, -1), '{"fine":true}'])
    expect(test.counts()).toEqual({ received: 7, refused: { malformed: 6 } })
  })

  it('answers a callback only after it is on disk, so that none is lost with the process', async () => {
    const workspace = createTemporaryFolder()
    const child = await spawnReceiver(workspace)
    let answered = 0
    const post = async (item: number): Promise<void> => {
      const path = toCallbackPath(child.secret, { runToken: 'run-1', item })
      if ((await postCallback(`${child.baseUrl}${path}`)) === 200) answered += 1
      if (answered === 40) child.kill()
    }
    await Promise.allSettled(Array.from({ length: 150 }, (_, i) => post(i + 1)))
    await child.exited
    const test = await startTestReceiver({ workspace })
    expect(test.secret).toBe(child.secret)
    expect(test.baseUrl).toBe(child.baseUrl)
    expect(answered).toBeGreaterThanOrEqual(40)
    expect(test.read('run-1').length).toBeGreaterThanOrEqual(answered)
    expect(test.counts().received).toBe(test.read('run-1').length)
    // No id is reused, although the killed process had not written its counters.
    expect(await postCallback(test.toUrl('run-1', 1))).toBe(200)
    expect(test.read('run-1').map(({ id }) => id)).toEqual(
      Array.from({ length: test.counts().received }, (_, i) => i + 1),
    )
  })

  it('answers a check of its presence', async () => {
    const test = await startTestReceiver()
    const response = await fetch(`${test.baseUrl}/health`)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
    expect(test.counts()).toEqual({ received: 0, refused: {} })
  })

  it('finishes requests under way when it is closed', async () => {
    const test = await startTestReceiver()
    const path = toCallbackPath(test.secret, { runToken: 'run-1', item: 1 })
    const socket = await openSocket(test.baseUrl)
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\nexpect: 100-continue\r\n\r\n`)
    expect(String(await once(socket, 'data'))).toContain('100 Continue')
    const closed = test.receiver.close()
    const answer = readAnswer(socket)
    socket.write('{"a":1}')
    expect((await answer).status).toBe(200)
    await closed
    expect(test.read('run-1')).toHaveLength(1)
  })
})

it('stores callbacks without known secrets, including those that become known later', async () => {
  const apiKey = (value: string) =>
    ApiKey.create(value, { baseUrl: 'https://api.test' }, 'of the test').seal()
  const { receiver, toUrl, read } = await startTestReceiver({ secrets: [apiKey('the-first-key')] })
  const post = (item: number, body: unknown) =>
    fetch(toUrl('run-1', item), { method: 'POST', body: JSON.stringify(body) })
  const body = { first: 'the-first-key', second: ['the-second-key'] }
  expect((await post(1, body)).status).toBe(200)
  receiver.guard([apiKey('the-second-key')])
  expect((await post(2, body)).status).toBe(200)
  expect(read('run-1').map((callback) => callback.body)).toEqual([
    '{"first":"[redacted]","second":["the-second-key"]}',
    '{"first":"[redacted]","second":["[redacted]"]}',
  ])
})
