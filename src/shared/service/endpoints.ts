/** Synchronous endpoints answer with the result, others with an acknowledgement (docs/interface.md §1). */
export type Mode = 'sync' | 'async'

/** Version of the task endpoints; it is part of the path (docs/interface.md §9). */
export type Api = 'v1' | 'v2'

/** The header that carries the API key (docs/interface.md §5). Names of HTTP headers are case-insensitive. */
export const AUTHORIZATION_HEADER = 'authorization'

/** Every body is JSON (docs/interface.md §4). */
export const JSON_CONTENT_TYPE = 'application/json'

/** Seconds, or an HTTP date, to wait after a 429; not shown in the interface, standard in HTTP. */
export const RETRY_AFTER_HEADER = 'retry-after'

/** Value of the authorization header: `token KEY` (docs/interface.md §5). The result is a secret. */
export function toAuthorization(key: string): string {
  return `token ${key}`
}

/**
 * Whether an id would change the path: `.` or `..`, also percent-encoded any number of times, which clients
 * and gateways resolve as folders.
 */
export function isDotSegment(id: string): boolean {
  return /^(?:\.|%(?:25)*2e){1,2}$/i.test(id)
}

/** A folder's inner path for a URL: percent-encoded, except for its slashes. */
export function toSegments(path: string): string {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

export function toSegment(id: string): string {
  if (isDotSegment(id)) throw new Error(`the id ${JSON.stringify(id)} would leave its place in the path`)
  return encodeURIComponent(id)
}
