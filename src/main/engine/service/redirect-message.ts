import type { Answer } from './exchange.ts'

/** The interface's paths, after the base URL (docs/interface.md §4). */
const INTERFACE_PATH = /^(.*?)(?:\/api\/v\d+\/.*?)(\/?)$/

const NOT_FOLLOWED = 'which is not followed, so that the key stays here'

/** Describes an unfollowed redirect: where it leads and what to change. `baseUrl` is the one used. */
export function toRedirectMessage({ status, location }: Answer, baseUrl: string): string {
  const base = new URL(baseUrl)
  const target =
    location !== null && URL.canParse(location, base.origin) ? new URL(location, base.origin) : null
  if (target === null) {
    return `answered ${status}, a redirect elsewhere, ${NOT_FOLLOWED}; correct the base URL`
  }
  const [, prefix, slash = ''] = INTERFACE_PATH.exec(target.pathname) ?? []
  const where = `answered ${status}, a redirect to ${target.origin}`
  if (prefix === undefined) {
    return `${where}, ${NOT_FOLLOWED}; it leads to none of the service's paths: check the base URL, and what stands before the service`
  }
  const suggested = `${target.origin}${prefix.replace(/\/+$/, '')}`
  if (suggested !== `${base.origin}${base.pathname.replace(/\/+$/, '')}`) {
    return `${where}, ${NOT_FOLLOWED}; set the base URL to ${suggested}`
  }
  return slash === ''
    ? `${where}, ${NOT_FOLLOWED}; it leads to the same base URL, so another one does not help: have the service, or the proxy before it, answer the request itself`
    : `answered ${status}, a redirect to the same path with a slash at its end, ${NOT_FOLLOWED}; another base URL does not help: have the service, or the proxy before it, answer without that slash`
}
