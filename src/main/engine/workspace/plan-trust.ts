import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import { sendsKey } from '../../../shared/operations/operations.ts'
import type { KeyFrom } from '../../../shared/plan/connection.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { listHeaderReferences } from '../../../shared/plan/request-headers.ts'
import { nameSource } from '../../../shared/plan/source-paths.ts'
import type { Connections } from '../../../shared/plan/stored-connection.ts'
import { hasHeadersOf, staysWithin } from './connection-secrets.ts'

/**
 * Describes in a phrase what a plan file sends and where: its secrets, the ids of appeals, which are sent
 * without a key, and cells that the service would send on to addresses of the plan. Null if it keeps to a
 * connection that the workspace stores.
 */
export function describeUntrusted(
  plan: Plan,
  stored: Connections,
  { isConnectionGiven = false }: { isConnectionGiven?: boolean } = {},
): string | null {
  // If a person names the service, the plan does not decide where anything goes.
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
    // The text may be a variable's value, which must not be repeated.
    ...(userAgent === undefined ? [] : [`the user agent of the plan to ${to}`]),
    ...(login === undefined || proxy === undefined
      ? []
      : [`the credentials in ${login} to ${new URL(proxy.url).origin}`]),
  ]
}

/**
 * Where requests go, including the path, which may hold values of variables. Normalized as a URL, so that
 * lookalike hosts can be told apart.
 */
function listAddresses({ baseUrl, taskBaseUrl }: Plan['connection']): string[] {
  const addresses = [baseUrl, ...(taskBaseUrl === undefined ? [] : [taskBaseUrl])]
  return [...new Set(addresses.map((address) => new URL(address).href.replace(/\/+$/, '')))]
}

/** Settings that lead requests to another host than the address, or decide which server is trusted there. */
function describeWay({ proxy, resolve = [], unixSocket, tls }: Plan['connection']): string {
  return [
    ...(proxy === undefined ? [] : [` through the proxy ${new URL(proxy.url).origin}`]),
    ...resolve.map((one) => ` by ${one}`),
    ...(unixSocket === undefined ? [] : [` by the socket ${unixSocket}`]),
    ...(tls?.caFile === undefined ? [] : [` trusting the certificates in ${tls.caFile}`]),
  ].join('')
}

/** The service posts outcomes to the callback address and fetches media from theirs; both may hold cells. */
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
