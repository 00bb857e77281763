import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { type Addresses, ApiKey, checkKeyText, ProxyCredentials } from './bound-secret.ts'

/**
 * The text of the API key in an environment variable. Throws `NO_API_KEY` where it is missing or holds what no header
 * can carry; no message shows any of it.
 */
export function readKeyText(env: NodeJS.ProcessEnv, variable: string): string {
  const key = env[variable]
  if (key === undefined || key === '') {
    throw new SluiceError({ id: 'key_not_set', variable, isEmpty: key === '' })
  }
  checkKeyText(key, `in the environment variable ${variable}`)
  return key
}

/** Reads the API key in an environment variable, for the addresses that it belongs to; see {@link readKeyText}. */
export function readApiKey(env: NodeJS.ProcessEnv, variable: string, addresses: Addresses): ApiKey {
  return ApiKey.create(readKeyText(env, variable), addresses, `in the environment variable ${variable}`)
}

/**
 * Reads the credentials of a connection's proxy from the environment variable that it names; null where it names none.
 * Throws `BAD_PLAN` where the variable is missing or holds something else.
 */
export function readProxyCredentials(
  env: NodeJS.ProcessEnv,
  { proxy }: Pick<PlanConnection, 'proxy'>,
): ProxyCredentials | null {
  if (proxy?.credentialsEnv === undefined) return null
  const { url, credentialsEnv } = proxy
  const credentials = env[credentialsEnv]
  if (credentials !== undefined && credentials !== '') {
    return ProxyCredentials.create(credentials, url, credentialsEnv)
  }
  throw new SluiceError({
    id: 'proxy_credentials_not_set',
    variable: credentialsEnv,
    host: new URL(url).host,
  })
}
