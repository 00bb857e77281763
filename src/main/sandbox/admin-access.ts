import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isJsonObject } from '../../shared/service/json-object.ts'

export const ADMIN_TOKEN_HEADER = 'x-sandbox-token'

/** Makes the token of one start of a sandbox: 192 random bits, known only to whoever started it. */
export function createAdminToken(): string {
  return randomBytes(24).toString('base64url')
}

/** Whether a header's value is the token; the time taken does not depend on the guess. */
export function isAdminToken(value: string | string[] | undefined, token: string): boolean {
  return typeof value === 'string' && timingSafeEqual(digest(value), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Path prefix of the admin routes. */
export const ADMIN_PATH = '/sandbox/admin'

/** Path of the admin route that proves a sandbox's identity; asked before a token is sent, so without one. */
export const PROOF_PATH = `${ADMIN_PATH}/proof`

/** Longest nonce accepted, in characters. */
export const NONCE_MAX_CHARACTERS = 128

/** Longest wait for a proof, milliseconds. */
const PROOF_TIMEOUT_MS = 5_000

/** Answers a nonce in a way that requires the admin token, without revealing it. */
export function answerNonce(nonce: string, adminToken: string): string {
  return createHmac('sha256', adminToken).update(`sandbox proof ${nonce}`).digest('base64url')
}

/** Whether the sandbox with that admin token answers at the address; uses a new nonce each time. */
export async function proveSandbox(sandbox: { baseUrl: string; adminToken: string }): Promise<boolean> {
  const nonce = randomBytes(24).toString('base64url')
  try {
    const answer = await fetch(`${sandbox.baseUrl}${PROOF_PATH}?nonce=${nonce}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(PROOF_TIMEOUT_MS),
    })
    const body: unknown = await answer.json()
    const found = isJsonObject(body) ? body['proof'] : undefined
    const expected = Buffer.from(answerNonce(nonce, sandbox.adminToken))
    const given = Buffer.from(typeof found === 'string' ? found : '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  } catch {
    return false
  }
}
