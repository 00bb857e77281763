import { BlockList, isIP } from 'node:net'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { findResolved } from '../../../shared/plan/resolved-host.ts'
import type { SystemRoute } from '../../../shared/plan/system-route.ts'
import { ProxyCredentials } from './bound-secret.ts'

/** A proxy named by the system, in a connection's form, with its credentials. */
export interface SystemProxy {
  proxy: NonNullable<PlanConnection['proxy']>
  /** Null if the system names none. */
  credentials: ProxyCredentials | null
}

/** Finds the system's proxy for an address; null without one. Rejects with `BAD_PLAN` for an unusable one. */
export type FindSystemProxy = (url: string) => Promise<SystemProxy | null>

type ProxyChoice = Pick<PlanConnection, 'proxy' | 'systemProxy'> &
  Partial<Pick<PlanConnection, 'resolve' | 'unixSocket'>>

/**
 * Decides whether requests of a connection to `url` use a system proxy. Only https does: it passes through
 * the proxy in a tunnel, with the service's certificate checked at its end, so that the proxy never sees the
 * key. Rejects with `BAD_PLAN` for a proxy that cannot be used.
 */
export async function findSystemRoute(
  url: string,
  choice: ProxyChoice,
  find: FindSystemProxy,
): Promise<SystemRoute> {
  const why = findReasonAgainst(url, choice)
  if (why !== null) return { kind: why }
  const found = await find(url)
  return found === null ? { kind: 'direct' } : { kind: 'proxy', url: found.proxy.url }
}

function findReasonAgainst(url: string, { proxy, systemProxy = true, resolve, unixSocket }: ProxyChoice) {
  if (proxy !== undefined || !systemProxy) return 'off'
  // A proxy would resolve the name itself.
  if (unixSocket !== undefined || findResolved(resolve, url) !== null) return 'direct'
  const { protocol, hostname } = new URL(url)
  if (isThisMachine(hostname)) return 'direct'
  return protocol === 'https:' ? null : 'unencrypted'
}

/**
 * A connection completed with the proxy for its requests to `url`, and the credentials for that. `own` are
 * those of the connection's own proxy. Rejects with `BAD_PLAN` for a proxy that cannot be used.
 */
export async function addSystemProxy<Connection extends ProxyChoice>(
  url: string,
  connection: Connection,
  own: ProxyCredentials | null,
  find: FindSystemProxy,
): Promise<{ connection: Connection; proxyCredentials: ProxyCredentials | null }> {
  const found = findReasonAgainst(url, connection) === null ? await find(url) : null
  if (found === null) return { connection, proxyCredentials: own }
  return { connection: { ...connection, proxy: found.proxy }, proxyCredentials: found.credentials }
}

function isThisMachine(hostname: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|(.+\.)?localhost)$/.test(hostname)
}

/**
 * The environment's proxies for https, read like curl does: `HTTPS_PROXY` or else `ALL_PROXY`, except for
 * hosts in `NO_PROXY`; the lower-case form of each wins.
 */
export function createEnvironmentProxies(env: NodeJS.ProcessEnv): FindSystemProxy {
  const read = (name: string) => [name.toLowerCase(), name].find((one) => (env[one] ?? '') !== '')
  return async (url) => {
    const variable = read('HTTPS_PROXY') ?? read('ALL_PROXY')
    const exceptions = env[read('NO_PROXY') ?? ''] ?? ''
    if (variable === undefined || isExcepted(new URL(url), exceptions)) return null
    return parseVariable(variable, env[variable] ?? '', url)
  }
}

/**
 * Whether `NO_PROXY` includes the host of an address: `*`, a host and its subdomains, an IP address or a
 * range of them (`10.0.0.0/8`), each but a range with or without a port.
 */
function isExcepted(url: URL, exceptions: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      if (isInRange(host, entry)) return true
      const [, named = '', onlyPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? []
      if (onlyPort !== undefined && onlyPort !== (url.port || '443')) return false
      const below = named.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      return host === below || host.endsWith(`.${below}`)
    })
}

/** Whether a host is an IP address covered by an entry such as `fe80::1` or `10.0.0.0/8`. */
function isInRange(host: string, entry: string): boolean {
  const [address = '', bits] = entry.replace(/^\[|\]$/g, '').split('/')
  const [found, family] = [isIP(host), isIP(address)]
  if (family === 0 || found !== family) return false
  const most = family === 4 ? 32 : 128
  const prefix = bits === undefined ? most : /^\d+$/.test(bits) ? Number(bits) : most + 1
  if (prefix > most) return false
  const range = new BlockList()
  range.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  return range.check(host, found === 4 ? 'ipv4' : 'ipv6')
}

/** A part of an address, percent-decoded; invalid encodings stay unchanged. */
function decodePart(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}

function parseVariable(variable: string, value: string, url: string): SystemProxy {
  const text = value.includes('://') ? value : `http://${value}`
  // The variable's contents are not repeated: they may include a password.
  if (!URL.canParse(text)) throw new SluiceError({ id: 'system_proxy_unreadable', variable })
  const { protocol, host, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') throw toUnusable(`${protocol}//${host}`, url)
  const proxy = { url: `${protocol}//${host}` }
  if (username === '') return { proxy, credentials: null }
  const login = `${decodePart(username)}:${decodePart(password)}`
  return {
    proxy: { ...proxy, credentialsEnv: variable },
    credentials: ProxyCredentials.create(login, proxy.url, variable),
  }
}

/**
 * Parses the answer of a proxy script or the system's settings for an address, such as `PROXY a:3128;
 * DIRECT`: the first usable entry. Null if that is not a proxy. Throws `BAD_PLAN` if no entry is usable.
 */
export function parseProxyList(list: string, url: string): SystemProxy | null {
  const ways = list.split(';').map((way) => way.trim().split(/\s+/))
  for (const [kind = '', address = ''] of ways) {
    if (kind === 'DIRECT') return null
    const scheme = PROXY_SCHEMES[kind]
    if (scheme !== undefined && URL.canParse(`${scheme}//${address}`)) {
      return { proxy: { url: `${scheme}//${new URL(`${scheme}//${address}`).host}` }, credentials: null }
    }
  }
  const [[kind = '', address = ''] = []] = ways
  if (kind === '') return null
  throw toUnusable(`${kind} ${address}`.trim(), url)
}

const PROXY_SCHEMES: Readonly<Record<string, string>> = { PROXY: 'http:', HTTP: 'http:', HTTPS: 'https:' }

function toUnusable(found: string, url: string): SluiceError {
  return new SluiceError({ id: 'system_proxy_unusable', found, host: new URL(url).host })
}
