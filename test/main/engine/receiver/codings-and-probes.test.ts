import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { toCallbackPath } from '../../../../src/main/engine/receiver/addresses.ts'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { requestRaw } from '../../../helpers/raw-http.ts'
import { startTestReceiver, type TestReceiver } from './with-receiver.ts'

const RESULT = '{"task_id":"t1","triggered_rules":[]}'

function toPath({ secret }: TestReceiver): string {
  return toCallbackPath(secret, { runToken: 'run-1', item: 1 })
}

function post(test: TestReceiver, body: Uint8Array, coding: string) {
  return fetch(test.toUrl('run-1', 1), {
    method: 'POST',
    headers: { 'content-encoding': coding },
    body: Buffer.from(body),
  })
}

describe('a callback with a content coding', () => {
  it.each([
    ['gzip', gzipSync(RESULT)],
    ['x-gzip', gzipSync(RESULT)],
    ['deflate', deflateSync(RESULT)],
    ['deflate', deflateRawSync(RESULT)],
    ['br', brotliCompressSync(RESULT)],
    ['zstd', zstdCompressSync(RESULT)],
    ['deflate, gzip', gzipSync(deflateSync(RESULT))],
    ['identity', Buffer.from(RESULT)],
  ])('is stored as decoded text (%s)', async (coding, body) => {
    const test = await startTestReceiver()
    expect((await post(test, body, coding)).status).toBe(200)
    expect(test.read('run-1').map((callback) => callback.body)).toEqual([RESULT])
    expect(test.counts()).toEqual({ received: 1, refused: {} })
  })

  it('is refused with 415 and the supported codings if it has another, and leaves a note with its row', async () => {
    const test = await startTestReceiver()
    const answer = await post(test, Buffer.from(RESULT), 'exi')
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate, br, zstd'])
    expect(test.read('run-1').map((callback) => callback.body)).toEqual([
      'Sluice refused this callback: its body has the content coding "exi", which Sluice cannot decode',
    ])
    expect(test.counts()).toEqual({ received: 1, refused: { unknown_coding: 1 } })
  })

  it('is refused with 400 if it is damaged, and leaves a note with its row', async () => {
    const test = await startTestReceiver()
    const whole = gzipSync(RESULT)
    const bodies = [whole.subarray(0, whole.length - 3), Buffer.from(RESULT)]
    const statuses: number[] = []
    for (const body of bodies) statuses.push((await post(test, body, 'gzip')).status)
    expect(statuses).toEqual([400, 400])
    expect(new Set(test.read('run-1').map((callback) => callback.body))).toEqual(
      new Set(['Sluice refused this callback: its body is not valid gzip: it is damaged or cut']),
    )
    expect(test.counts()).toEqual({ received: 2, refused: { malformed: 2 } })
  })

  it('is refused with 413 if its text is over the size limit or grows too much, and leaves a note', async () => {
    const test = await startTestReceiver({ limits: { maxBytes: 4 * 1024 * 1024 } })
    const overLimit = gzipSync(Buffer.alloc(5 * 1024 * 1024, 'x'), { level: 1 })
    const bomb = gzipSync(Buffer.alloc(3 * 1024 * 1024, '0'))
    expect((await post(test, overLimit, 'gzip')).status).toBe(413)
    expect((await post(test, bomb, 'gzip')).status).toBe(413)
    expect(test.read('run-1').map((callback) => callback.body)).toEqual([
      'Sluice refused this callback: its body is larger than 4 MiB when decoded (gzip)',
      'Sluice refused this callback: its body grows more than 200 times when decoded (gzip)',
    ])
    expect(test.counts()).toEqual({ received: 2, refused: { oversized: 2 } })
  })

  it.each([
    ['application/json; charset=iso-8859-1', 'latin1', '{"task_id":"größe"}'],
    ['application/json; charset=utf-16', 'utf16le', '{"task_id":"größe"}'],
    ['application/json', 'utf16le', '{"task_id":"größe"}'],
    ['application/json; charset=utf-8', 'utf8', '{"task_id":"größe"}'],
  ] as const)('is stored as UTF-8 whatever its charset (%s, %s)', async (type, charset, text) => {
    const test = await startTestReceiver()
    const headers = { 'content-type': type, 'content-encoding': 'gzip' }
    const body = gzipSync(Buffer.from(text, charset))
    const answer = await fetch(test.toUrl('run-1', 1), { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    expect(test.read('run-1').map((callback) => callback.body)).toEqual([text])
  })

  it('is stored without the secrets in its text', async () => {
    const key = ApiKey.create('the-first-key', { baseUrl: 'https://api.test' }, 'of the test').seal()
    const test = await startTestReceiver({ secrets: [key] })
    await post(test, gzipSync('{"task_id":"the-first-key"}'), 'gzip')
    expect(test.read('run-1').map((callback) => callback.body)).toEqual(['{"task_id":"[redacted]"}'])
  })
})

describe('the address of a callback', () => {
  it('answers HEAD and GET with 200, counts them, and stores nothing', async () => {
    const test = await startTestReceiver()
    const answers = await Promise.all(
      ['HEAD', 'GET', 'GET'].map((method) => requestRaw(test.baseUrl, method, toPath(test))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(test.read('run-1')).toEqual([])
    expect(test.counts()).toEqual({ received: 0, refused: {}, probes: 3 })
  })

  it('stays unknown to HEAD and GET if it was never given out', async () => {
    const test = await startTestReceiver()
    const path = toPath(test).replace('/1/', '/2/')
    const answers = await Promise.all(['HEAD', 'GET'].map((method) => requestRaw(test.baseUrl, method, path)))
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(test.counts()).toEqual({ received: 0, refused: { forged: 2 } })
  })

  it('is the same with trailing or doubled slashes', async () => {
    const test = await startTestReceiver()
    const path = toPath(test)
    const paths = [`${path}/`, `${path}//?try=2`, `/${path}`, path.replaceAll('/', '//')]
    const answers = await Promise.all(paths.map((one) => requestRaw(test.baseUrl, 'POST', one, {}, RESULT)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(test.read('run-1').map(({ item, body }) => [item, body])).toEqual(paths.map(() => [1, RESULT]))
  })
})
