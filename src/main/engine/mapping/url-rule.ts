import { addProblem, type Found, type RowRule } from './found-problems.ts'

const HTTP_URL = /^https?:\/\/[^\s]+(?: +[^\s]+)*$/i

/** Stricter than URL parsers, which drop white space around and line breaks inside: what is sent must be the URL. */
function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && HTTP_URL.test(value) && URL.canParse(value)
}

/** A field that is an address of http or https, where it is there. */
export function checkUrl(found: Found, row: number, field: string, value: unknown): Found {
  return value === undefined || isHttpUrl(value)
    ? found
    : addProblem(found, row, 'error', 'not_a_url', field, 'must be an http or https URL', value)
}

/** callback_url is listed for async only. */
export function createCallbackRule(mode: 'sync' | 'async'): RowRule {
  if (mode === 'async')
    return (found, row, body) => checkUrl(found, row, 'callback_url', body['callback_url'])
  const message = 'must be empty in sync; it is listed for async only'
  return (found, row, { callback_url: url }) =>
    url === undefined ? found : addProblem(found, row, 'error', 'not_for_mode', 'callback_url', message, url)
}
