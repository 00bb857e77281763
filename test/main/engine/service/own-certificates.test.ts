import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ReceivedBytes } from '../../../../src/main/engine/service/answer-body.ts'
import { ConnectionReuse } from '../../../../src/main/engine/service/connection-reuse.ts'
import { Http1Client } from '../../../../src/main/engine/service/http1-client.ts'
import { createServiceClients } from '../../../../src/main/engine/service/service-client.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import type { PlanConnection } from '../../../../src/shared/plan/connection.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import { type FaultServerOptions, startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { sendTask } from './send-task.ts'

function writePem(folder: string, name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** The error of preparing clients of a connection. */
function failToPrepare(way: Pick<PlanConnection, 'tls'>): SluiceError {
  try {
    createServiceClients({
      baseUrl: 'https://127.0.0.1:1',
      connection: { timeoutMs: 1_000, ...way },
      readApiKey: () => null,
      userAgent: 'sluice/test',
    })
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
  throw new Error('the clients could be prepared')
}

const answering: Pick<FaultServerOptions, 'onRequest'> = {
  onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
}

test("certificates of an own CA's file are trusted, with connect and TLS timed separately", async () => {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const server = await startFaultServer({ tls, ...answering })
  const caFile = writePem(createTemporaryFolder(), 'ca.pem', `company root\n${tls.cert}`)
  const { exchange, judgement } = await sendTask(server.baseUrl, { way: { tls: { caFile } } })
  expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: 'task-post-1' })
  expect(exchange.timings.connectUs).toBeGreaterThanOrEqual(0)
  expect(exchange.timings.tlsUs).toBeGreaterThan(0)
})

test('an own CA does not vouch for other certificates', async () => {
  const server = await startFaultServer({ tls: await createCertificate({ ip: '127.0.0.1' }), ...answering })
  const other = await createCertificate({ ip: '127.0.0.1' })
  const caFile = writePem(createTemporaryFolder(), 'ca.pem', other.cert)
  const { judgement } = await sendTask(server.baseUrl, { way: { tls: { caFile } } })
  expect(judgement).toMatchObject({ outcome: 'failed', repeat: 'safe', reached: false })
  expect(judgement.message).toContain('is not trusted')
  expect(server.requests).toEqual([])
})

test("a service that asks for a certificate gets the connection's", async () => {
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const client = await createCertificate({ name: 'client.test' })
  const server = await startFaultServer({
    tls: { ...tls, requestCert: true, ca: [client.cert] },
    ...answering,
  })
  const folder = createTemporaryFolder()
  const way = {
    tls: {
      caFile: writePem(folder, 'ca.pem', tls.cert),
      certFile: writePem(folder, 'client.pem', client.cert),
      keyFile: writePem(folder, 'client.key', client.key),
    },
  }
  expect((await sendTask(server.baseUrl, { way })).judgement.outcome).toBe('succeeded')
})

/** A fatal alert, certificate_required (RFC 8446 §6), in TLS records. */
const CERTIFICATE_REQUIRED = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x74])

test('a service that requires a certificate is named, with what to do', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.once('data', () => socket.end(CERTIFICATE_REQUIRED))
      return true
    },
  })
  const { judgement } = await sendTask(server.baseUrl.replace('http:', 'https:'))
  expect(judgement).toMatchObject({ outcome: 'failed', repeat: 'safe', reached: false })
  expect(judgement.message).toBe(
    `127.0.0.1:${server.port} takes no connection without a client's certificate that it knows (${judgement.errorCode}); ` +
      'name one in the connection (--client-cert FILE --client-key FILE)',
  )
})

const REFUSED_LATE = Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })

test('nothing was accepted if a certificate is refused when the request is already on its way', async () => {
  const socket = new Duplex({
    read: () => {},
    write: (_chunk, _encoding, done) => done(),
  }) as unknown as Socket
  const client = new Http1Client({
    url: new URL('https://127.0.0.1:1'),
    received: new ReceivedBytes(),
    reuse: new ConnectionReuse(),
    timeoutMs: 1_000,
    createConnector: () => ({
      connect: (_, callback) => queueMicrotask(() => callback(null, socket)),
      takePhases: () => null,
      abort: () => {},
    }),
  })
  onTestFinished(() => client.destroy())
  const request = { method: 'POST', target: '/', headers: [], body: '{}' } as const
  const ended = new Promise((resolve) => client.send(request, resolve))
  setImmediate(() => socket.destroy(REFUSED_LATE))
  expect(await ended).toMatchObject({ kind: 'breakdown', sent: false, code: REFUSED_LATE.code })
})

test('a file that is missing is named before anything is sent', () => {
  const error = failToPrepare({ tls: { caFile: '/no/such/ca.pem' } })
  expect(error.code).toBe('BAD_PLAN')
  expect(error.message).toBe('the CA file /no/such/ca.pem cannot be read (ENOENT)')
})

test('a file without a certificate in PEM form is named, with what was expected', () => {
  const folder = createTemporaryFolder()
  const der = writePem(folder, 'ca.der', '\x30\x82\x01\x0a binary')
  expect(failToPrepare({ tls: { caFile: der } })).toMatchObject({
    code: 'BAD_PLAN',
    message: `the CA file ${der} does not contain a certificate in PEM format`,
    hint: expect.stringContaining('-----BEGIN CERTIFICATE-----'),
  })
  const broken = writePem(folder, 'cut.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----')
  expect(failToPrepare({ tls: { caFile: broken } }).message).toContain(
    'contains a certificate that cannot be read',
  )
})

test("a client's key that is invalid, or another certificate's, is reported without its content", async () => {
  const folder = createTemporaryFolder()
  const one = await createCertificate({ name: 'one.test' })
  const other = await createCertificate({ name: 'other.test' })
  const certFile = writePem(folder, 'client.pem', one.cert)
  const none = writePem(folder, 'none.key', 'not a key')
  expect(failToPrepare({ tls: { certFile, keyFile: none } }).message).toBe(
    `the client key ${none} does not contain a key in PEM format`,
  )
  const foreign = writePem(folder, 'other.key', other.key)
  expect(failToPrepare({ tls: { certFile, keyFile: foreign } }).message).toBe(
    `the client key ${foreign} does not belong to the certificate ${certFile}`,
  )
  const broken = writePem(folder, 'broken.key', `${other.key.slice(0, 60)}\n-----END PRIVATE KEY-----`)
  const error = failToPrepare({ tls: { certFile, keyFile: broken } })
  expect(error.message).toContain('cannot be read as a private key')
  expect(`${error.message}${error.hint}`).not.toContain(other.key.slice(30, 55))
})

test('an untrusted certificate is refused whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const server = await startFaultServer({ tls: await createCertificate({ ip: '127.0.0.1' }), ...answering })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'failed', repeat: 'safe', reached: false })
  expect(server.requests).toEqual([])
})
