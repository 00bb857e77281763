import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file that only its owner may read, whole or not at all: a file beside it takes its place once everything is
 * on disk. A link stays a link. Throws what the file system throws.
 */
export function replacePrivateFile(file: string, text: string): void {
  const target = existsSync(file) ? realpathSync(file) : file
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.part`)
  try {
    const handle = openSync(temporary, 'wx', 0o600)
    try {
      const bytes = Buffer.from(text)
      for (let written = 0; written < bytes.length; ) written += writeSync(handle, bytes, written)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
