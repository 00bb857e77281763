import type { LedgerService } from '../lookback/ledger.ts'

/** The address of a service and, if known, the connection or variable of its key. */
export function sayLedgerService({ base_url: url, connections, api_key_env: env }: LedgerService): string {
  if (connections.length > 0) return `${url} (connection ${connections.join(', ')})`
  return env === null ? url : `${url} (key in ${env})`
}
