import { z } from 'zod'

/** A host and port of the service, and the address to use for its name. */
export interface ResolvedHost {
  host: string
  port: string
  address: string
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/

/** Reads `HOST:PORT:ADDRESS`, as in curl; null for anything else. An IPv6 address may be in brackets. */
export function parseResolvedHost(text: string): ResolvedHost | null {
  const [, host = '', port = '', written = ''] = /^([^:[\]\s]+):(\d{1,5}):(\S+)$/.exec(text) ?? []
  const address = written.replace(/^\[(.*)\]$/, '$1')
  if (host === '' || IPV4.test(host) || Number(port) > 65_535 || Number(port) < 1) return null
  const isAddress = address.includes(':') ? URL.canParse(`http://[${address}]`) : isIpv4(address)
  return isAddress ? { host: host.toLowerCase(), port: String(Number(port)), address } : null
}

function isIpv4(text: string): boolean {
  return IPV4.test(text) && text.split('.').every((part) => Number(part) <= 255)
}

export const resolvedHostSchema = z.string().refine((text) => parseResolvedHost(text) !== null, {
  error:
    'expected HOST:PORT:ADDRESS with a host name and an IP address, such as api.example.com:443:10.0.0.7',
})

/** The address to use for the host of `url`; null if there is none. */
export function findResolved(resolve: readonly string[] | undefined, url: string): string | null {
  const { hostname, port, protocol } = new URL(url)
  const wanted = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  const found = resolve
    ?.map(parseResolvedHost)
    .findLast((one) => one?.host === hostname && one.port === wanted)
  return found?.address ?? null
}
