import type { ConnectionEntry, ConnectionKeyEntry } from '../../../shared/bridge/connections.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { findProduction, listAddresses } from '../../../shared/plan/production-service.ts'
import { findActiveKey } from '../../../shared/plan/stored-connection.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { sayCorrectedUrl, toBaseUrl } from '../../../shared/service/base-url.ts'

/** A deployment typed in by hand. */
export interface ServiceDestination {
  kind: 'service'
  /** As typed. */
  baseUrl: string
  /** The second host for v2 tasks, as typed; empty if it is the same. */
  taskBaseUrl: string
  /** Kept in memory only. */
  apiKey: string
}

interface StoredDestination {
  kind: 'stored'
  name: string
  /** Kept in memory only; empty to use the variable of its active key. */
  apiKey: string
}

export type Destination = { kind: 'sandbox' } | StoredDestination | ServiceDestination

/** The stored connection that a destination names, if there is one. */
export function findEntry(
  destination: Destination,
  connections: readonly ConnectionEntry[],
): ConnectionEntry | null {
  if (destination.kind !== 'stored') return null
  return connections.find((entry) => entry.name === destination.name) ?? null
}

/** Which key of a connection is sent, and whether it is available, as a sentence. */
export function sayActiveKey(entry: ConnectionEntry): string {
  const { activeKey } = entry
  const { env: variable, place, state } = findActiveKey(entry) ?? {}
  if (state === 'asking') return `Key ${activeKey}, as typed; the system may ask you to unlock it.`
  if (state === 'locked') {
    return `Key ${activeKey} cannot be read: unlock it, or type it again under Connections.`
  }
  const isSet = state === 'ready'
  if (place !== undefined) {
    return isSet ? `Key ${activeKey}, as typed.` : `Key ${activeKey} has to be typed again under Connections.`
  }
  if (variable === undefined) return `Key ${activeKey} is not typed yet.`
  return `Key ${activeKey}, from the variable ${variable}${isSet ? '.' : ', which is not set here.'}`
}

/** Whether a key can be sent, perhaps after a person unlocks its store. */
export function isAtHand(key: ConnectionKeyEntry | null): boolean {
  return key?.state === 'ready' || key?.state === 'asking'
}

/** Whether typed text would be used for a key: a variable that is set wins. */
export function isTypeable({ env, place, state }: ConnectionKeyEntry): boolean {
  return env === undefined || place !== undefined || state === 'missing'
}

/** Whether the store of one of a connection's keys has not answered yet. */
export function isAskedFor({ keys }: ConnectionEntry): boolean {
  return keys.some(({ state }) => state === 'asking')
}

/** An address for a plan, without a trailing slash, or what is wrong with it. */
export function parseBaseUrl(text: string): { kind: 'url'; url: string } | { kind: 'bad'; message: string } {
  const trimmed = text.trim()
  if (trimmed === '')
    return { kind: 'bad', message: 'Type the address of the service, as in https://api.example.com' }
  let url: URL
  try {
    url = new URL(trimmed)
  } catch {
    return { kind: 'bad', message: 'Not an address: it must begin with https:// or http://' }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { kind: 'bad', message: 'The address must begin with https:// or http://' }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      kind: 'bad',
      message: 'Leave user name and password out of the address; the API key has its own field',
    }
  }
  if (url.search !== '' || url.hash !== '') {
    return { kind: 'bad', message: 'Leave out everything from ? or # on; paths are added by Sluice' }
  }
  return { kind: 'url', url: `${url.origin}${url.pathname}`.replace(/\/+$/, '') }
}

/** A service's base URL, without a typed endpoint's path, which `note` tells; or what is wrong with it. */
export function parseServiceUrl(
  text: string,
): { kind: 'url'; url: string; note: string | null } | { kind: 'bad'; message: string } {
  const parsed = parseBaseUrl(text)
  return parsed.kind === 'bad'
    ? parsed
    : { kind: 'url', url: toBaseUrl(parsed.url), note: sayCorrectedUrl(parsed.url) }
}

/** What a destination is checked against. */
interface DestinationSurroundings {
  /** False if the operation needs no key. */
  needsKey: boolean
  connections: readonly ConnectionEntry[]
}

/** What prevents rows from going to a destination; null if nothing. */
export function findDestinationGap(
  destination: Destination,
  { needsKey, connections }: DestinationSurroundings,
): string | null {
  if (destination.kind === 'sandbox') return null
  const isTyped = destination.apiKey.trim() !== ''
  if (destination.kind === 'stored') {
    const entry = findEntry(destination, connections)
    if (entry === null) return `The connection ${destination.name} is no longer stored`
    return needsKey && !isTyped && !isAtHand(findActiveKey(entry))
      ? `Type the API key of ${entry.name}`
      : null
  }
  const url = parseServiceUrl(destination.baseUrl)
  if (url.kind === 'bad') return url.message
  if (destination.taskBaseUrl.trim() !== '') {
    const second = parseServiceUrl(destination.taskBaseUrl)
    if (second.kind === 'bad') return second.message
  }
  return needsKey && !isTyped ? 'Type the API key of the service' : null
}

