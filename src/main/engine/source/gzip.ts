import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { findBinarySignature } from './source-file.ts'

const UNPACKED_MAX_BYTES = 8 * 1024 * 1024 * 1024

/** Highest ratio of unpacking, for files that unpack to more than {@link UNJUDGED_BYTES}. */
const RATIO_MAX = 200
const UNJUDGED_BYTES = 64 * 1024 * 1024

export interface UnpackedFile {
  path: string
  /** Removes the copy; open readers continue reading it if the system allows that. */
  remove(): void
}

/**
 * Unpacks a gzip file, whatever its name, into a copy that only its owner can read, since readers read some
 * places more than once. Null if the file is not one, or cannot be read. Throws `BAD_SOURCE` if it is
 * damaged, holds more than `maxBytes`, or more than {@link RATIO_MAX} times its own size.
 */
export async function unpackGzip(path: string, maxBytes = UNPACKED_MAX_BYTES): Promise<UnpackedFile | null> {
  if (!(await isGzip(path))) return null
  const folder = mkdtempSync(join(tmpdir(), 'sluice-unpacked-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const copy = join(folder, 'source')
  let bytes = 0
  const { size } = await stat(path)
  const ratioBytes = Math.max(UNJUDGED_BYTES, RATIO_MAX * size)
  const limit = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      if (bytes > ratioBytes) done(new SluiceError({ id: 'gzip_too_dense', source: path, ratio: RATIO_MAX }))
      else if (bytes <= maxBytes) done(null, piece)
      else done(new SluiceError({ id: 'gzip_too_large', source: path, gib: maxBytes / 1024 ** 3 }))
    },
  })
  try {
    const gunzip = createGunzip()
    await pipeline(createReadStream(path), gunzip, limit, createWriteStream(copy, { mode: 0o600 }))
    if (await hasDataFrom(path, gunzip.bytesWritten))
      throw new SluiceError({ id: 'gzip_damaged', source: path, reason: 'data behind zero bytes' })
    return { path: copy, remove }
  } catch (error) {
    remove()
    throw toGzipError(path, folder, error)
  }
}

/** Whether anything but zero bytes follows: Node takes these for the end, and ignores all after them. */
async function hasDataFrom(path: string, start: number): Promise<boolean> {
  for await (const chunk of createReadStream(path, { start }) as AsyncIterable<Buffer>)
    if (chunk.some((byte) => byte !== 0)) return true
  return false
}

async function isGzip(path: string): Promise<boolean> {
  try {
    // Opening a pipe would wait for its writer.
    if (!(await stat(path)).isFile()) return false
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
      return findBinarySignature(buffer.subarray(0, bytesRead)) === 'gzip'
    } finally {
      await file.close()
    }
  } catch {
    // Opening the file reports the problem.
    return false
  }
}

function toGzipError(source: string, folder: string, error: unknown): unknown {
  if (error instanceof SluiceError) return error
  const code = toSystemCode(error)
  if (code?.startsWith('Z_') === true) {
    return new SluiceError({ id: 'gzip_damaged', source, reason: code }, { cause: error })
  }
  return new SluiceError(
    { id: 'gzip_not_unpacked', source, folder, system: code ?? 'unknown' },
    { cause: error },
  )
}
