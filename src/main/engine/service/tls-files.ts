import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * Reads a connection's own certificate authorities, which are trusted in addition to the built-in ones, and the client's
 * certificate. Null where it has neither. Throws `BAD_PLAN` for a file that is missing or holds something else.
 */
export function readSecureContext(tls: PlanConnection['tls']): SecureContext | null {
  if (tls === undefined || (tls.caFile === undefined && tls.certFile === undefined)) return null
  const { caFile, certFile, keyFile } = tls
  const authorities = caFile === undefined ? [] : readCertificates(caFile, 'the CA file')
  const own = certFile === undefined || keyFile === undefined ? {} : readClientCertificate(certFile, keyFile)
  return createSecureContext({ ca: [...getCACertificates('default'), ...authorities], ...own })
}

function readClientCertificate(certFile: string, keyFile: string): { cert: string; key: string } {
  const certificates = readCertificates(certFile, "the client's certificate")
  const key = readPrivateKey(keyFile)
  const [first = ''] = certificates
  if (!new X509Certificate(first).checkPrivateKey(createPrivateKey(key))) {
    throw new SluiceError({
      code: 'BAD_PLAN',
      message: `the client's key ${keyFile} does not belong to the certificate ${certFile}`,
      hint: 'Name the key that the certificate was made for; the certificate comes first in its file, its chain after it.',
    })
  }
  return { cert: certificates.join('\n'), key }
}

function readCertificates(path: string, what: string): string[] {
  const text = readText(path, what)
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw toNoPem(path, what, 'a certificate', 'CERTIFICATE')
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate)
    } catch {
      throw toNoPem(path, what, 'whole certificates', 'CERTIFICATE')
    }
  }
  return certificates
}

function readPrivateKey(path: string): string {
  const what = "the client's key"
  const text = readText(path, what)
  if (!/-----BEGIN ([A-Z]+ )*PRIVATE KEY-----/.test(text)) throw toNoPem(path, what, 'a key', 'PRIVATE KEY')
  try {
    createPrivateKey(text)
  } catch {
    throw new SluiceError({
      code: 'BAD_PLAN',
      message: `${what} ${path} cannot be read as a private key${/ENCRYPTED/.test(text) ? '; it is protected by a passphrase' : ''}`,
      hint: 'Name a PEM file with a key that has no passphrase, readable by you alone (chmod 600).',
    })
  }
  return text
}

function toNoPem(path: string, what: string, expected: string, label: string): SluiceError {
  return new SluiceError({
    code: 'BAD_PLAN',
    message: `${what} ${path} does not hold ${expected} in PEM form`,
    hint: `Name a text file with a block that begins with -----BEGIN ${label}-----; for a binary (DER) file, convert it first with openssl.`,
  })
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    const code = toSystemCode(error) ?? 'unreadable'
    throw new SluiceError({
      code: 'BAD_PLAN',
      message: `${what} ${path} cannot be read (${code})`,
      hint: 'Check the path and that you may read the file.',
      cause: error,
    })
  }
}
