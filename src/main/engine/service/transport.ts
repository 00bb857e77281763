import type { SecureContext } from 'node:tls'
import type { PlanConnection } from '../../../shared/connection.ts'
import { SluiceError } from '../../../shared/errors.ts'
import { readSecureContext } from './tls-files.ts'

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
 * Reads the files and the environment variable that a connection names. Throws `BAD_PLAN` where one is missing or
 * holds something else; nothing was sent then.
 */
export function readTransport(
  { tls, proxy }: Pick<PlanConnection, 'tls' | 'proxy'>,
  env: NodeJS.ProcessEnv = process.env,
): Transport {
  return {
    secureContext: readSecureContext(tls),
    proxy: proxy === undefined ? null : readProxyRoute(proxy, env),
  }
}

function readProxyRoute(proxy: NonNullable<PlanConnection['proxy']>, env: NodeJS.ProcessEnv): ProxyRoute {
  const url = new URL(proxy.url)
  const { credentialsEnv } = proxy
  if (credentialsEnv === undefined) return { url, authorization: null }
  const credentials = env[credentialsEnv]
  if (credentials === undefined || credentials === '') {
    throw new SluiceError({
      code: 'BAD_PLAN',
      message: `the proxy ${url.host} is to be given the credentials in ${credentialsEnv}, and that environment variable is not set`,
      hint: `Set it to user:password where this program runs: export ${credentialsEnv}=…`,
    })
  }
  if (!credentials.includes(':')) {
    throw new SluiceError({
      code: 'BAD_PLAN',
      message: `the environment variable ${credentialsEnv}, for the proxy ${url.host}, must hold user:password, and has no colon`,
      hint: `Set it again: export ${credentialsEnv}=… , user name and password with a colon between them.`,
    })
  }
  return { url, authorization: `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` }
}
