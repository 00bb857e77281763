/** Synchronous endpoints answer with the result, asynchronous ones with an acknowledgement (docs/interface.md §1). */
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
 * Path and query of a task submission (docs/interface.md §4.1, §4.2, §9). `legacy` asks for the legacy response, which
 * only v1 has.
 */
export function taskPath(task: { api: Api; mode: Mode; legacy: boolean }): string {
  const query = task.legacy && task.api === 'v1' ? '?legacy=1' : ''
  return `/api/${task.api}/task/${task.mode}${query}`
}

/**
 * Whether an id would leave its place in a path: `.` or `..`, also percent-encoded any number of times, which clients
 * and gateways take for steps between folders.
 */
export function isDotSegment(id: string): boolean {
  return /^(?:\.|%(?:25)*2e){1,2}$/i.test(id)
}

function toSegment(id: string): string {
  if (isDotSegment(id)) throw new Error(`the id ${JSON.stringify(id)} would leave its place in the path`)
  return encodeURIComponent(id)
}

/** Path that adds an item to a custom index (docs/interface.md §4.3). */
export function indexAddPath(index: { customIndexId: string; mode: Mode }): string {
  return `/api/v1/custom_index/${toSegment(index.customIndexId)}/add/${index.mode}`
}

/** Path that removes an item from a custom index (docs/interface.md §4.4). */
export function indexRemovePath(index: { customIndexId: string; mode: Mode }): string {
  return `/api/v1/custom_index/${toSegment(index.customIndexId)}/remove/${index.mode}`
}

/** Path that adds terms to a watchlist (docs/interface.md §4.5). */
export const WATCHLIST_ADD_PATH = '/api/v1/watchlist/add'

/** Path that updates terms of a watchlist (docs/interface.md §4.6). */
export const WATCHLIST_UPDATE_PATH = '/api/v1/watchlist/update'

/** Path of an appeal's status; GET, without a key (docs/interface.md §4.7, §5.6). */
export function appealStatusPath(appealId: string): string {
  return `/api/v1/appeals/status/${toSegment(appealId)}`
}
