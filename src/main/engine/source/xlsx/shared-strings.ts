import { type Archive, createDamageError, createLimitError, formatCount } from './archive.ts'
import { decodeEscapes } from './decode-escapes.ts'
import { PagedTexts } from './paged-texts.ts'
import { createXmlParser } from './parse-xml.ts'
import { MAX_ROW_CHARACTERS, MAX_TEXT_PIECES } from './sheet-rows.ts'

/** Texts of a workbook, which its sheets name by number. */
export interface SharedStrings {
  /** Reads on until the text of this number is known, or none are left. Throws `BAD_SOURCE` or `DISK_FULL`. */
  readUpTo(number: number): Promise<void>
  /** The text of a number that was read up to. Throws `BAD_SOURCE` where the workbook has none. */
  get(number: number): string
  close(): void
}

/** Largest part of shared texts that is read, bytes. */
const MAX_PART_BYTES = 4 * 1024 * 1024 * 1024
const PART = { name: 'the part of shared texts', maxElements: 1_000_000_000 }

/** Opens a workbook's shared texts, which are read as far as they are asked for; `part` is null where it has none. */
export function openSharedStrings(archive: Archive, part: string | null): SharedStrings {
  const texts = new PagedTexts()
  let pieces: AsyncGenerator<Buffer, void, undefined> | null = null
  let isAtEnd = part === null
  const parser = createXmlParser(archive.path, PART, createTextCollector(archive.path, texts))
  return {
    async readUpTo(number) {
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
    get(number) {
      const text = texts.get(number)
      if (text !== undefined) return text
      throw createDamageError(archive.path, `a cell refers to shared text ${number}, and there is none`)
    },
    close() {
      // A read that was left in the middle holds the file open.
      void pieces?.return().catch(() => undefined)
      texts.close()
    },
  }
}

/** Puts runs of rich text together; how a text is spoken is not part of it. */
function createTextCollector(path: string, texts: PagedTexts) {
  let parts: string[] = []
  let characters = 0
  let isText = false
  let isSpoken = false
  return {
    open(name: string) {
      if (name === 'si') {
        parts = []
        characters = 0
      } else if (name === 'rPh') isSpoken = true
      else isText = name === 't' && !isSpoken
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
      if (name === 'rPh') isSpoken = false
      else if (name === 'si') texts.push(decodeEscapes(parts.join('')).toWellFormed())
    },
  }
}
