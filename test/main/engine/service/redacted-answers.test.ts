import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { startFaultServer, toErrorAnswer, type WireRequest } from '../../../helpers/fault-server.ts'
import { bindTestKey, createTestClient, judgeTask, sendOver, TEST_KEY } from './send-task.ts'

const keyOf = ({ headers }: WireRequest) => headers['authorization'] ?? ''

describe('an answer that repeats the API key', () => {
  test('has it removed from its body and from everything read from it', async () => {
    const server = await startFaultServer({
      onRequest: (request, wire) =>
        wire.send(400, toErrorAnswer(400, 'BAD_KEY', `bad key ${keyOf(request)}`)),
    })
    const exchange = await sendOver(createTestClient(server.baseUrl))
    expect(JSON.stringify(exchange)).not.toContain(TEST_KEY)
    expect(judgeTask(exchange, server.baseUrl)).toMatchObject({
      errorCode: 'BAD_KEY',
      message: 'bad key token [redacted]',
    })
  })

  test('has it removed from its headers', async () => {
    const server = await startFaultServer({
      onRequest: (request, wire) =>
        wire.send(302, '{}', {
          'content-type': `text/${keyOf(request)}`,
          'retry-after': keyOf(request),
          location: `/login?key=${encodeURIComponent(keyOf(request))}`,
        }),
    })
    const exchange = await sendOver(createTestClient(server.baseUrl))
    expect(exchange).toMatchObject({ kind: 'answer', status: 302, contentType: 'text/token [redacted]' })
    expect(JSON.stringify(exchange)).not.toContain(TEST_KEY)
  })

  test('has it removed even if the key was switched before the answer came', async () => {
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        apiKey = bindTestKey(server.baseUrl, 'the-second-key')
        wire.send(400, toErrorAnswer(400, 'BAD_KEY', `${keyOf(request)}, not the-second-key`))
      },
    })
    let apiKey = bindTestKey(server.baseUrl)
    const client = createServiceClient({
      baseUrl: server.baseUrl,
      connection: { timeoutMs: 2_000 },
      readApiKey: () => apiKey,
      userAgent: 'sluice/test',
    })
    onTestFinished(() => client.destroy())
    const exchange = await sendOver(client)
    expect(exchange).toMatchObject({ body: expect.stringContaining('token [redacted], not [redacted]') })
  })

  test('has it removed even in chunks of one byte', async () => {
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        const text = JSON.stringify(toErrorAnswer(403, 'INVALID_API_KEY', keyOf(request)))
        const chunks = [...text].map((byte) => `1\r\n${byte}\r\n`).join('')
        wire.raw(`HTTP/1.1 403 No\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
      },
    })
    const exchange = await sendOver(createTestClient(server.baseUrl))
    expect(exchange).toMatchObject({ status: 403, body: expect.stringContaining('token [redacted]') })
    expect(JSON.stringify(exchange)).not.toContain(TEST_KEY)
  })
})

test("an answer that repeats a proxy's credentials has them removed, encoded or not", async () => {
  vi.stubEnv('TEST_PROXY_LOGIN', 'clerk:proxy-secret')
  const basic = Buffer.from('clerk:proxy-secret').toString('base64')
  const echoing = await startFaultServer({
    onRequest: (_, wire) => wire.send(400, toErrorAnswer(400, 'X', `Basic ${basic} is clerk:proxy-secret`)),
  })
  const way = { proxy: { url: echoing.baseUrl, credentialsEnv: 'TEST_PROXY_LOGIN' } }
  const exchange = await sendOver(createTestClient('http://moderation.test', 2_000, way))
  vi.unstubAllEnvs()
  expect(echoing.requests[0]?.headers['proxy-authorization']).toBe(`Basic ${basic}`)
  expect(exchange).toMatchObject({ status: 400, body: expect.stringContaining('[redacted]') })
  expect(JSON.stringify(exchange)).not.toContain('proxy-secret')
  expect(JSON.stringify(exchange)).not.toContain(basic.slice(4, -4))
})
