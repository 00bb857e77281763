import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { RunSummary } from '../../../shared/run/run.ts'

/** Where a key goes. */
type Addresses = Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'>

const keys = new Map<string, string>()

/** Remembers a key that was typed for these addresses until the window closes or its page is reloaded. */
export function rememberTypedKey(addresses: Addresses, apiKey: string): void {
  keys.set(toName(addresses), apiKey)
}

/** The key that was last typed in this window for exactly these addresses; empty where there is none. */
export function recallTypedKey(addresses: Addresses): string {
  return keys.get(toName(addresses)) ?? ''
}

/** The addresses that a run goes to. */
export function toAddresses({
  base_url,
  task_base_url = base_url,
}: Pick<RunSummary, 'base_url' | 'task_base_url'>): Addresses {
  return { baseUrl: base_url, taskBaseUrl: task_base_url }
}

function toName({ baseUrl, taskBaseUrl = baseUrl }: Addresses): string {
  return JSON.stringify([baseUrl, taskBaseUrl])
}
