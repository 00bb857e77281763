import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { usesSystemAuthorities } from '../../../../src/main/engine/secrets/system-authorities.ts'
import { readSecureContext } from '../../../../src/main/engine/secrets/tls-files.ts'
import type { PlanConnection } from '../../../../src/shared/plan/connection.ts'
import type { ConnectionCheck } from '../../../../src/shared/service/connection-check.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

const ENGINE = join(import.meta.dirname, '../../../../src/main/engine')

/**
 * Tests a connection in a process whose system trusts the authorities in this file, because a process reads
 * its store only once.
 */
async function checkElsewhere(
  baseUrl: string,
  store: string,
  tls: PlanConnection['tls'],
): Promise<{ count: number; check: ConnectionCheck }> {
  const script = `
    const { checkConnection } = await import(${JSON.stringify(pathToFileURL(join(ENGINE, 'service/check-connection.ts')))})
    const { loadSystemAuthorities } = await import(${JSON.stringify(pathToFileURL(join(ENGINE, 'secrets/system-authorities.ts')))})
    const connection = ${JSON.stringify({ baseUrl, timeoutMs: 5_000, tls })}
    const check = await checkConnection(connection, { apiKey: null, proxyCredentials: null }, async () => null)
    console.log(JSON.stringify({ check, count: (await loadSystemAuthorities()).length }))`
  const {
    NODE_EXTRA_CA_CERTS: _extra,
    NODE_USE_SYSTEM_CA: _use,
    NODE_OPTIONS: _options,
    ...rest
  } = process.env
  const env = { ...rest, SSL_CERT_FILE: store, SSL_CERT_DIR: createTemporaryFolder() }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env,
  })
  return JSON.parse(stdout)
}

// Elsewhere Node reads the keychain or the system's certificate store, which a test must not change.
describe.skipIf(process.platform !== 'linux')('the certificate authorities of the system', () => {
  /** A service, the file of its authority, and that of an unrelated one. */
  const startService = async () => {
    const folder = createTemporaryFolder()
    const writeAuthority = (name: string, cert: string) => {
      writeFileSync(join(folder, name), cert)
      return join(folder, name)
    }
    const tls = await createCertificate({ ip: '127.0.0.1' })
    const unrelated = await createCertificate({ name: 'unrelated.test' })
    const { baseUrl } = await startFaultServer({ tls, onRequest: (_request, wire) => wire.send(404, {}) })
    return {
      baseUrl,
      own: writeAuthority('own.pem', tls.cert),
      other: writeAuthority('other.pem', unrelated.cert),
    }
  }

  it('are trusted in addition to the built-in ones unless the connection says otherwise', async () => {
    const { baseUrl, own } = await startService()
    const trusting = await checkElsewhere(baseUrl, own, undefined)
    expect(trusting).toMatchObject({ count: 1, check: { address: { kind: 'answered', status: 404 } } })
  })

  it('are not trusted by a connection that turned them off', async () => {
    const { baseUrl, own } = await startService()
    const { check } = await checkElsewhere(baseUrl, own, { systemAuthorities: false })
    expect(check.address).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('self-signed certificate'),
    })
  })

  it('do not vouch for a service that another authority signed, whose file can still be named', async () => {
    const { baseUrl, own, other } = await startService()
    const { check } = await checkElsewhere(baseUrl, other, undefined)
    expect(check.address.kind).toBe('unreachable')
    const named = await checkElsewhere(baseUrl, other, { caFile: own })
    expect(named.check.address).toMatchObject({ kind: 'answered' })
  })
})

it('reads the authorities of the system only if something on the way is encrypted', () => {
  const http = 'http://127.0.0.1:80'
  expect(usesSystemAuthorities('https://api.example.com', {})).toBe(true)
  expect(usesSystemAuthorities(http, {})).toBe(false)
  expect(usesSystemAuthorities(http, { proxy: { url: 'https://proxy.example.com' } })).toBe(true)
  expect(usesSystemAuthorities('https://api.example.com', { tls: { systemAuthorities: false } })).toBe(false)
})

it('leaves the built-in authorities unchanged if nothing is added to them', () => {
  expect(readSecureContext(undefined, [])).toBeNull()
})
