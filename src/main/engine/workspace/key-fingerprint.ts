import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { BoundSecret } from '../secrets/bound-secret.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'

/** The secret behind the fingerprints of a workspace; it never leaves the workspace. */
const SECRET_FILE = 'fingerprint.secret'
const SECRET_BYTES = 32

/**
 * A fingerprint that tells apart the keys or header values of runs without revealing them: an id of the
 * workspace's secret, a dot, and the keyed hash. Null if the secret can be neither read nor made.
 */
export function toKeyFingerprint(workspace: string, key: BoundSecret): string | null {
  const secret = readSecret(join(workspace, SECRET_FILE))
  return secret === null ? null : `${toSecretName(secret)}.${key.toFingerprint(secret)}`
}

/** Whether two fingerprints are of one key; null if made with different secrets, as in a copied run. */
export function isSameKey(a: string, b: string): boolean | null {
  const [ofA, ofB] = [a, b].map((fingerprint) => fingerprint.split('.')[0])
  return ofA === ofB ? a === b : null
}

function readSecret(file: string): Uint8Array | null {
  try {
    // If two processes make the secret at once, one replaces the other's, whose fingerprints can then not be
    // compared.
    if (!isThere(file))
      replaceFileSync(file, `${randomBytes(SECRET_BYTES).toString('hex')}\n`, { isPrivate: true })
    const secret = Buffer.from(readTextFile(file).trim(), 'hex')
    return secret.length === SECRET_BYTES ? secret : null
  } catch {
    return null
  }
}

function isThere(file: string): boolean {
  try {
    readTextFile(file)
    return true
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return false
    throw error
  }
}

function toSecretName(secret: Uint8Array): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 8)
}
