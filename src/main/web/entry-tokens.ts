import { createHash, randomBytes } from 'node:crypto'

/** How long a token lets a browser in, milliseconds. */
const TOKEN_LIFE_MS = 10 * 60_000

/** Tokens that let one browser in, once. */
export interface EntryTokens {
  /** Makes a token. */
  issue(): string
  /** Whether the token was issued, is not too old and was not redeemed before. */
  redeem(token: string): boolean
}

/** Makes the issuer of tokens. `now` tells milliseconds that only ever grow. */
export function createEntryTokens(now: () => number): EntryTokens {
  // Kept by their hashes, so that how long a look-up takes tells nothing of a token.
  const issued = new Map<string, number>()
  return {
    issue() {
      const token = randomBytes(32).toString('base64url')
      issued.set(toHash(token), now())
      return token
    },
    redeem(token) {
      const hash = toHash(token)
      const issuedAt = issued.get(hash)
      issued.delete(hash)
      return issuedAt !== undefined && now() - issuedAt <= TOKEN_LIFE_MS
    },
  }
}

function toHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
