import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Server } from 'node:net'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InboxReader } from '../../../../src/main/engine/receiver/inbox.ts'
import type { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { requestRaw } from '../../../helpers/raw-http.ts'
import { startTestReceiver, type TestReceiver } from './with-receiver.ts'

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A proxy in front of the receiver, or a program in its place. */
async function startFront(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`
}

/** Forwards requests as a reverse proxy does. */
function handOn(test: TestReceiver, change: (path: string) => string = (path) => path): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = []
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', async () => {
        const body = Buffer.concat(chunks).toString()
        const answer = await requestRaw(test.baseUrl, 'POST', change(request.url ?? ''), {}, body)
        response.writeHead(answer.status).end(answer.body)
      })
  }
}

async function failWith(test: TestReceiver, publicUrl: string): Promise<SluiceError> {
  return test.receiver.selfTest(publicUrl).then(
    () => Promise.reject(new Error('the self-test went well')),
    (error: SluiceError) => {
      expect(error.code).toBe('RECEIVER_UNAVAILABLE')
      expect(error.message).toContain(publicUrl)
      return error
    },
  )
}

describe('the self-test of a public address', () => {
  it('succeeds directly, through a proxy, and through one that keeps its prefix', async () => {
    const test = await startTestReceiver()
    const proxied: (string | undefined)[] = []
    const proxy = handOn(test)
    const front = await startFront((request, response) => {
      proxied.push(request.url)
      proxy(request, response)
    })
    for (const publicUrl of [test.baseUrl, `${front}/`, `${front}/hooks/sluice`]) {
      await expect(test.receiver.selfTest(publicUrl)).resolves.toMatchObject({ status: 200 })
    }
    expect(proxied).toEqual([
      expect.not.stringContaining('/hooks/sluice'),
      expect.stringMatching(/^\/hooks\/sluice\//),
    ])
  })

  it('leaves nothing behind', async () => {
    const test = await startTestReceiver()
    await test.receiver.selfTest(test.baseUrl)
    expect(test.counts()).toEqual({ received: 0, refused: {} })
    const reader = new InboxReader(test.workspace)
    onTestFinished(() => reader.close())
    expect(reader.readRunTokens()).toEqual([])
  })

  it('waits for a relay that answers first and forwards later', async () => {
    const test = await startTestReceiver()
    const handedOn: Promise<unknown>[] = []
    const front = await startFront((request, response) => {
      request.resume().on('end', () => {
        response.on('close', () =>
          handedOn.push(requestRaw(test.baseUrl, 'POST', request.url ?? '', {}, '{}')),
        )
        response.writeHead(202).end('queued')
      })
    })
    await expect(test.receiver.selfTest(front)).resolves.toMatchObject({ status: 202 })
    expect(await Promise.all(handedOn)).toEqual([expect.objectContaining({ status: 200 })])
  })

  it('succeeds for a standby receiver too', async () => {
    const first = await startTestReceiver()
    const second = await startTestReceiver({ workspace: first.workspace })
    expect(second.standings.at(-1)?.role).toBe('standby')
    await expect(second.receiver.selfTest(first.baseUrl)).resolves.toMatchObject({ status: 200 })
  })

  it.each([
    [
      200,
      {},
      '<h1>Welcome</h1>',
      /did not arrive: it answered 200 "Welcome", but did not forward the callback within 1 s/,
      /forwards to the port/,
    ],
    [
      301,
      { location: 'https://example.com/' },
      '',
      /redirects \(301\) to https:\/\/example\.com\//,
      /http or https/,
    ],
    [401, {}, 'who are you?', /it answered 401 "who are you\?"/, /login/],
    [404, {}, 'no route', /did not arrive: it answered 404 "no route"/, /for every path/],
    [502, {}, 'Bad Gateway', /it answered 502/, /does not reach the receiver/],
    [500, {}, '', /did not arrive: it answered 500$/, /forwards POST requests/],
  ])('reports the answer: %i', async (status, headers, body, message, hint) => {
    // Only after a 200 does it wait: the callback may still come.
    const test = await startTestReceiver({ limits: { selfTestTimeoutMs: status === 200 ? 1_000 : 20_000 } })
    const front = await startFront((request, response) => {
      request.resume().on('end', () => response.writeHead(status, headers).end(body))
    })
    const error = await failWith(test, front)
    expect(error.message).toMatch(message)
    expect(error.hint).toMatch(hint)
  })

  it('reports an answer from another workspace', async () => {
    const [test, other] = [await startTestReceiver(), await startTestReceiver()]
    const error = await failWith(test, other.baseUrl)
    expect(error.message).toContain('it answered 404 "{"error":"there is no such address"}"')
    expect(error.hint).toContain('another workspace')
  })

  it('reports that nothing answers', async () => {
    const test = await startTestReceiver({ limits: { selfTestTimeoutMs: 60 } })
    const silent = await listen(createTcpServer((socket) => onTestFinished(() => void socket.destroy())))
    expect((await failWith(test, `http://127.0.0.1:${silent}`)).message).toContain(
      'did not answer within 0.06 s',
    )
    const rude = await listen(createTcpServer((socket) => socket.resetAndDestroy()))
    expect((await failWith(test, `http://127.0.0.1:${rude}`)).message).toContain('closed before an answer')
  })

  it('reports that nothing listens, the host is unknown, or the address is invalid', async () => {
    const test = await startTestReceiver()
    const url = test.baseUrl
    const other = await startTestReceiver()
    await test.receiver.close()
    expect((await failWith(other, url)).message).toContain('nothing listens there')
    expect((await failWith(other, `http://${'x'.repeat(64)}.invalid`)).message).toMatch(
      /host name is unknown/,
    )
    expect((await failWith(other, 'ftp://example.com')).message).toContain('not an http or https address')
    expect((await failWith(other, 'example.com:80')).message).toContain('not an http or https address')
  })

  it('reports that the certificate is not accepted', async () => {
    const test = await startTestReceiver()
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }])
    const port = await listen(createTlsServer({ key, cert }, (_request, response) => response.end()))
    const error = await failWith(test, `https://127.0.0.1:${port}`)
    expect(error.message).toContain('self-signed certificate')
    expect(error.hint).toContain('certificate')
  })
})
