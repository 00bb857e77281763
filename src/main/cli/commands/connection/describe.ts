import type { Connections, StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import type { CliContext } from '../../context.ts'

/** Whether the variable of a key is set where this runs. */
export function isSet(env: NodeJS.ProcessEnv, variable: string): boolean {
  return (env[variable] ?? '') !== ''
}

/** A connection as `--json` shows it. */
export function toDocument(
  connection: StoredConnection,
  connections: Connections,
  env: NodeJS.ProcessEnv,
): Record<string, unknown> {
  const { name, baseUrl, taskBaseUrl, keys, activeKey, timeoutMs, deliveredCodes, tls, proxy } = connection
  return {
    name,
    in_use: connections.inUse === name,
    production: connection.isProduction,
    base_url: baseUrl,
    task_base_url: taskBaseUrl ?? null,
    keys: keys.map((key) => ({
      label: key.label,
      env: key.env,
      active: key.label === activeKey,
      set: isSet(env, key.env),
    })),
    timeout_ms: timeoutMs ?? null,
    delivered_codes: deliveredCodes,
    ca: tls?.caFile ?? null,
    client_cert: tls?.certFile ?? null,
    client_key: tls?.keyFile ?? null,
    proxy: proxy === undefined ? null : { url: proxy.url, credentials_env: proxy.credentialsEnv ?? null },
  }
}

/** Says which variables of a connection's keys are not set here; they may well be where it is used. */
export async function sayKeysNotSet(context: CliContext, { keys }: StoredConnection): Promise<void> {
  const missing = keys.filter(({ env }) => !isSet(context.env, env)).map(({ env }) => env)
  if (missing.length === 0) return
  await context.err.writeLine(
    `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set in this shell. Commands that send need the active key.`,
  )
}
