/** Where the rows go. */
export type Destination =
  | { kind: 'sandbox' }
  | {
      kind: 'service'
      /** As typed. */
      baseUrl: string
      /** Kept in memory only; empty where the environment's key is used. */
      apiKey: string
    }

/** What Review decides: where to, how fast, how stubbornly. */
export interface Settings {
  destination: Destination
  /** Requests in flight. */
  concurrency: number
  /** Retries after the first try. */
  retries: number
  /** Longest wait for an answer, in seconds. */
  timeoutS: number
}

/** What a run starts with unless the person says otherwise. */
export const DEFAULT_SETTINGS: Settings = {
  destination: { kind: 'sandbox' },
  concurrency: 4,
  retries: 3,
  timeoutS: 60,
}

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

/** What keeps the settings from being used, or null. */
export function findBlocker(settings: Settings, environmentHasKey: boolean): string | null {
  const { destination } = settings
  if (destination.kind === 'sandbox') return null
  const url = parseBaseUrl(destination.baseUrl)
  if (url.kind === 'bad') return url.message
  if (destination.apiKey.trim() === '' && !environmentHasKey) return 'Type the API key of the service'
  return null
}

/** Time to send so many requests, in milliseconds, when each takes `answerMs` and `concurrency` are in flight. */
export function estimateDurationMs(requests: number, concurrency: number, answerMs: number): number {
  return Math.ceil(requests / Math.max(1, concurrency)) * answerMs
}
