import type { IncomingMessage } from 'node:http'

/** Why a request is refused, as an HTTP status and a sentence. */
export interface Refusal {
  status: number
  reason: string
}

/** The one page that another site, or a file, may lead to. */
export const ENTRY_PATH = '/enter'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Refuses what does not come from our own page: another host name (DNS rebinding), another origin, another site. Null
 * where nothing speaks against the request. Whether the browser was let in is another question.
 */
export function checkRequest(request: IncomingMessage, origin: string): Refusal | null {
  const { method = '', headers, url = '' } = request
  if (headers.host !== new URL(origin).host)
    return { status: 421, reason: 'This address is not served here.' }
  const isUpgrade = headers.upgrade !== undefined
  const mustNameOrigin = isUpgrade || !SAFE_METHODS.has(method)
  if (headers.origin === undefined ? mustNameOrigin : headers.origin !== origin) {
    return { status: 403, reason: 'Requests from other origins are refused.' }
  }
  const site = headers['sec-fetch-site']
  const isEntry = method === 'GET' && url === ENTRY_PATH && headers['sec-fetch-mode'] === 'navigate'
  if (site === undefined || site === 'same-origin' || site === 'none' || isEntry) return null
  return { status: 403, reason: 'Requests from other sites are refused.' }
}
