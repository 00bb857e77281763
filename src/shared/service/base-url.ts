/** Where the paths of the service begin, which a base URL leaves out (docs/interface.md §4). */
const API_PATH = /\/+api\/+v\d+(?:\/.*)?$/i

/**
 * A base URL without the path that is added to it for each request: `https://example.com/api/v1/task/sync` becomes
 * `https://example.com`. The prefix of a deployment stays, and a trailing slash goes.
 */
export function toBaseUrl(url: string): string {
  return url.replace(API_PATH, '').replace(/\/+$/, '')
}

/** Says which address is used for one that has the path of an endpoint in it; null for a base URL. */
export function sayCorrectedUrl(url: string): string | null {
  const [path] = API_PATH.exec(url) ?? []
  if (path === undefined) return null
  return `Using ${toBaseUrl(url)} as the base URL, without ${path}: Sluice adds the path of each endpoint itself.`
}
