import { createHash, randomBytes } from 'node:crypto'

const COOKIE_NAME = 'sluice_session'

/** A browser that has sent nothing and holds no websocket for so long has to be let in again, milliseconds. */
export const SESSION_IDLE_MS = 60 * 60_000

/** Every browser has to be let in again after so long, milliseconds; its websockets are closed then. */
export const SESSION_LIFE_MS = 24 * 60 * 60_000

/** A browser that was let in. */
interface Session {
  /** Has a websocket count as use until the function it gives is called. `end` is called when the session ends. */
  hold(end: () => void): () => void
}

interface OpenSession extends Session {
  readonly openedAt: number
  usedAt: number
  readonly ends: Set<() => void>
}

/** Makes the register of sessions; it lives as long as the shell. `now` is a monotonic clock in milliseconds. */
export function createSessions(now: () => number) {
  // Kept by their hashes, so that the time of a look-up reveals nothing about a cookie.
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
    /** Lets a browser in; what to answer as `Set-Cookie`. */
    open(): string {
      const value = randomBytes(32).toString('base64url')
      open.set(toHash(value), createSession())
      return `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_LIFE_MS / 1000}`
    },
    /** The session that a request's `Cookie` header names, which is used hereby; null if there is none, or no longer. */
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
    /** Ends the sessions whose time is over; to be called now and then. */
    sweep,
  }
}

/** Browsers that were let in. */
export interface Sessions extends ReturnType<typeof createSessions> {}

/** What a secret is kept by, so that the time of a look-up reveals nothing about it. */
export function toHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
