import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'

/** A service, by which runs are grouped: an address and the project that its keys belong to. */
export interface KeyedService {
  baseUrl: string
  /** Names of the stored connections to it, in stored order. */
  connections: string[]
  /** The key's variable if no stored connection has it; null for a stored connection's key, or no key. */
  apiKeyEnv: string | null
  /** All variables that hold keys of the service. */
  variables: readonly string[]
}

/**
 * The service that a connection sends to. Keys of a stored connection are interchangeable (docs/interface.md
 * §5.2), so everything sent with any of them belongs together; a run with another key has a service of its
 * own. Without a key, only the address counts.
 */
export function toService(
  connection: PlanConnection,
  stored: readonly StoredConnection[],
  sendsKey: boolean,
): KeyedService {
  const { baseUrl, apiKeyEnv, keyFrom } = connection
  const variable = !sendsKey || keyFrom !== undefined ? null : apiKeyEnv
  const there = sendsKey ? stored.filter((one) => one.baseUrl === baseUrl) : []
  // Connections that share a key belong to one project, and so do all their keys.
  const owners = new Set(there.filter((one) => isKeyOf(one, connection)))
  const variables = new Set(variable === null ? [] : [variable])
  for (const owner of owners) {
    for (const { env } of owner.keys) {
      if (env === undefined) continue
      variables.add(env)
      for (const one of there) if (one.keys.some((key) => key.env === env)) owners.add(one)
    }
  }
  const connections = [...owners].map((one) => one.name).sort()
  return {
    baseUrl,
    connections,
    apiKeyEnv: connections.length > 0 ? null : variable,
    variables: [...variables],
  }
}

/** Whether the key that was sent is one of the stored connection's keys. */
function isKeyOf(stored: StoredConnection, { name, apiKeyEnv, keyFrom }: PlanConnection): boolean {
  if (keyFrom !== undefined) return name === stored.name
  return (name ?? stored.name) === stored.name && stored.keys.some(({ env }) => env === apiKeyEnv)
}
