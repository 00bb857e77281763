import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { PlannedAgain } from '../../../shared/bridge/history.ts'
import {
  findActiveEntry,
  isAtHand,
  isProductionAddress,
  type NamedPlace,
  sayActiveKey,
} from '../../ui/connection/destination.ts'

/** The choice of where the earlier run went. */
export const AS_BEFORE = 'before'
export const SANDBOX = 'sandbox'
/** What precedes the name of a stored connection as a choice. */
export const STORED = 'stored:'

/** Where a run goes again, and with which key, as a person has to know it before anything is sent. */
export interface AgainPlace {
  place: NamedPlace
  /** Empty for the sandbox, which is on this machine. */
  addresses: string[]
  /** A sentence. */
  key: string
}

/** Where a run goes again with a choice of a connection. */
export function toAgainPlace(
  plan: PlannedAgain,
  choice: string,
  connections: readonly ConnectionEntry[],
): AgainPlace {
  if (choice === SANDBOX || (choice === AS_BEFORE && plan.isSandbox)) {
    const key = plan.sendsKey ? 'No stored key is sent.' : 'No API key is sent.'
    return { place: { name: 'the sandbox', kind: 'sandbox' }, addresses: [], key }
  }
  const name = choice === AS_BEFORE ? plan.connectionName : choice.slice(STORED.length)
  const entry = connections.find((one) => one.name === name)
  const { baseUrl, taskBaseUrl } = choice === AS_BEFORE ? plan : (entry?.connection ?? plan)
  const addresses = [baseUrl, ...(taskBaseUrl == null || taskBaseUrl === baseUrl ? [] : [taskBaseUrl])]
  const isProduction = entry?.isProduction === true || isProductionAddress(addresses, connections)
  return {
    place: { name: name ?? baseUrl.replace(/^https?:\/\//, ''), kind: isProduction ? 'production' : 'other' },
    addresses,
    key: sayKey(plan, entry, needsKey(plan, choice, connections)),
  }
}

/** Whether a person has to enter the key. */
export function needsKey(
  plan: PlannedAgain,
  choice: string,
  connections: readonly ConnectionEntry[],
): boolean {
  if (choice === AS_BEFORE) return plan.needsKey
  if (choice === SANDBOX || !plan.sendsKey) return false
  const entry = connections.find(({ name }) => STORED + name === choice)
  return entry === undefined || !isAtHand(findActiveEntry(entry))
}

function sayKey(plan: PlannedAgain, entry: ConnectionEntry | undefined, isNeeded: boolean): string {
  if (!plan.sendsKey) return 'No API key is sent.'
  return isNeeded || entry === undefined ? 'The key that you enter here is sent.' : sayActiveKey(entry)
}
