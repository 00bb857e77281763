import type { KeyStore } from './store/key-store.ts'

const TOKEN = /^token +(\S+) *$/i

/**
 * Whether a request's authorization header is `token KEY` with a key of the project (docs/interface.md §5). A missing
 * or malformed header matches no key.
 */
export function isAuthorized(header: string | undefined, keys: KeyStore): boolean {
  const key = header === undefined ? undefined : TOKEN.exec(header)?.[1]
  return key !== undefined && keys.isValid(key)
}
