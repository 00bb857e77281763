/** Where the service's paths begin, which a base URL does not include (docs/interface.md §4). */
const API_PATH = /\/+api\/+v\d+(?:\/.*)?$/i

/**
 * A base URL without the path that each request adds: `https://example.com/api/v1/task/sync` becomes
 * `https://example.com`. A deployment's prefix stays; a trailing slash is removed.
 */
export function toBaseUrl(url: string): string {
  return url.replace(API_PATH, '').replace(/\/+$/, '')
}

/** Says which address is used instead of one that contains an endpoint's path; null for a base URL. */
export function sayCorrectedUrl(url: string): string | null {
  const [path] = API_PATH.exec(url) ?? []
  if (path === undefined) return null
  return `Using ${toBaseUrl(url)} as the base URL, without ${path}: Sluice adds the path of each endpoint itself.`
}
