import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { TlsFile } from '../../../shared/messages/service-messages.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * Reads a connection's own certificate authorities, trusted besides the built-in ones and the system's, and
 * the client's certificate. Null if it has none. Throws `BAD_PLAN` for a file that is missing or not valid.
 */
export function readSecureContext(
  { caFile, certFile, keyFile }: NonNullable<PlanConnection['tls']> = {},
  systemAuthorities: readonly string[] = [],
): SecureContext | null {
  if (caFile === undefined && certFile === undefined && systemAuthorities.length === 0) return null
  const own = caFile === undefined ? [] : readCertificates(caFile, 'authorities')
  const client =
    certFile === undefined || keyFile === undefined ? {} : readClientCertificate(certFile, keyFile)
  return createSecureContext({
    // OpenSSL tries the first of several authorities with the same name: the connection's own.
    ca: [...own, ...getCACertificates('default'), ...systemAuthorities],
    ...client,
  })
}

function readClientCertificate(certFile: string, keyFile: string): { cert: string; key: string } {
  const certificates = readCertificates(certFile, 'certificate')
  const key = readPrivateKey(keyFile)
  const [first = ''] = certificates
  if (!new X509Certificate(first).checkPrivateKey(createPrivateKey(key))) {
    throw new SluiceError({ id: 'tls_key_of_other_certificate', keyFile, certFile })
  }
  return { cert: certificates.join('\n'), key }
}

function readCertificates(path: string, what: TlsFile): string[] {
  const text = readText(path, what)
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0)
    throw new SluiceError({ id: 'tls_file_not_pem', what, path, isBroken: false })
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate)
    } catch {
      throw new SluiceError({ id: 'tls_file_not_pem', what, path, isBroken: true })
    }
  }
  return certificates
}

function readPrivateKey(path: string): string {
  const text = readText(path, 'key')
  if (!/-----BEGIN ([A-Z]+ )*PRIVATE KEY-----/.test(text)) {
    throw new SluiceError({ id: 'tls_file_not_pem', what: 'key', path, isBroken: false })
  }
  try {
    createPrivateKey(text)
  } catch {
    throw new SluiceError({ id: 'tls_key_unusable', path, isEncrypted: /ENCRYPTED/.test(text) })
  }
  return text
}

function readText(path: string, what: TlsFile): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    const system = toSystemCode(error) ?? 'unreadable'
    throw new SluiceError({ id: 'tls_file_unreadable', what, path, system }, { cause: error })
  }
}
