import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { TableFile } from './tables.ts'

/**
 * Throws `BAD_SOURCE` for a file with the bytes of one before it, whose rows would be sent twice. Only files of the same
 * size are read.
 */
export async function refuseCopies(files: readonly TableFile[]): Promise<void> {
  const alike = Map.groupBy(files, ({ path }) => statSync(path).size)
  for (const same of alike.values()) {
    if (same.length === 1) continue
    const known = new Map<string, TableFile>()
    for (const file of same) {
      const hash = await hashFile(file.path)
      const other = known.get(hash)
      if (other !== undefined) {
        throw new SluiceError({ id: 'source_named_twice', source: file.path, copyOf: other.name })
      }
      known.set(hash, file)
    }
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
