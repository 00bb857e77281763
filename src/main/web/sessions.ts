import { createHash, randomBytes } from 'node:crypto'

const COOKIE_NAME = 'sluice_session'

/** Browsers that were let in. */
export interface Sessions {
  /** Lets a browser in; what to answer as `Set-Cookie`. */
  open(): string
  /** Whether a request's `Cookie` header is that of a browser that was let in. */
  isOpen(cookieHeader: string | undefined): boolean
}

/** Makes the register of sessions; it lives as long as the shell. */
export function createSessions(): Sessions {
  // Kept by their hashes, so that how long a look-up takes tells nothing of a cookie.
  const open = new Set<string>()
  return {
    open() {
      const value = randomBytes(32).toString('base64url')
      open.add(toHash(value))
      return `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict`
    },
    isOpen(cookieHeader = '') {
      return cookieHeader
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
        .some((pair) => open.has(toHash(pair.slice(COOKIE_NAME.length + 1))))
    },
  }
}

function toHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
