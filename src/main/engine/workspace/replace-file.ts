import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { access, chmod, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { refuseForeignLinks } from './foreign-links.ts'

/** Appends bytes, or text as UTF-8. */
type Append = (content: string | Uint8Array) => Promise<void>

/** Mode of a file that only its owner may read and write. */
const PRIVATE = 0o600

/** Mode of a new file, before the umask. */
const ORDINARY = 0o666

/**
 * Writes a text, bytes, or pieces of them, completely or not at all, as {@link replaceFile} does, but
 * synchronously. A private file can be read by its owner only (0600), even if the one it replaces could be
 * read by others; not on Windows. A killed process leaves its unfinished file under a random name.
 */
export function replaceFileSync(
  file: string,
  content: string | Uint8Array | readonly Uint8Array[],
  { isPrivate }: { isPrivate: boolean },
): void {
  refuseForeignLinks(file)
  const found = statSync(file, { throwIfNoEntry: false })
  const target = found === undefined ? file : realpathSync(file)
  const draft = toDraft(target)
  try {
    const descriptor = openSync(draft, 'wx', isPrivate ? PRIVATE : toMode(found))
    try {
      // Restores what the umask removed from the mode.
      if (!isPrivate && found !== undefined) fchmodSync(descriptor, toMode(found))
      for (const piece of toPieces(content)) writeFileSync(descriptor, piece)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, target)
    syncFolder(dirname(target))
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/**
 * Writes a file completely or not at all: a new file next to it, with a random name, replaces it once
 * everything is on disk. A replaced file keeps its mode, and a link stays a link; another user's link is
 * refused. What is not a regular file, such as /dev/stdout, is written to directly. Returns the bytes
 * written. Throws what the file system throws.
 */
export async function replaceFile(file: string, write: (append: Append) => Promise<void>): Promise<number> {
  const target = await findTarget(file)
  if (target.kind === 'stream') return writeInto(await open(target.path, 'w'), write, false)
  const draft = toDraft(target.path)
  try {
    const sizeBytes = await writeInto(await open(draft, 'wx', target.mode), write, true)
    if (target.isReplaced) await chmod(draft, target.mode)
    await rename(draft, target.path)
    syncFolder(dirname(target.path))
    return sizeBytes
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/**
 * Checks that {@link replaceFile} can write a file, without changing anything. Throws `FILE_UNWRITABLE`, also
 * for a full disk, since nothing depends on the file yet.
 */
export async function checkTarget(file: string): Promise<void> {
  try {
    const target = await findTarget(file)
    if (target.kind === 'stream') return await access(target.path, constants.W_OK)
    const draft = toDraft(target.path)
    const handle = await open(draft, 'wx', target.mode)
    await handle.close()
    await rm(draft)
  } catch (error) {
    const system = toSystemCode(error)
    if (error instanceof SluiceError || system === null) throw error
    throw new SluiceError({ id: 'file_unwritable', file, system }, { cause: error })
  }
}

function toPieces(content: string | Uint8Array | readonly Uint8Array[]): readonly (string | Uint8Array)[] {
  return typeof content === 'string' || content instanceof Uint8Array ? [content] : content
}

function toDraft(target: string): string {
  return join(dirname(target), `.${basename(target)}.${randomBytes(12).toString('hex')}.part`)
}

function toMode(replaced: Stats | undefined): number {
  return replaced === undefined ? ORDINARY : replaced.mode & 0o777
}

async function findTarget(
  file: string,
): Promise<
  { kind: 'file'; path: string; mode: number; isReplaced: boolean } | { kind: 'stream'; path: string }
> {
  refuseForeignLinks(file)
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return { kind: 'file', path: file, mode: toMode(found), isReplaced: false }
  if (found.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: ${file} is a folder`), { code: 'EISDIR', syscall: 'open' })
  }
  if (!found.isFile()) return { kind: 'stream', path: file }
  return { kind: 'file', path: await realpath(file), mode: toMode(found), isReplaced: true }
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

/** Makes the new name survive a power cut, where folders can be synced (not on Windows). */
function syncFolder(folder: string): void {
  let descriptor: number | null = null
  try {
    descriptor = openSync(folder, 'r')
    fsyncSync(descriptor)
  } catch {
    // The file is complete under its new name anyway.
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Turns a file system's error into `DISK_FULL` or `FILE_UNWRITABLE`; other errors pass unchanged. */
export function toFileError(file: string, error: unknown): unknown {
  const code = toSystemCode(error)
  if (code === null || !(error instanceof Error && 'syscall' in error)) return error
  if (FULL.has(code)) {
    return new SluiceError({ id: 'file_disk_full', file, system: code }, { cause: error })
  }
  return new SluiceError({ id: 'file_unwritable', file, system: code }, { cause: error })
}
