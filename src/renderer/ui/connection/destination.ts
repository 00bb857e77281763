/** A deployment that is typed in by hand. */
export interface ServiceDestination {
  kind: 'service'
  /** As typed. */
  baseUrl: string
  /** The second host for v2 tasks as typed; empty where it is the same. */
  taskBaseUrl: string
  /** Kept in memory only; empty where the environment's key is used. */
  apiKey: string
}

/** Where the rows go. */
export type Destination = { kind: 'sandbox' } | ServiceDestination

/** A base URL as a plan wants it, without a trailing slash, or what is wrong with it. */
export function parseBaseUrl(text: string): { kind: 'url'; url: string } | { kind: 'bad'; message: string } {
  const trimmed = text.trim()
  if (trimmed === '')
    return { kind: 'bad', message: 'Type the address of the service, as in https://api.example.com' }
  let url: URL
  try {
    url = new URL(trimmed)
  } catch {
    return { kind: 'bad', message: 'This is no address: it must begin with https:// or http://' }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { kind: 'bad', message: `The address must begin with https:// or http://, not ${url.protocol}//` }
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

/** What keeps rows from going to a destination, or null. `needsKey` is false where the operation is sent without one. */
export function findDestinationGap(
  destination: Destination,
  options: { environmentHasKey: boolean; needsKey: boolean },
): string | null {
  if (destination.kind === 'sandbox') return null
  const url = parseBaseUrl(destination.baseUrl)
  if (url.kind === 'bad') return url.message
  if (destination.taskBaseUrl.trim() !== '') {
    const second = parseBaseUrl(destination.taskBaseUrl)
    if (second.kind === 'bad') return second.message
  }
  if (options.needsKey && destination.apiKey.trim() === '' && !options.environmentHasKey) {
    return 'Type the API key of the service'
  }
  return null
}

/** Whether an address names this machine alone, so that nothing elsewhere can reach it. */
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

/** What a destination is called where there is little room. */
export function nameDestination(destination: Destination): string {
  if (destination.kind === 'sandbox') return 'the sandbox'
  const parsed = parseBaseUrl(destination.baseUrl)
  return parsed.kind === 'url' ? new URL(parsed.url).host : 'a service'
}

/** Base URL of a service that was named; null for the sandbox, which is on this machine, and while it is no address. */
export function toServiceUrl(destination: Destination): string | null {
  if (destination.kind === 'sandbox') return null
  const parsed = parseBaseUrl(destination.baseUrl)
  return parsed.kind === 'url' ? parsed.url : null
}
