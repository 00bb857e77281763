import { writeFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ProxyCredentials, readProxyCredentials } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { createServiceClients } from '../../../../src/main/engine/service/service-client.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import {
  findClosedPort,
  startFaultServer,
  toTaskAnswer,
  type Wire,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { startProxy } from '../../../helpers/proxy-server.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { waitFor } from '../../../helpers/wait-for.ts'
import { bindTestKey, createTestClient, sendOver, sendTask, TEST_KEY } from './send-task.ts'

const SECRET = 'clerk:proxy-secret'
const NOT_TAKEN = { outcome: 'failed', repeat: 'safe', reached: false, status: null } as const
const answerTask = (request: WireRequest, wire: Wire): void => wire.send(200, toTaskAnswer(request))

function setCredentials(value: string): void {
  vi.stubEnv('TEST_PROXY_LOGIN', value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

async function startTlsService() {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const caFile = join(createTemporaryFolder(), 'ca.pem')
  writeFileSync(caFile, tls.cert)
  return { server: await startFaultServer({ tls, onRequest: answerTask }), caFile, tls }
}

test('https goes through a tunnel of the proxy, which sees the host and never the key', async () => {
  const { server, caFile } = await startTlsService()
  const proxy = await startProxy()
  const way = { tls: { caFile }, proxy: { url: proxy.url } }
  const { exchange, judgement } = await sendTask(server.baseUrl, { way })
  expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: 'task-post-1' })
  expect(proxy.requests).toEqual([
    { method: 'CONNECT', target: `127.0.0.1:${server.port}`, headers: expect.anything() },
  ])
  expect(JSON.stringify(proxy.requests)).not.toContain(TEST_KEY)
  expect(server.requests[0]?.headers['authorization']).toBe(`token ${TEST_KEY}`)
  expect(exchange.timings.connectUs).toBeGreaterThan(0)
  expect(exchange.timings.tlsUs).toBeGreaterThan(0)
})

test('consecutive requests share one tunnel', async () => {
  const { server, caFile } = await startTlsService()
  const proxy = await startProxy()
  const client = createTestClient(server.baseUrl, 2_000, { tls: { caFile }, proxy: { url: proxy.url } })
  for (const postId of ['p1', 'p2', 'p3']) expect((await sendOver(client, postId)).kind).toBe('answer')
  expect(proxy.requests).toHaveLength(1)
  expect(server.connections).toBe(1)
})

test('credentials go only to their own proxy, and a proxy without any gets none', () => {
  const connection = { timeoutMs: 1_000, proxy: { url: 'http://127.0.0.1:3128', credentialsEnv: 'X' } }
  const prepare = (proxyCredentials: ProxyCredentials | null) => () =>
    createServiceClients({
      baseUrl: 'https://moderation.test',
      connection,
      readApiKey: () => null,
      proxyCredentials,
      userAgent: 'sluice/test',
    })
  expect(prepare(null)).toThrow(/credentials for the proxy 127.0.0.1:3128 are missing/)
  expect(prepare(ProxyCredentials.create(SECRET, 'http://127.0.0.1:3129', 'X'))).toThrow(
    'the proxy credentials belong to http://127.0.0.1:3129 and are not sent to http://127.0.0.1:3128',
  )
  expect(prepare(ProxyCredentials.create(SECRET, connection.proxy.url, 'X'))).not.toThrow()
})

test.each(['http', 'https'] as const)('HTTP/2 goes through the tunnel of an %s proxy', async (scheme) => {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const caFile = join(createTemporaryFolder(), 'ca.pem')
  writeFileSync(caFile, tls.cert)
  const versions: string[] = []
  const service = createSecureServer(tls, (request, response) => {
    versions.push(request.httpVersion)
    request.resume().on('end', () => response.end('{}'))
  })
  const sessions = new Set<ServerHttp2Session>()
  service.on('session', (session) => sessions.add(session))
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    service.close()
  })
  const proxy = await startProxy(scheme === 'https' ? { tls } : {})
  const { port } = service.address() as AddressInfo
  const client = createServiceClients({
    baseUrl: `https://127.0.0.1:${port}`,
    connection: { timeoutMs: 2_000, tls: { caFile }, proxy: { url: proxy.url } },
    readApiKey: () => bindTestKey(`https://127.0.0.1:${port}`),
    userAgent: 'sluice/test',
    httpVersion: '2',
  })()
  onTestFinished(() => client.destroy())
  expect(await sendOver(client)).toMatchObject({ kind: 'answer', status: 200 })
  expect(versions).toEqual(['2.0'])
  expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: `127.0.0.1:${port}` }])
})

test('plain http goes to the proxy with its full address, as proxies expect', async () => {
  const server = await startFaultServer({ onRequest: answerTask })
  const proxy = await startProxy()
  const { judgement } = await sendTask(`${server.baseUrl}/gateway`, { way: { proxy: { url: proxy.url } } })
  expect(judgement.outcome).toBe('succeeded')
  expect(proxy.requests[0]).toMatchObject({
    method: 'POST',
    target: `${server.baseUrl}/gateway/api/v1/task/sync`,
    headers: { host: `127.0.0.1:${server.port}` },
  })
  expect(server.requests[0]?.path).toBe('/gateway/api/v1/task/sync')
})

