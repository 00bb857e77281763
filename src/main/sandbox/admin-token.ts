import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Header that carries the token of the admin routes. */
export const ADMIN_TOKEN_HEADER = 'x-sandbox-token'

/** Makes the token of one start of a sandbox: 192 random bits, told only to whoever started it. */
export function createAdminToken(): string {
  return randomBytes(24).toString('base64url')
}

/** Whether a header's value is the token; takes the same time whatever was guessed. */
export function isAdminToken(value: string | string[] | undefined, token: string): boolean {
  return typeof value === 'string' && timingSafeEqual(digest(value), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
