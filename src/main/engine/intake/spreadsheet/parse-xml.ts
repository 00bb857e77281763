import { SaxesParser } from 'saxes'
import { createDamageError } from './archive.ts'

/** What is told while a part is read; names come without their prefix. */
export interface XmlHandlers {
  open(name: string, attributes: Record<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

/** A part being read. */
export interface XmlParser {
  /** Takes the next bytes. Throws `BAD_SOURCE` for what is not well-formed, or tries to be more than data. */
  write(piece: Buffer): void
  end(): void
}

/** Most of a part between two tags; what is longer would be held in memory. */
const MAX_TOKEN_BYTES = 16 * 1024 * 1024

/**
 * Reads XML piece by piece, UTF-8 or UTF-16. A document type is refused, so that no entity can be declared: those of
 * XML itself are the only ones. `part` is what a person is told.
 */
export function createXmlParser(path: string, part: string, handlers: XmlHandlers): XmlParser {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false })
  let decodePiece: DecodePiece | null = null
  let bytesSinceTag = 0
  parser.on('error', (error) => {
    throw createDamageError(path, `${part} is not well-formed XML (${error.message})`)
  })
  parser.on('doctype', () => {
    throw createDamageError(path, `${part} declares a document type, which no workbook does`)
  })
  parser.on('opentag', (tag) => {
    bytesSinceTag = 0
    handlers.open(toLocalName(tag.name), tag.attributes)
  })
  parser.on('closetag', (tag) => {
    bytesSinceTag = 0
    handlers.close?.(toLocalName(tag.name))
  })
  if (handlers.text !== undefined) {
    const { text } = handlers
    parser.on('text', text)
    parser.on('cdata', text)
  }
  const decode = (piece: Buffer, isLast: boolean): string => {
    decodePiece ??= createDecoder(piece)
    try {
      return decodePiece(piece, { stream: !isLast })
    } catch (cause) {
      throw createDamageError(path, `${part} has bytes that are not text`, cause)
    }
  }
  return {
    write(piece) {
      bytesSinceTag += piece.length
      parser.write(decode(piece, false))
      if (bytesSinceTag > MAX_TOKEN_BYTES) {
        throw createDamageError(path, `${part} has a value of more than ${MAX_TOKEN_BYTES / 1024 / 1024} MiB`)
      }
    },
    end() {
      parser.write(decode(Buffer.alloc(0), true))
      parser.close()
    },
  }
}

/** Reads a whole small part. */
export async function parseXmlPart(
  path: string,
  part: string,
  pieces: AsyncIterable<Buffer>,
  handlers: XmlHandlers,
): Promise<void> {
  const parser = createXmlParser(path, part, handlers)
  for await (const piece of pieces) parser.write(piece)
  parser.end()
}

type DecodePiece = (piece: Buffer, options: { stream: boolean }) => string

function createDecoder(firstPiece: Buffer): DecodePiece {
  const [first, second] = firstPiece
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)
  const isLittle = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)
  const decoder = new TextDecoder(isBig ? 'utf-16be' : isLittle ? 'utf-16le' : 'utf-8', { fatal: true })
  return (piece, options) => decoder.decode(piece, options)
}

function toLocalName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}
