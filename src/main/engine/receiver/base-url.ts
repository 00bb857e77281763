import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

const LOOPBACK = '127.0.0.1'

/** Whether a host means every address of this machine. */
export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/**
 * The address that others reach a listener at, without a trailing slash. Where it listens on every address, the first
 * one that other machines know this one by, else loopback.
 */
export function toBaseUrl(
  host: string,
  port: number,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string {
  const reachable = isEveryAddress(host) ? findOwnAddress(host, interfaces) : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

function findOwnAddress(host: string, interfaces: ReturnType<typeof networkInterfaces>): string {
  const outward = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  const own = (family: string) => outward.find((one) => one.family === family)?.address
  // '::' takes IPv4 too, which more services can reach.
  return own('IPv4') ?? (host === '::' ? own('IPv6') : undefined) ?? LOOPBACK
}
