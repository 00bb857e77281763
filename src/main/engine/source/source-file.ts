import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { ForeignContent } from '../../../shared/messages/source-messages.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** A source's bytes, read on demand. */
export interface SourceFile {
  readonly path: string
  readonly sizeBytes: number
  /** At most `lengthBytes` bytes from `offset`; fewer only at the file's end, none after it. */
  readBytes(offset: number, lengthBytes: number): Buffer
  /** The same into the caller's memory, as much as fits; returns the filled part. */
  readInto(buffer: Buffer, offset: number): Buffer
  /** Closes the file; reading it then throws, and closing it again does nothing. */
  close(): void
}

/**
 * Opens a regular file for reading; `contentPath` is the path of its bytes, if that is an unpacked copy.
 * Throws `BAD_SOURCE` for anything else, and for an empty file.
 */
export function openSourceFile(path: string, contentPath = path): SourceFile {
  let descriptor: number
  try {
    descriptor = openSync(contentPath, 'r')
  } catch (cause) {
    throw toReadError(path, cause)
  }
  try {
    const stat = fstatSync(descriptor)
    if (stat.isDirectory()) {
      throw new SluiceError({ id: 'source_is_folder', source: path })
    }
    if (!stat.isFile()) {
      throw new SluiceError({ id: 'source_is_device', source: path })
    }
    if (stat.size === 0) {
      throw new SluiceError({ id: 'source_is_empty', source: path })
    }
    let isOpen = true
    const readInto = (buffer: Buffer, offset: number): Buffer => {
      // The system may have given the number of a closed descriptor to another file.
      if (!isOpen) throw new Error(`${path} was closed`)
      return readFully(path, descriptor, buffer, offset)
    }
    return {
      path,
      sizeBytes: stat.size,
      readBytes: (offset, lengthBytes) => readInto(Buffer.allocUnsafe(lengthBytes), offset),
      readInto,
      close() {
        if (isOpen) closeSync(descriptor)
        isOpen = false
      },
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

function toReadError(source: string, cause: unknown): SluiceError {
  const system = toSystemCode(cause) ?? 'unknown'
  return new SluiceError({ id: 'source_unreadable', source, system }, { cause })
}

const SIGNATURES: readonly { bytes: readonly number[]; content: ForeignContent }[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], content: 'zip' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], content: 'office' },
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], content: 'pdf' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], content: 'png' },
  { bytes: [0xff, 0xd8, 0xff], content: 'jpeg' },
  { bytes: [0x1f, 0x8b], content: 'gzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], content: 'zstd' },
  { bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66], content: 'sqlite' },
]

/** The well-known kind of a file that is not text, by its first bytes; null if there is none. */
export function findBinarySignature(sample: Buffer): ForeignContent | null {
  const found = SIGNATURES.find(({ bytes }) => bytes.every((byte, index) => sample[index] === byte))
  return found?.content ?? null
}
