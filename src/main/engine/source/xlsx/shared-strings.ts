import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import { type Archive, createDamageError, createLimitError, formatCount } from './archive.ts'
import { createXmlParser, decodeEscapes } from './parse-xml.ts'
import { MAX_ROW_CHARACTERS, MAX_TEXT_PIECES } from './sheet-collector.ts'

/** Largest part of shared texts that is read, bytes. */
const MAX_PART_BYTES = 4 * 1024 * 1024 * 1024
/** The pronunciation of a text (`rPh`) is not part of it. */
const PART = {
  name: 'the part of shared texts',
  maxElements: 1_000_000_000,
  shape: { sst: { si: { t: {}, r: { t: {} } } } },
}

/** Opens a workbook's shared texts, read only up to the requested one; `part` is null if it has none. */
export function openSharedStrings(archive: Archive, part: string | null) {
  const texts = new PagedTexts()
  let pieces: AsyncGenerator<Buffer, void, undefined> | null = null
  let isAtEnd = part === null
  const replaced = new Set<number>()
  const parser = createXmlParser(archive.path, PART, createTextCollector(archive.path, texts, replaced))
  return {
    sizeBytes: part === null ? 0 : archive.sizeOf(part),
    /** Reads until the text of this number is known, or none are left. Throws `BAD_SOURCE`, `DISK_FULL`. */
    async readUpTo(number: number): Promise<void> {
      if (part === null) return
      while (!isAtEnd && number >= texts.count) {
        pieces ??= archive.readPart(part, MAX_PART_BYTES)
        const next = await pieces.next()
        if (next.done !== true) parser.write(next.value)
        else if (!isAtEnd) {
          isAtEnd = true
          parser.end()
        }
      }
    },
    /** The text with a number already read. Throws `BAD_SOURCE` if the workbook has none. */
    get(number: number): string {
      const text = texts.get(number)
      if (text !== undefined) return text
      throw createDamageError(archive.path, `a cell refers to shared text ${number}, and there is none`)
    },
    /** Whether half a character in a text was replaced by U+FFFD. */
    isReplaced: (number: number): boolean =>
      replaced.size > 0 &&
      (replaced.has(number) ||
        (replaced.size === MAX_REPLACED && texts.get(number)?.includes('\uFFFD') === true)),
    close(): void {
      // An abandoned read keeps the file open.
      void pieces?.return().catch(() => undefined)
      texts.close()
    },
  }
}

/** Texts of a workbook, to which its sheets refer by number. */
export interface SharedStrings extends ReturnType<typeof openSharedStrings> {}

/** Most texts remembered, by number, to have a replaced character; beyond, any text with U+FFFD counts. */
const MAX_REPLACED = 100_000

/** Puts runs of rich text together. */
function createTextCollector(path: string, texts: PagedTexts, replaced: Set<number>) {
  let parts: string[] = []
  let characters = 0
  let isText = false
  return {
    open(name: string) {
      if (name === 'si') {
        parts = []
        characters = 0
      }
      isText = name === 't'
    },
    text(text: string) {
      if (!isText) return
      parts.push(text)
      characters += text.length
      if (parts.length > MAX_TEXT_PIECES) {
        throw createLimitError(
          path,
          `${PART.name} has a text of more than ${formatCount(MAX_TEXT_PIECES)} pieces`,
        )
      }
      if (characters > MAX_ROW_CHARACTERS) {
        throw createLimitError(
          path,
          `${PART.name} has a text of more than ${formatCount(MAX_ROW_CHARACTERS)} characters, the most that a row may have`,
        )
      }
    },
    close(name: string) {
      isText = false
      if (name !== 'si') return
      const text = decodeEscapes(parts.join(''))
      const isWhole = text.isWellFormed()
      if (!isWhole && replaced.size < MAX_REPLACED) replaced.add(texts.count)
      texts.push(isWhole ? text : text.toWellFormed())
    },
  }
}

/** Bytes of a page; a longer text has its own page. */
const PAGE_BYTES = 64 * 1024

/** Bytes of texts held in memory; further pages go to a file in the system's temporary folder. */
const MEMORY_BYTES = 64 * 1024 * 1024

/** Bytes of the file's pages held in memory while they are read; the newest is always held. */
const CACHE_BYTES = 16 * 1024 * 1024

interface Page {
  /** Number of its first text. */
  first: number
  /** Where each of its texts ends in `bytes`. */
  ends: Uint32Array
  bytes: Buffer
}

interface SpilledPage {
  first: number
  offset: number
  texts: number
  sizeBytes: number
}

/**
 * Very many texts by number, outside the heap: a sheet may refer to any of them at any time, though mostly in
 * order. What does not fit in memory goes to a file that disappears with the process.
 */
