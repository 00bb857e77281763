import type { PlanConnection } from './connection.ts'

/** Names of this machine, as `URL` spells them once a trailing dot is gone. */
const HERE = /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|(.+\.)?localhost)$/

/** An IPv4 address embedded in an IPv6 address, mapped or translated, as `URL` spells it. */
const EMBEDDED_IPV4 = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/

/**
 * The service of an address: its host in a normal form, regardless of scheme, port, user and path. On this
 * machine, where many programs listen, the port is included. Keys are bound more narrowly, to whole origins.
 */
export function toService(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  const host = toIpv4(hostname.replace(/\.+$/, ''))
  if (!HERE.test(host)) return host
  return `localhost:${port || (protocol === 'https:' ? '443' : '80')}`
}

function toIpv4(host: string): string {
  const halves = EMBEDDED_IPV4.exec(host)?.slice(1)
  if (halves === undefined) return host
  return halves
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.')
}

/** Whether any of these addresses leads to the same service as one of the others. */
export function sharesService(some: readonly string[], others: readonly string[]): boolean {
  const services = new Set(others.map(toService))
  return some.some((url) => services.has(toService(url)))
}

/** The addresses of a connection: its base URL, and that of its second host. */
export function listAddresses({
  baseUrl,
  taskBaseUrl,
}: Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'>): string[] {
  return [baseUrl, ...(taskBaseUrl === undefined ? [] : [taskBaseUrl])]
}

/** Where something is sent, under which stored name and through which proxy. */
export type Reached = Pick<PlanConnection, 'name' | 'baseUrl' | 'taskBaseUrl'> & {
  proxy?: { url: string } | undefined
}

/** The parts of a stored connection that tell what is production. */
export type Marked = Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'> & { name: string; isProduction: boolean }

/**
 * The stored production connection to which something is sent: the one with that name, or one whose service
 * is reached, if only as a proxy, which may answer requests itself. Null if there is none.
 */
export function findProduction<Stored extends Marked>(
  stored: readonly Stored[],
  { name, proxy, ...addresses }: Reached,
): Stored | null {
  const reached = [...listAddresses(addresses), ...(proxy === undefined ? [] : [proxy.url])]
  const marked = stored.filter(({ isProduction }) => isProduction)
  return (
    marked.find((one) => one.name === name) ??
    marked.find((one) => sharesService(listAddresses(one), reached)) ??
    null
  )
}
