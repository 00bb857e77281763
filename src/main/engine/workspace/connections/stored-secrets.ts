import { SluiceError } from '../../../../shared/messages/errors.ts'
import { ApiKey, type ProxyCredentials } from '../../secrets/bound-secret.ts'
import { readApiKey, readProxyCredentials } from '../../secrets/read-credentials.ts'
import { readConnections } from './connections-file.ts'

/** The variable that holds the key of a run that names none. */
const DEFAULT_VARIABLE = 'SLUICE_API_KEY'

/**
 * Every key and proxy credential that a workspace's connections name and that is set in this environment, and the
 * default key, so that they can be looked for. What is not set, or cannot be read, is left out.
 */
export function readStoredSecrets(workspace: string, env: NodeJS.ProcessEnv): (ApiKey | ProxyCredentials)[] {
  const connections = orUndefined(() => readConnections(workspace).connections) ?? []
  const found = connections.flatMap((stored) => [
    ...stored.keys.map((key) => orUndefined(() => readApiKey(env, key.env, stored))),
    orUndefined(() => readProxyCredentials(env, stored)),
  ])
  // A key that belongs to no address goes nowhere.
  const value = env[DEFAULT_VARIABLE] ?? ''
  return [
    ApiKey.unseal({ kind: 'api-key', value, origins: [], source: 'of a stored connection' }),
    ...found.filter((one) => one !== null),
  ]
}

function orUndefined<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}
