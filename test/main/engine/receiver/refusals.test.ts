import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toCallbackPath, toMediaPath } from '../../../../src/main/engine/receiver/addresses.ts'
import { toInboxFile } from '../../../../src/main/engine/receiver/inbox.ts'
import { openSocket, type RawAnswer, readAnswer, requestRaw, sendRaw } from '../../../helpers/raw-http.ts'
import { postCallback, startTestReceiver, type TestReceiver } from './with-receiver.ts'

function toPath({ secret }: TestReceiver, item = 1): string {
  return toCallbackPath(secret, { runToken: 'run-1', item })
}

/** Expects the receiver to still take callbacks. */
async function expectAlive(test: TestReceiver): Promise<void> {
  expect(await postCallback(test.toUrl('alive', 1))).toBe(200)
}

describe('a request that the receiver cannot take', () => {
  it('is 404 and counted as forged if its address was never given out', async () => {
    const test = await startTestReceiver()
    const known = toPath(test)
    const paths = [
      known.replace('/1/', '/2/'),
      known.replace('run-1', 'run-2'),
      `${known.slice(0, -22)}${'A'.repeat(22)}`,
      `${known}/..`,
      '/callback/run-1/1',
      '/callback/run-1/1/',
      '/callback/%',
      `/callback/run-1/1/${'x'.repeat(9_000)}`,
      '/',
      '//',
      '/wp-login.php',
      '*',
    ]
    const answers: RawAnswer[] = []
    for (const path of paths) answers.push(await requestRaw(test.baseUrl, 'POST', path, {}, '{"a":1}'))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404))
    // All answers are the same, so that guessing reveals nothing.
    expect(new Set(answers.map(({ body }) => String(body))).size).toBe(1)
    expect(test.read('run-1')).toEqual([])
    expect(test.counts()).toEqual({ received: 0, refused: { forged: paths.length } })
    await expectAlive(test)
  })

  it('is 405 if only its method is wrong', async () => {
    const test = await startTestReceiver()
    const media = toMediaPath(test.secret, { runToken: 'run-1', path: 'a.jpg' })
    const answers = await Promise.all([
      ...['PATCH', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) =>
        requestRaw(test.baseUrl, method, toPath(test)),
      ),
      requestRaw(test.baseUrl, 'POST', media),
    ])
    expect(answers.map(({ status }) => status)).toEqual([405, 405, 405, 405, 405, 405])
    expect(answers.map(({ headers }) => headers['allow'])).toEqual([
      ...Array(5).fill('GET, HEAD, POST'),
      'GET, HEAD',
    ])
    expect(test.counts().refused).toEqual({ wrong_method: 6 })
  })

  it('is 413 if its body is too large, whether or not it says so, and leaves a note with its row', async () => {
    const test = await startTestReceiver({ limits: { maxBytes: 1_000 } })
    const fits = JSON.stringify({ a: 'x'.repeat(992) })
    expect(await postCallback(test.toUrl('run-1', 1), fits)).toBe(200)
    expect(await postCallback(test.toUrl('run-1', 1), `${fits} `)).toBe(413)
    const chunked =
      `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n` +
      `200\r\n${'x'.repeat(512)}\r\n`.repeat(4) +
      '0\r\n\r\n'
    expect((await sendRaw(test.baseUrl, chunked)).status).toBe(413)
    expect(test.counts()).toEqual({ received: 3, refused: { oversized: 2 } })
    const note = 'Sluice refused this callback: it has more than 1.0 kB, the limit of the receiver'
    expect(test.read('run-1').map(({ body }) => body)).toEqual([fits, note, note])
  })

  it('can read its answer while it is still sending', async () => {
    const test = await startTestReceiver({ limits: { maxBytes: 1_000 } })
    expect(await postCallback(test.toUrl('run-1', 1), 'x'.repeat(4_000_000))).toBe(413)
    await expectAlive(test)
  })

  it('is cut off if its head or its body comes too slowly', async () => {
    const limits = { headTimeoutMs: 20, requestTimeoutMs: 60, checkEveryMs: 10 }
    const test = await startTestReceiver({ limits })
    const answers = await Promise.all([
      sendRaw(test.baseUrl, `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\n`),
      sendRaw(test.baseUrl, `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"a"`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([408, 408])
    // A connection that never sends anything is cut off too, and is not counted as a request.
    expect((await readAnswer(await openSocket(test.baseUrl))).status).toBe(408)
    expect(test.read('run-1')).toEqual([])
    expect(test.counts()).toEqual({ received: 0, refused: { slow: 2 } })
    await expectAlive(test)
  })

  it('is counted if its sender breaks off', async () => {
    const test = await startTestReceiver()
    const socket = await openSocket(test.baseUrl)
    socket.write(
      `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n{"a"`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resetAndDestroy()
    await expect.poll(() => test.counts().refused).toEqual({ broken: 1 })
    expect(test.read('run-1')).toEqual([])
    await expectAlive(test)
  })

  it('is answered 400 if it is not HTTP', async () => {
    const test = await startTestReceiver()
    const requests = [
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'SSH-2.0-OpenSSH_9.9\r\n\r\n',
      `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n`,
      `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`,
      `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ]
    const answers = await Promise.all(requests.map((request) => sendRaw(test.baseUrl, request)))
    expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 400))
    expect(test.counts().refused).toEqual({ bad_request: requests.length })
    await expectAlive(test)
  })

  it('is 503 with Retry-After above the limit, and the others are kept', async () => {
    const test = await startTestReceiver({ limits: { maxWaiting: 10 } })
    // On one connection, so that all arrive before the first is committed.
    const requests = Array.from({ length: 30 }, (_, i) => {
      const last = i === 29 ? 'connection: close\r\n' : ''
      return `POST ${toPath(test, i + 1)} HTTP/1.1\r\nhost: x\r\n${last}content-length: 2\r\n\r\n{}`
    })
    const answer = await sendRaw(test.baseUrl, requests.join(''))
    const all = `HTTP/1.1 ${answer.status} OK${String(answer.body)}`
    expect(all.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(10)
    expect(all.match(/HTTP\/1\.1 503 Service Unavailable\r\nretry-after: 1\r\n/g)).toHaveLength(20)
    expect(test.read('run-1').map(({ item }) => item)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(test.counts()).toEqual({ received: 10, refused: { overloaded: 20 } })
    await expectAlive(test)
  })

  it('is 503 while bodies under way use up all the room', async () => {
    const test = await startTestReceiver({ limits: { maxBytes: 1_000, maxWaitingBytes: 1_500 } })
    const first = await openSocket(test.baseUrl)
    const head = `POST ${toPath(test)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000\r\n`
    const body = JSON.stringify({ a: 'x'.repeat(992) })
    first.write(`${head}expect: 100-continue\r\n\r\n${body.slice(0, -1)}`)
    await new Promise((resolve) => first.once('data', resolve))
    expect(await postCallback(test.toUrl('run-1', 2), body)).toBe(503)
    expect(await postCallback(test.toUrl('run-1', 2), '{"small":1}')).toBe(200)
    const answer = readAnswer(first)
    first.write(body.slice(-1))
    expect((await answer).status).toBe(200)
    expect(await postCallback(test.toUrl('run-1', 2), body)).toBe(200)
  })

  it('is 503 if the disk rejects it, and accepted when it works again', async () => {
    const test = await startTestReceiver()
    const intruder = new DatabaseSync(toInboxFile(test.workspace))
    onTestFinished(() => intruder.close())
    intruder.exec("CREATE TRIGGER full BEFORE INSERT ON callback BEGIN SELECT RAISE(ROLLBACK, 'full'); END")
    const answer = await requestRaw(test.baseUrl, 'POST', toPath(test), {}, '{}')
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '10'])
    intruder.exec('DROP TRIGGER full')
    await expectAlive(test)
    expect(test.counts()).toEqual({ received: 1, refused: { unstored: 1 } })
  })

  it('is closed if there are too many connections', async () => {
    const test = await startTestReceiver({ limits: { maxConnections: 2 } })
    const open = await Promise.all([openSocket(test.baseUrl), openSocket(test.baseUrl)])
    expect((await readAnswer(await openSocket(test.baseUrl))).status).toBe(0)
    expect(test.counts().refused).toEqual({ overloaded: 1 })
    for (const socket of open) socket.destroy()
    await expect.poll(() => postCallback(test.toUrl('alive', 1)).catch(() => 0)).toBe(200)
  })

  it('causes no error in the receiver, whatever its content', async () => {
    const test = await startTestReceiver()
    const path = toPath(test)
    const requests = [
      `CONNECT ${path} HTTP/1.1\r\nhost: x\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n`,
      `POST ${path} HTTP/1.0\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nconnection: close\r\nexpect: nothing\r\n\r\n`,
      `QUERY ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
      `GET /media/run-1/${'x'.repeat(22)}/%00 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999999999999999\r\n\r\n`,
    ]
    for (const request of requests) {
      const answer = await sendRaw(test.baseUrl, request)
      expect(answer.status, request).toBeLessThan(500)
    }
    await expectAlive(test)
  })
})