test.each(['http', 'https'] as const)(
  'the proxy gets its credentials and the %s service does not',
  async (scheme) => {
    setCredentials(SECRET)
    const { server, caFile } = await startTlsService()
    const plain = await startFaultServer({ onRequest: answerTask })
    const target = scheme === 'https' ? server : plain
    const proxy = await startProxy({ credentials: SECRET })
    const way = { tls: { caFile }, proxy: { url: proxy.url, credentialsEnv: 'TEST_PROXY_LOGIN' } }
    expect((await sendTask(target.baseUrl, { way })).judgement.outcome).toBe('succeeded')
    expect(target.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
  },
)

test.each(['http', 'https'] as const)(
  'a proxy of %s asks for credentials: nothing was accepted, and no secret is shown',
  async (scheme) => {
    setCredentials('clerk:a-wrong-secret')
    const { server, caFile } = await startTlsService()
    const plain = await startFaultServer({ onRequest: answerTask })
    const { baseUrl } = scheme === 'https' ? server : plain
    const proxy = await startProxy({ credentials: SECRET })
    const wrong = { tls: { caFile }, proxy: { url: proxy.url, credentialsEnv: 'TEST_PROXY_LOGIN' } }
    const { exchange, judgement } = await sendTask(baseUrl, { way: wrong })
    const host = new URL(proxy.url).host
    expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'PROXY_CREDENTIALS' })
    expect(judgement.message).toBe(
      `the proxy ${host} refused its credentials (407); check the environment variable that holds them`,
    )
    expect(JSON.stringify([exchange, judgement])).not.toContain('a-wrong-secret')
    const { judgement: without } = await sendTask(baseUrl, {
      way: { tls: { caFile }, proxy: { url: proxy.url } },
    })
    expect(without.message).toBe(
      `the proxy ${host} asks for credentials (407); name the environment variable that holds them (--proxy-credentials-env NAME)`,
    )
    expect([...server.requests, ...plain.requests]).toEqual([])
  },
)

test.each(['http', 'https'])('the error names the missing proxy, not the service, for %s', async (scheme) => {
  const port = await findClosedPort()
  const way = { proxy: { url: `http://127.0.0.1:${port}` } }
  const { judgement } = await sendTask(`${scheme}://moderation.test`, { way })
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'PROXY_UNREACHABLE' })
  expect(judgement.message).toBe(
    `the proxy 127.0.0.1:${port} cannot be reached (ECONNREFUSED); check its address and the network`,
  )
})

test('a proxy that opens no tunnel reports its status', async () => {
  const proxy = await startProxy({ refusal: 403 })
  const { judgement } = await sendTask('https://moderation.test:8443', { way: { proxy: { url: proxy.url } } })
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'PROXY_REFUSED' })
  expect(judgement.message).toContain('gave no tunnel to moderation.test:8443, it answered 403')
})

test('a proxy that never answers times out, and the next try starts again', async () => {
  const proxy = await startProxy({ refusal: 'silence' })
  const client = createTestClient('https://moderation.test', 120, { proxy: { url: proxy.url } })
  const first = await sendOver(client, 'p1')
  const second = await sendOver(client, 'p2')
  for (const exchange of [first, second]) expect(exchange).toMatchObject({ kind: 'breakdown', sent: false })
})

test('a closed client gives up the tunnel it waits for', async () => {
  const proxy = await startProxy({ refusal: 'silence' })
  const client = createTestClient('https://moderation.test', 60_000, { proxy: { url: proxy.url } })
  const ended = sendOver(client)
  await waitFor(() => expect(proxy.requests).toHaveLength(1), { interval: 5 })
  await client.destroy()
  expect(await ended).toMatchObject({ kind: 'breakdown', sent: false })
})

test('a proxy with TLS is trusted by the same CA, for both kinds of service', async () => {
  const { server, caFile, tls } = await startTlsService()
  const plain = await startFaultServer({ onRequest: answerTask })
  const proxy = await startProxy({ tls })
  const way = { tls: { caFile }, proxy: { url: proxy.url } }
  expect((await sendTask(server.baseUrl, { way })).judgement.outcome).toBe('succeeded')
  expect((await sendTask(plain.baseUrl, { way })).judgement.outcome).toBe('succeeded')
  const untrusted = await sendTask(plain.baseUrl, { way: { proxy: { url: proxy.url } } })
  expect(untrusted.judgement.message).toContain('cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)')
})

test('a tunnel does not make a certificate for another name valid', async () => {
  const tls = await createCertificate({ name: 'elsewhere.test' })
  const caFile = join(createTemporaryFolder(), 'ca.pem')
  writeFileSync(caFile, tls.cert)
  const server = await startFaultServer({ tls, onRequest: answerTask })
  const proxy = await startProxy()
  const { judgement } = await sendTask(server.baseUrl, {
    way: { tls: { caFile }, proxy: { url: proxy.url } },
  })
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect(server.requests).toEqual([])
})

test('credentials that are not set, or have no colon, are reported before anything is sent', () => {
  const proxy = { url: 'http://127.0.0.1:3128', credentialsEnv: 'TEST_PROXY_LOGIN' }
  const prepare = () => readProxyCredentials(process.env, { proxy })
  expect(prepare).toThrow(
    expect.objectContaining({
      code: 'BAD_PLAN',
      message:
        'the proxy 127.0.0.1:3128 needs the credentials in TEST_PROXY_LOGIN, but that environment variable is not set',
    }),
  )
  setCredentials('only-a-secret-word')
  expect(prepare).toThrow(/must hold user:password for the proxy .*, but contains no colon/)
  expect(prepare).not.toThrow(/only-a-secret-word/)
})
