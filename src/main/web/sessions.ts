import { createHash, randomBytes } from 'node:crypto'

const COOKIE_NAME = 'sluice_session'

/** Idle time, without requests or websockets, after which a browser must be let in again, milliseconds. */
export const SESSION_IDLE_MS = 60 * 60_000

/** Time after which every browser must be let in again and its websockets are closed, milliseconds. */
export const SESSION_LIFE_MS = 24 * 60 * 60_000

interface Session {
  /** Counts a websocket as use until the returned function is called. Calls `end` when the session ends. */
  hold(end: () => void): () => void
}

interface OpenSession extends Session {
  readonly openedAt: number
  usedAt: number
  readonly ends: Set<() => void>
}

/** Creates the register of sessions, kept as long as the shell. `now`: a monotonic clock in milliseconds. */
export function createSessions(now: () => number) {
  // Stored as hashes, so that the time of a look-up reveals nothing about a cookie.
  const open = new Map<string, OpenSession>()

  const isOver = ({ openedAt, usedAt, ends }: OpenSession) =>
    now() - openedAt > SESSION_LIFE_MS || (ends.size === 0 && now() - usedAt > SESSION_IDLE_MS)

  function sweep(): void {
    for (const [hash, session] of open) {
      if (!isOver(session)) continue
      open.delete(hash)
      for (const end of session.ends) end()
    }
  }

  function createSession(): OpenSession {
    const session: OpenSession = {
      openedAt: now(),
      usedAt: now(),
      ends: new Set(),
      hold(end) {
        session.ends.add(end)
        return () => {
          session.ends.delete(end)
          session.usedAt = now()
        }
      },
    }
    return session
  }

  return {
    /** Lets a browser in, and returns the value for `Set-Cookie`. */
    open(): string {
      const value = randomBytes(32).toString('base64url')
      open.set(toHash(value), createSession())
      return `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_LIFE_MS / 1000}`
    },
    /** The session of a request's `Cookie` header, which counts as use; null if there is none or it ended. */
    find(cookieHeader: string | undefined = ''): Session | null {
      sweep()
      const session = cookieHeader
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
        .map((pair) => open.get(toHash(pair.slice(COOKIE_NAME.length + 1))))
        .find((found) => found !== undefined)
      if (session === undefined) return null
      session.usedAt = now()
      return session
    },
    /** Ends expired sessions; call it now and then. */
    sweep,
  }
}

/** Browsers that were let in. */
export interface Sessions extends ReturnType<typeof createSessions> {}

/** The hash that a secret is stored as, so that the time of a look-up reveals nothing about it. */
export function toHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