/** Whether an address means this machine alone, so that others cannot reach it. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/** A one-line description of an address or a connection: its name and its kind. */
export interface NamedPlace {
  name: string
  kind: 'sandbox' | 'production' | 'other'
}

/** Whether one of these addresses leads to the service of a production connection. */
export function isProductionAddress(
  addresses: readonly string[],
  connections: readonly ConnectionEntry[],
): boolean {
  const marked = connections.map(({ isProduction, name, connection }) => ({
    ...connection,
    isProduction,
    name,
  }))
  return addresses.some((baseUrl) => findProduction(marked, { baseUrl }) !== null)
}

export function nameDestination(
  destination: Destination,
  connections: readonly ConnectionEntry[],
): NamedPlace {
  if (destination.kind === 'sandbox') return { name: 'the sandbox', kind: 'sandbox' }
  if (destination.kind === 'stored') {
    const entry = findEntry(destination, connections)
    const addresses = entry === null ? [] : listAddresses(entry.connection)
    const kind = isProductionAddress(addresses, connections) ? 'production' : 'other'
    return { name: destination.name, kind }
  }
  const parsed = parseServiceUrl(destination.baseUrl)
  if (parsed.kind !== 'url') return { name: 'a service', kind: 'other' }
  const second = parseServiceUrl(destination.taskBaseUrl)
  const addresses = second.kind === 'url' ? [parsed.url, second.url] : [parsed.url]
  const kind = isProductionAddress(addresses, connections) ? 'production' : 'other'
  return { name: new URL(parsed.url).host, kind }
}

/** Names the service at an address; `connection` is the one in a run's plan, if any. */
export type NamePlace = (baseUrl: string, connection?: string) => NamedPlace

/**
 * The name of the service at an address: the sandbox, the plan's connection, the only stored connection with
 * this address, or the address itself.
 */
export function nameAddress(
  baseUrl: string,
  known: { sandboxBaseUrls: readonly string[]; connections: readonly ConnectionEntry[] },
  connection?: string,
): NamedPlace {
  if (known.sandboxBaseUrls.includes(baseUrl)) return { name: 'the sandbox', kind: 'sandbox' }
  const sharing = known.connections.filter((entry) => entry.connection.baseUrl === baseUrl)
  const only = sharing.length === 1 ? sharing[0]?.name : undefined
  const kind = isProductionAddress([baseUrl], known.connections) ? 'production' : 'other'
  return { name: connection ?? only ?? baseUrl.replace(/^https?:\/\//, ''), kind }
}

/** A service's base URL; null for the sandbox, on this machine, and while the text is not an address. */
export function toServiceUrl(
  destination: Destination,
  connections: readonly ConnectionEntry[],
): string | null {
  if (destination.kind === 'sandbox') return null
  if (destination.kind === 'stored') return findEntry(destination, connections)?.connection.baseUrl ?? null
  const parsed = parseServiceUrl(destination.baseUrl)
  return parsed.kind === 'url' ? parsed.url : null
}

const lastTyped = new Map<string, Destination>()

/** The key of a destination among the choices. */
export function toChoice(destination: Destination): string {
  return destination.kind === 'stored' ? `stored:${destination.name}` : destination.kind
}

/** Remembers a destination as typed, even if incomplete, until the page is reloaded. */
export function rememberDestination(destination: Destination, connections: readonly ConnectionEntry[]): void {
  lastTyped.set(toPlace(destination, connections), destination)
}

/**
 * The destination as last typed; `otherwise` if none was chosen in this window yet. A connection's key is not
 * used for another connection of the same name, nor for other addresses.
 */
export function recallDestination(
  otherwise: Destination,
  connections: readonly ConnectionEntry[],
): Destination {
  return lastTyped.get(toPlace(otherwise, connections)) ?? otherwise
}

function toPlace(destination: Destination, connections: readonly ConnectionEntry[]): string {
  const entry = findEntry(destination, connections)
  return `${toChoice(destination)} ${entry === null ? '' : toName(entry.connection)}`
}

/** The addresses that a key is for. */
type Addresses = Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'>

const keys = new Map<string, readonly string[]>()

/** Remembers a key typed for these addresses until the window closes or its page is reloaded. */
export function rememberTypedKey(addresses: Addresses, apiKey: string): void {
  keys.set(toName(addresses), [apiKey, ...recallTypedKeys(addresses).filter((known) => known !== apiKey)])
}

/** The keys typed in this window for exactly these addresses, the newest first. */
export function recallTypedKeys(addresses: Addresses): readonly string[] {
  return keys.get(toName(addresses)) ?? []
}

export function toAddresses({
  base_url,
  task_base_url = base_url,
}: Pick<RunSummary, 'base_url' | 'task_base_url'>): Addresses {
  return { baseUrl: base_url, taskBaseUrl: task_base_url }
}

function toName({ baseUrl, taskBaseUrl = baseUrl }: Addresses): string {
  return JSON.stringify([baseUrl, taskBaseUrl])
}
