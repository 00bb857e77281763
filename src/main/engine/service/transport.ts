import type { SecureContext } from 'node:tls'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { ProxyCredentials } from '../secrets/bound-secret.ts'
import { readSecureContext } from '../secrets/tls-files.ts'

/** A proxy and the credentials sent to it. */
export interface ProxyRoute {
  url: URL
  /** Value of the proxy-authorization header, a secret; null if the proxy requires none. */
  authorization: string | null
}

export interface Transport {
  /** Null if the built-in certificate authorities are enough. */
  secureContext: SecureContext | null
  proxy: ProxyRoute | null
}

/**
 * Reads the files that a connection names. Throws `BAD_PLAN` if one is missing or not valid, or if the
 * proxy's credentials are missing or belong to another proxy; nothing was sent then.
 */
export function readTransport(
  { tls, proxy }: Pick<PlanConnection, 'tls' | 'proxy'>,
  credentials: ProxyCredentials | null,
  systemAuthorities: readonly string[] = [],
): Transport {
  return {
    secureContext: readSecureContext(tls, systemAuthorities),
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
