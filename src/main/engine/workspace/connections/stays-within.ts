import type { PlanConnection } from '../../../../shared/plan/connection.ts'
import type { StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import { toOrigins } from '../../secrets/bound-secret.ts'

/**
 * Whether a plan sends a stored connection's secrets nowhere but where that connection sends them itself: to its
 * addresses, directly or by its own proxy, trusting nobody but whom it trusts.
 */
export function staysWithin(
  stored: StoredConnection,
  { baseUrl, taskBaseUrl, proxy, tls }: Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl' | 'proxy' | 'tls'>,
): boolean {
  const known = toOrigins(stored)
  if (!toOrigins({ baseUrl, taskBaseUrl }).every((origin) => known.includes(origin))) return false
  if (tls?.caFile !== undefined && tls.caFile !== stored.tls?.caFile) return false
  if (proxy === undefined) return true
  const isSameProxy =
    stored.proxy !== undefined && new URL(stored.proxy.url).origin === new URL(proxy.url).origin
  return (
    isSameProxy && (proxy.credentialsEnv ?? stored.proxy?.credentialsEnv) === stored.proxy?.credentialsEnv
  )
}
