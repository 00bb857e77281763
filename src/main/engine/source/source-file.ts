import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { createSourceError } from './source-error.ts'

/** A source's bytes, read where they are asked for. */
export interface SourceFile {
  readonly path: string
  readonly sizeBytes: number
  /** At most `lengthBytes` bytes from `offset`; fewer only at the file's end, none behind it. */
  readBytes(offset: number, lengthBytes: number): Buffer
  /** The same into memory of the caller's, as much as it has room for; returns the part that was filled. */
  readInto(buffer: Buffer, offset: number): Buffer
  close(): void
}

const HINTS: Record<string, string> = {
  ENOENT: 'Check the path; a relative one starts at the current folder.',
  EACCES: 'Give yourself the right to read the file, or copy it to where you have it.',
  EPERM: 'Give yourself the right to read the file, or copy it to where you have it.',
  EMFILE: 'Too many files are open; close other programs and try again.',
}

const FINDINGS: Record<string, string> = {
  ENOENT: 'expected a file, found nothing there',
  ENOTDIR: 'expected a file, found that a part of the path is not a folder',
  EACCES: 'expected a readable file, found one that may not be read (permission denied)',
  EPERM: 'expected a readable file, found one that may not be read (not permitted)',
}

function toReadError(path: string, cause: unknown): Error {
  const code = toSystemCode(cause) ?? 'unknown'
  return createSourceError(
    path,
    FINDINGS[code] ?? `could not be read (${code})`,
    HINTS[code] ?? 'Check the disk or network drive that holds the file, then try again.',
    cause,
  )
}

/** Opens a regular file for reading. Throws `BAD_SOURCE` for anything else, and for a file without a byte. */
export function openSourceFile(path: string): SourceFile {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (cause) {
    throw toReadError(path, cause)
  }
  try {
    const stat = fstatSync(descriptor)
    if (stat.isDirectory()) {
      throw createSourceError(path, 'expected a file, found a folder', 'Name one file inside the folder.')
    }
    if (!stat.isFile()) {
      throw createSourceError(
        path,
        'expected a regular file, found a pipe or device',
        'A source is read more than once; write it to a file first, then name that file.',
      )
    }
    if (stat.size === 0) {
      throw createSourceError(
        path,
        'expected rows, found an empty file (0 bytes)',
        'Export the spreadsheet again, or name the file that holds the rows.',
      )
    }
    return {
      path,
      sizeBytes: stat.size,
      readBytes: (offset, lengthBytes) =>
        readFully(path, descriptor, Buffer.allocUnsafe(lengthBytes), offset),
      readInto: (buffer, offset) => readFully(path, descriptor, buffer, offset),
      close: () => closeSync(descriptor),
    }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function readFully(path: string, descriptor: number, buffer: Buffer, offset: number): Buffer {
  let filled = 0
  try {
    while (filled < buffer.length) {
      const read = readSync(descriptor, buffer, filled, buffer.length - filled, offset + filled)
      if (read === 0) break
      filled += read
    }
  } catch (cause) {
    throw toReadError(path, cause)
  }
  return buffer.subarray(0, filled)
}
