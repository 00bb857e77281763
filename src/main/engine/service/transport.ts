import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { TlsFile } from '../../../shared/messages/service-messages.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { ProxyCredentials } from '../secrets/bound-secret.ts'

/** A proxy and what it is told of who asks. */
export interface ProxyRoute {
  url: URL
  /** Value of the proxy-authorization header, a secret; null where the proxy asks for nothing. */
  authorization: string | null
}

/** The way to the service. */
export interface Transport {
  /** Null where the built-in certificate authorities are enough. */
  secureContext: SecureContext | null
  proxy: ProxyRoute | null
}

/**
 * Reads the files that a connection names. Throws `BAD_PLAN` where one is missing or holds something else, and where
 * the proxy's credentials are missing or belong to another one; nothing was sent then.
 */
export function readTransport(
  { tls, proxy }: Pick<PlanConnection, 'tls' | 'proxy'>,
  credentials: ProxyCredentials | null,
): Transport {
  return {
    secureContext: readSecureContext(tls),
    proxy: proxy === undefined ? null : toProxyRoute(proxy, credentials),
  }
}

function toProxyRoute(
  proxy: NonNullable<PlanConnection['proxy']>,
  credentials: ProxyCredentials | null,
): ProxyRoute {
  const url = new URL(proxy.url)
  if (proxy.credentialsEnv === undefined) return { url, authorization: null }
  if (credentials !== null) return { url, authorization: credentials.toHeader(url) }
  throw new SluiceError({ id: 'proxy_credentials_missing', variable: proxy.credentialsEnv, host: url.host })
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * Reads a connection's own certificate authorities, which are trusted in addition to the built-in ones, and the client's
 * certificate. Null where it has neither. Throws `BAD_PLAN` for a file that is missing or holds something else.
 */
export function readSecureContext(tls: PlanConnection['tls']): SecureContext | null {
  if (tls === undefined || (tls.caFile === undefined && tls.certFile === undefined)) return null
  const { caFile, certFile, keyFile } = tls
  const authorities = caFile === undefined ? [] : readCertificates(caFile, 'authorities')
  const own = certFile === undefined || keyFile === undefined ? {} : readClientCertificate(certFile, keyFile)
  return createSecureContext({ ca: [...getCACertificates('default'), ...authorities], ...own })
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