export class PagedTexts {
  readonly #memoryBytes: number
  readonly #pages: (Page | SpilledPage)[] = []
  readonly #cache = new Map<number, Page>()
  #cachedBytes = 0
  #count = 0
  #heldBytes = 0
  #open: { first: number; ends: number[]; parts: Buffer[]; sizeBytes: number } | null = null
  #file: { descriptor: number; path: string; sizeBytes: number } | null = null

  constructor(memoryBytes = MEMORY_BYTES) {
    this.#memoryBytes = memoryBytes
  }

  get count(): number {
    return this.#count
  }

  /** Adds the next text. Throws `DISK_FULL` if it must go to a file and cannot. */
  push(text: string): void {
    const bytes = Buffer.from(text)
    this.#open ??= { first: this.#count, ends: [], parts: [], sizeBytes: 0 }
    this.#open.parts.push(bytes)
    this.#open.sizeBytes += bytes.length
    this.#open.ends.push(this.#open.sizeBytes)
    this.#count += 1
    if (this.#open.sizeBytes >= PAGE_BYTES || this.#open.ends.length >= PAGE_BYTES / 4) this.#seal()
  }

  /** The text with a number, from 0; undefined if there is none. */
  get(number: number): string | undefined {
    if (!Number.isInteger(number) || number < 0 || number >= this.#count) return undefined
    if (this.#open !== null && number >= this.#open.first) {
      return this.#open.parts[number - this.#open.first]?.toString()
    }
    const page = this.#read(this.#find(number))
    const index = number - page.first
    return page.bytes.toString('utf8', index === 0 ? 0 : page.ends[index - 1], page.ends[index])
  }

  close(): void {
    const file = this.#file
    this.#file = null
    if (file === null) return
    closeSync(file.descriptor)
    if (process.platform === 'win32') unlinkSync(file.path)
  }

  #seal(): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const page = {
      first: open.first,
      ends: Uint32Array.from(open.ends),
      bytes: Buffer.concat(open.parts, open.sizeBytes),
    }
    const sizeBytes = page.bytes.length + page.ends.byteLength
    if (this.#heldBytes + sizeBytes <= this.#memoryBytes) {
      this.#heldBytes += sizeBytes
      this.#pages.push(page)
    } else this.#pages.push(this.#spill(page))
  }

  #spill({ first, ends, bytes }: Page): SpilledPage {
    try {
      this.#file ??= createUnnamedFile()
      const { descriptor, sizeBytes: offset } = this.#file
      const table = Buffer.from(ends.buffer)
      writeFully(descriptor, table, offset)
      writeFully(descriptor, bytes, offset + table.length)
      this.#file.sizeBytes += table.length + bytes.length
      return { first, offset, texts: ends.length, sizeBytes: bytes.length }
    } catch (cause) {
      throw new SluiceError(
        { id: 'workbook_disk_full', folder: tmpdir(), system: toSystemCode(cause) ?? 'unknown' },
        { cause },
      )
    }
  }

  /** The page that holds a number. */
  #find(number: number): number {
    let low = 0
    let high = this.#pages.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#pages[middle]?.first ?? 0) <= number) low = middle
      else high = middle - 1
    }
    return low
  }

  #read(index: number): Page {
    const page = this.#pages[index]
    if (page === undefined) throw new Error(`there is no page ${index}`)
    if ('bytes' in page) return page
    const cached = this.#cache.get(index)
    if (cached !== undefined) return cached
    if (this.#file === null) throw new Error('the texts were closed')
    const buffer = Buffer.alloc(page.texts * 4 + page.sizeBytes)
    readSync(this.#file.descriptor, buffer, 0, buffer.length, page.offset)
    const read = {
      first: page.first,
      ends: new Uint32Array(buffer.buffer, buffer.byteOffset, page.texts),
      bytes: buffer.subarray(page.texts * 4),
    }
    this.#cachedBytes += buffer.length
    for (const [oldest, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= CACHE_BYTES) break
      this.#cachedBytes -= bytes.buffer.byteLength
      this.#cache.delete(oldest)
    }
    this.#cache.set(index, read)
    return read
  }
}

function createUnnamedFile(): { descriptor: number; path: string; sizeBytes: number } {
  const path = join(tmpdir(), `sluice-${randomBytes(12).toString('hex')}`)
  const descriptor = openSync(path, 'wx+', 0o600)
  // Except on Windows, an open file can lose its name at once, so that nothing stays behind.
  if (process.platform !== 'win32') unlinkSync(path)
  return { descriptor, path, sizeBytes: 0 }
}

function writeFully(descriptor: number, bytes: Buffer, offset: number): void {
  let written = 0
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, offset + written)
  }
}
