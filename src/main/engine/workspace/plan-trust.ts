import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import { sendsKey } from '../../../shared/operations/operations.ts'
import type { KeyFrom } from '../../../shared/plan/connection.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { listHeaderReferences } from '../../../shared/plan/request-headers.ts'
import { nameSource } from '../../../shared/plan/source-paths.ts'
import type { Connections } from '../../../shared/plan/stored-connection.ts'
import { hasHeadersOf, staysWithin } from './connection-secrets.ts'

/**
 * What a plan file sends and where to, in a phrase: its secrets, the ids of appeals, for which no key vouches, and cells
 * that the service would take to addresses of the plan. Null if it keeps to a connection that the workspace stores.
 */
export function describeUntrusted(
  plan: Plan,
  stored: Connections,
  { isConnectionGiven = false }: { isConnectionGiven?: boolean } = {},
): string | null {
  // If a person says the service, it is not the plan that leads anywhere.
  const sent = [...(isConnectionGiven ? [] : describeAccess(plan, stored)), ...describeAddresses(plan)]
  return sent.length === 0 ? null : sent.join(', and ')
}

const GIVEN_KEYS: Record<KeyFrom, string> = {
  window: 'the API key that you type',
  file: 'the API key of --api-key-file',
  command: 'the API key of --api-key-command',
}

function describeAccess(plan: Plan, { connections }: Connections): string[] {
  const { connection, operation } = plan
  const { name, apiKeyEnv, keyFrom, proxy, userAgent } = connection
  // The status of an appeal is read without a key (docs/interface.md §5.6).
  const hasKey = sendsKey(operation)
  const login = proxy?.credentialsEnv
  const isKnown = connections.some(
    (stored) =>
      (name === undefined || stored.name === name) &&
      (!hasKey || keyFrom !== undefined || stored.keys.some(({ env }) => env === apiKeyEnv)) &&
      staysWithin(stored, connection) &&
      hasHeadersOf(stored, connection),
  )
  if (isKnown) return []
  const key = keyFrom === undefined ? `the API key in ${apiKeyEnv}` : GIVEN_KEYS[keyFrom]
  const headers = listHeaderReferences(connection.headers).map(
    ([header, written]) => `${header} (${written})`,
  )
  const to = `${listAddresses(connection).join(' and ')}${describeWay(connection)}`
  return [
    `${hasKey ? key : describeAppeals(plan)} to ${to}`,
    ...(headers.length === 0 ? [] : [`the header ${headers.join(', ')} to ${to}`]),
    // Its text may be the value of a variable, which is not repeated.
    ...(userAgent === undefined ? [] : [`the user agent of the plan to ${to}`]),
    ...(login === undefined || proxy === undefined
      ? []
      : [`the credentials in ${login} to ${new URL(proxy.url).origin}`]),
  ]
}

/**
 * Where requests go, with a path if there is one: values of variables in it go there, too. Written as a URL is parsed, so
 * that a host that only looks like another is told from it.
 */
function listAddresses({ baseUrl, taskBaseUrl }: Plan['connection']): string[] {
  const addresses = [baseUrl, ...(taskBaseUrl === undefined ? [] : [taskBaseUrl])]
  return [...new Set(addresses.map((address) => new URL(address).href.replace(/\/+$/, '')))]
}

/** What leads requests elsewhere than to the host that the address names, or vouches for who answers there. */
function describeWay({ proxy, resolve = [], unixSocket, tls }: Plan['connection']): string {
  return [
    ...(proxy === undefined ? [] : [` through the proxy ${new URL(proxy.url).origin}`]),
    ...resolve.map((one) => ` by ${one}`),
    ...(unixSocket === undefined ? [] : [` by the socket ${unixSocket}`]),
    ...(tls?.caFile === undefined ? [] : [` trusting the certificates in ${tls.caFile}`]),
  ].join('')
}

/** The service posts each outcome to a callback address, and fetches media from theirs: both may hold cells. */
function describeAddresses({ mapping }: Plan): string[] {
  return Object.entries(mapping).flatMap(([field, from]) => {
    if (from.kind !== 'template' || from.template === '') return []
    if (field === 'callback_url') return [`the callback of each row to ${from.template}`]
    const isAddress = /^\s*https?:/i.test(from.template)
    return isAddress && !isConstantTemplate(from.template)
      ? [`cells of each row to ${from.template} (${field})`]
      : []
  })
}

function describeAppeals({ source, mapping }: Plan): string {
  const from = mapping['appeal_id']
  const column = from?.kind === 'column' ? ` (column ${from.column})` : ''
  return `the appeal_id of each row of ${nameSource(source)}${column}`
}
