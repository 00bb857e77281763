import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Adds text, written as UTF-8, or bytes behind what was written before. */
export type Append = (content: string | Uint8Array) => Promise<void>

/**
 * Writes a file whole or not at all: into a file beside it that takes its place once everything is on disk. A link
 * stays a link, and what is no regular file, such as /dev/stdout, is written to directly. Returns the bytes written.
 * Throws what the file system throws.
 */
export async function replaceFile(file: string, write: (append: Append) => Promise<void>): Promise<number> {
  const target = await findTarget(file)
  if (target.kind === 'stream') return writeInto(await open(target.path, 'w'), write, false)
  const temporary = join(
    dirname(target.path),
    `.${basename(target.path)}.${randomBytes(6).toString('hex')}.part`,
  )
  try {
    const sizeBytes = await writeInto(await open(temporary, 'wx'), write, true)
    await rename(temporary, target.path)
    await syncFolder(dirname(target.path))
    return sizeBytes
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function findTarget(file: string): Promise<{ kind: 'file' | 'stream'; path: string }> {
  const found = await stat(file).catch(() => null)
  if (found === null) return { kind: 'file', path: file }
  if (found.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: ${file} is a folder`), { code: 'EISDIR', syscall: 'open' })
  }
  return found.isFile() ? { kind: 'file', path: await realpath(file) } : { kind: 'stream', path: file }
}

const BUFFERED_CHARACTERS = 256 * 1024

async function writeInto(
  handle: FileHandle,
  write: (append: Append) => Promise<void>,
  sync: boolean,
): Promise<number> {
  let sizeBytes = 0
  let buffered = ''
  const flush = async () => {
    const bytes = Buffer.from(buffered)
    buffered = ''
    await handle.writeFile(bytes)
    sizeBytes += bytes.length
  }
  try {
    await write(async (content) => {
      if (typeof content === 'string') {
        buffered += content
        if (buffered.length >= BUFFERED_CHARACTERS) await flush()
        return
      }
      if (buffered !== '') await flush()
      await handle.writeFile(content)
      sizeBytes += content.length
    })
    await flush()
    if (sync) await handle.sync()
  } finally {
    await handle.close()
  }
  return sizeBytes
}

/** Makes the new name last through a power cut, where folders can be synced at all (not on Windows). */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  if (handle === null) return
  await handle.sync().catch(() => undefined)
  await handle.close()
}
