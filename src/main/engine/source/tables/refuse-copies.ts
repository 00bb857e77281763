import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { isGzip } from '../gzip.ts'
import type { FileHead } from '../source-reader.ts'

/**
 * Throws `BAD_SOURCE` for a file with the content of one before it, packed or not, whose rows would be sent twice. Only files
 * of the same size are read.
 */
export async function refuseCopies(files: readonly FileHead[]): Promise<void> {
  const alike = Map.groupBy(files, ({ sizeBytes }) => sizeBytes)
  for (const same of alike.values()) {
    if (same.length === 1) continue
    const known = new Map<string, FileHead>()
    for (const file of same) {
      const hash = await hashContent(file.path)
      const other = known.get(hash)
      if (other !== undefined) {
        throw new SluiceError({ id: 'source_named_twice', source: file.path, copyOf: other.name })
      }
      known.set(hash, file)
    }
  }
}

async function hashContent(path: string): Promise<string> {
  const hash = createHash('sha256')
  const read = createReadStream(path)
  const take = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) hash.update(chunk)
  }
  await ((await isGzip(path)) ? pipeline(read, createGunzip(), take) : pipeline(read, take))
  return hash.digest('hex')
}
