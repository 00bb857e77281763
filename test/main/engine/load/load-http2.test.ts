import { writeFileSync } from 'node:fs'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '../../../helpers/certificates.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const folder = openTestFolder()
const loads = createLoadRuns(folder)

/** A service with both HTTP versions that records which version each request used. */
async function startBoth(
  certificate: { key: string; cert: string },
  toPostId: (postId: string, number: number) => string = (postId) => postId,
) {
  const versions: string[] = []
  let answers = 0
  const server: Http2SecureServer = createSecureServer({ ...certificate, allowHTTP1: true })
  server.on('request', (request, response) => {
    versions.push(request.httpVersion)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { post_id, user_id } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<
        string,
        string
      >
      response.writeHead(200, { 'content-type': 'application/json' })
      answers += 1
      const told = toPostId(post_id ?? '', answers)
      response.end(JSON.stringify({ task_id: `t-${post_id}`, post_id: told, user_id, triggered_rules: [] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, versions }
}

test('over HTTP/2, answers that name another post never succeed, and are counted', async () => {
  const { certificate, tls } = await createTrust()
  const server = await startBoth(certificate, (postId, number) => (number % 4 === 0 ? 'stray' : postId))
  const { summary } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 4 }, requests: 40, httpVersion: '2' },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 5_000, tls } },
    ),
  )
  expect(summary.requests).toMatchObject({ sent: 40, succeeded: 30, unknown: 10 })
  expect(summary.echoes).toEqual({ verified: 30, alike: 0, not_verifiable: 0, mismatched: 10 })
})

async function createTrust() {
  const certificate = await createCertificate({ ip: '127.0.0.1' })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, certificate.cert)
  return { certificate, tls: { caFile } }
}

test('over HTTP/2, requests go out after the first one, whose connection is closed before them', async () => {
  const { certificate, tls } = await createTrust()
  const server = await startBoth(certificate)
  const { report } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 2 }, requests: 4, httpVersion: '2', firstRequest: 'check' },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 5_000, tls } },
    ),
  )
  expect(report.firstRequest).toMatchObject({ outcome: 'succeeded' })
  expect(report.counts).toMatchObject({ sent: 4, succeeded: 4 })
  expect(report.connections).toEqual({ opened: 1, reused: 3 })
})

test.each(['1.1', '2'] as const)(
  'HTTP/%s is used when required, on persistent connections',
  async (httpVersion) => {
    onlyInLongForm()
    const { certificate, tls } = await createTrust()
    const server = await startBoth(certificate)
    const { report } = await loads.run(
      loads.createPlan(
        3,
        server.baseUrl,
        { pace: { kind: 'closed', concurrency: 2 }, requests: 20, httpVersion },
        { connection: { baseUrl: server.baseUrl, timeoutMs: 5_000, tls } },
      ),
    )
    expect(report.counts).toMatchObject({ sent: 20, succeeded: 20 })
    expect(new Set(server.versions)).toEqual(new Set([httpVersion === '2' ? '2.0' : '1.1']))
    const opened = httpVersion === '2' ? 1 : 2
    expect(report.connections).toEqual({ opened, reused: 20 - opened })
    expect(report.latencyMs.http_req_tls_handshaking?.count).toBe(opened)
  },
)

/** A service that has one request at a time, and answers each after 20 ms. */
async function startOneStream() {
  const { certificate, tls } = await createTrust()
  const server = createSecureServer({ ...certificate, settings: { maxConcurrentStreams: 1 } })
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { post_id, user_id } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const answer = JSON.stringify({ task_id: 't', post_id, user_id, triggered_rules: [] })
      setTimeout(() => response.end(answer), 20)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { baseUrl, tls }
}

test('requests that wait for a free stream neither time out nor are late because of this machine', async () => {
  const { baseUrl, tls } = await startOneStream()
  const { summary } = await loads.run(
    loads.createPlan(
      3,
      baseUrl,
      {
        pace: { kind: 'open', ratePerSecond: 100 },
        durationMs: 600,
        httpVersion: '2',
        http2Connections: 1,
      },
      { connection: { baseUrl, timeoutMs: 500, tls } },
    ),
  )
  expect(summary.requests).toMatchObject({ sent: 60, succeeded: 60 })
  const { waited, own_start_lag_max_ms: ownMs = 0 } = summary.generator
  expect(waited).toBeGreaterThan(0)
  expect(ownMs).toBeLessThan(summary.latency_ms.start_lag?.max ?? 0)
})

test('the wait for a free stream crosses no threshold of http_req_duration meanwhile', async () => {
  onlyInLongForm()
  const { baseUrl, tls } = await startOneStream()
  const { summary } = await loads.run(
    loads.createPlan(
      3,
      baseUrl,
      {
        pace: { kind: 'open', ratePerSecond: 100 },
        durationMs: 5_000,
        httpVersion: '2',
        http2Connections: 1,
        thresholds: [{ expression: 'http_req_duration:p(95)<900', abortOnFail: true }],
      },
      { connection: { baseUrl, timeoutMs: 2_000, tls } },
    ),
  )
  expect(summary.requests).toMatchObject({ sent: 500, succeeded: 500 })
  expect(summary.latency_ms.start_lag?.max).toBeGreaterThan(1_000)
})

test('a service without HTTP/2 is not measured over HTTP/1.1 instead', async () => {
  onlyInLongForm()
  const { certificate, tls } = await createTrust()
  const server = await startFaultServer({
    tls: certificate,
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const { report } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 1 }, requests: 3, httpVersion: '2' },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 5_000, tls } },
    ),
  )
  expect(server.requests).toHaveLength(0)
  expect(report.counts).toMatchObject({ sent: 3, failed: 3 })
  expect(report.errors).toMatchObject([{ outcome: 'failed', message: expect.stringContaining('HTTP/2') }])
})
