import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '../../../helpers/certificates.ts'
import { findClosedPort, startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { sendTask } from './send-task.ts'

/** Certainly not accepted: may be repeated for every operation, and shows that the service is not there. */
const NOT_TAKEN = { outcome: 'failed', repeat: 'safe', reached: false, status: null } as const

function trust(cert: string): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  onTestFinished(() => setDefaultCACertificates(before))
}

test('a refused connection means certainly not accepted', async () => {
  const port = await findClosedPort()
  const { judgement } = await sendTask(`http://127.0.0.1:${port}`)
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'ECONNREFUSED' })
  expect(judgement.message).toBe(
    `connection refused by 127.0.0.1:${port}; check the port and that the service is running`,
  )
})

test('a name of which every address refuses the connection has the same error', async () => {
  const port = await findClosedPort()
  const { judgement } = await sendTask(`http://localhost:${port}`)
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'ECONNREFUSED' })
  expect(judgement.message).toContain(`connection refused by localhost:${port}`)
})

test('a name unknown to DNS means certainly not accepted', async () => {
  const { judgement } = await sendTask('http://nowhere.invalid', { timeoutMs: 25_000 })
  expect(judgement).toMatchObject(NOT_TAKEN)
  // EAI_AGAIN means that the resolver cannot be reached.
  expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(judgement.errorCode)
  expect(judgement.message).toContain('no such host: nowhere.invalid')
})

test('a TLS handshake that never ends is given up at the time-out, with nothing sent', async () => {
  const server = await startFaultServer({ onConnection: () => true })
  const { exchange, judgement } = await sendTask(server.baseUrl.replace('http:', 'https:'), {
    timeoutMs: 150,
  })
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'TIMEOUT' })
  expect(judgement.message).toBe('gave up on a connection after 150 ms')
  expect(exchange.timings.durationUs).toBeGreaterThanOrEqual(149_000)
  expect(server.requests).toEqual([])
})

test('a connection that is reset during the TLS handshake has sent nothing', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.once('data', () => socket.resetAndDestroy())
      return true
    },
  })
  const { judgement } = await sendTask(server.baseUrl.replace('http:', 'https:'))
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'ECONNRESET' })
  expect(judgement.message).toBe(
    `the connection to 127.0.0.1:${server.port} broke before the request was sent`,
  )
})

test('https to a port that speaks plain HTTP has sent nothing, and says so', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      return true
    },
  })
  const { judgement } = await sendTask(server.baseUrl.replace('http:', 'https:'))
  expect(judgement).toMatchObject(NOT_TAKEN)
  expect(judgement.message).toContain(`no TLS with 127.0.0.1:${server.port}`)
})

test('a self-signed certificate is refused before the key is sent', async () => {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const server = await startFaultServer({ tls })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(judgement.message).toContain('is not trusted')
  expect(judgement.message).toContain('NODE_EXTRA_CA_CERTS')
  expect(server.requests).toEqual([])
})

test('an expired certificate is refused before the key is sent', async () => {
  const tls = await createCertificate({ ip: '127.0.0.1' }, new Date('2020-02-02T00:00:00Z'))
  trust(tls.cert)
  const server = await startFaultServer({ tls })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'CERT_HAS_EXPIRED' })
  expect(judgement.message).toBe(`the certificate of 127.0.0.1:${server.port} has expired (CERT_HAS_EXPIRED)`)
  expect(server.requests).toEqual([])
})

test('a certificate for another name is refused before the key is sent', async () => {
  const tls = await createCertificate({ name: 'elsewhere.test' })
  trust(tls.cert)
  const server = await startFaultServer({ tls })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...NOT_TAKEN, errorCode: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect(judgement.message).toContain(`the certificate of 127.0.0.1:${server.port} is for another name`)
  expect(server.requests).toEqual([])
})

test('a certificate that is trusted lets the task through, with connect and TLS timed apart', async () => {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  trust(tls.cert)
  const server = await startFaultServer({
    tls,
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const { exchange, judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: 'task-post-1' })
  expect(exchange.timings.connectUs).toBeGreaterThanOrEqual(0)
  expect(exchange.timings.tlsUs).toBeGreaterThan(0)
})
