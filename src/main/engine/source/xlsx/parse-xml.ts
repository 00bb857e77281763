import { SaxesParser } from 'saxes'
import { createDamageError, createLimitError, formatCount } from './archive.ts'
import { CountedElements, type ToNamespace, type XmlShape } from './counted-elements.ts'

/** Handlers for counted elements. Element names come without their prefix, attribute names with it. */
export interface XmlHandlers {
  open(name: string, attributes: Record<string, string>, toNamespace: ToNamespace): void
  text?(text: string): void
  close?(name: string): void
}

/** The name of a part for people, and how much of it is read. */
export interface XmlPart {
  /** Its name in errors, such as `the sheet`. */
  name: string
  /** Most elements of a part, so that memory does not fill up. */
  maxElements: number
  /** The counted elements, from the root. */
  shape: XmlShape
  /** Allowed namespaces, one for all elements (default: those of workbooks). */
  namespaces?: readonly string[]
}

/** Namespaces of workbook elements, transitional and strict (ECMA-376 part 1, annex A). */
const MAIN = [
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
]

/** Most bytes between two tags, which are held in memory: 64 times the longest text of an Excel cell. */
const MAX_TOKEN_BYTES = 2 * 1024 * 1024

/** Most nested elements, each held in memory; workbooks reach about fifteen. */
const MAX_DEPTH = 100

/** Most attributes of an element; workbooks have about thirty. */
const MAX_ATTRIBUTES = 250

/**
 * Reads XML piece by piece, UTF-8 or UTF-16. A document type is refused, so that no entities but XML's own
 * can be declared. Depth, elements, attributes and values are limited, since the parser holds them in memory.
 */
export function createXmlParser(path: string, part: XmlPart, handlers: XmlHandlers) {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false })
  const counted = new CountedElements(part.shape, part.namespaces ?? MAIN)
  let decodePiece: DecodePiece | null = null
  let bytesSinceTag = 0
  let depth = 0
  let elements = 0
  let attributes = 0
  const refuse = (limit: string): never => {
    throw createLimitError(path, `${part.name} has ${limit}`)
  }
  parser.on('error', (error) => {
    throw createDamageError(path, `${part.name} is not well-formed XML (${error.message})`)
  })
  parser.on('doctype', () => {
    throw createDamageError(path, `${part.name} declares a document type, which no workbook does`)
  })
  parser.on('attribute', ({ name, value }) => {
    attributes += 1
    if (attributes > MAX_ATTRIBUTES) refuse(`an element with more than ${MAX_ATTRIBUTES} attributes`)
    counted.noteAttribute(name, value)
  })
  parser.on('opentag', (tag) => {
    bytesSinceTag = 0
    attributes = 0
    depth += 1
    elements += 1
    if (depth > MAX_DEPTH) refuse(`more than ${MAX_DEPTH} elements inside each other`)
    if (elements > part.maxElements) refuse(`more than ${formatCount(part.maxElements)} elements`)
    const name = counted.open(tag.name, tag.attributes)
    if (name === undefined) throw createDamageError(path, `${part.name} ${toRootFault(tag.name, part.shape)}`)
    if (name !== null) handlers.open(name, tag.attributes, counted.toNamespace)
  })
  parser.on('closetag', () => {
    bytesSinceTag = 0
    depth -= 1
    const name = counted.close()
    if (name !== null) handlers.close?.(name)
  })
  if (handlers.text !== undefined) {
    const takeText = (text: string): void => {
      if (counted.isInside) handlers.text?.(text)
    }
    parser.on('text', takeText)
    parser.on('cdata', takeText)
  }
  const decode = (piece: Buffer, isLast: boolean): string => {
    decodePiece ??= createDecoder(piece)
    try {
      return decodePiece(piece, { stream: !isLast })
    } catch (cause) {
      throw createDamageError(path, `${part.name} has bytes that are not text`, cause)
    }
  }
  return {
    /** Parses the next bytes. Throws `BAD_SOURCE` for malformed XML and for anything beyond plain data. */
    write(piece: Buffer): void {
      bytesSinceTag += piece.length
      parser.write(decode(piece, false))
      if (bytesSinceTag > MAX_TOKEN_BYTES) {
        refuse(`a value of more than ${MAX_TOKEN_BYTES / 1024 / 1024} MiB`)
      }
    },
    end(): void {
      parser.write(decode(Buffer.alloc(0), true))
      parser.close()
    },
  }
}

/** Reads a whole small part. */
export async function parseXmlPart(
  path: string,
  part: XmlPart,
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

function toRootFault(tag: string, shape: XmlShape): string {
  const found = `begins with <${tag.slice(0, 100)}>`
  const isNamed = Object.hasOwn(shape, tag.slice(tag.indexOf(':') + 1))
  return isNamed
    ? `${found} in another namespace than those of workbooks`
    : `${found} instead of <${Object.keys(shape).join('>, <')}>`
}

const ESCAPE = /_x([\dA-Fa-f]{4})_/g

/** Decodes the escapes by which workbooks write what XML cannot, such as `_x000D_` for a carriage return. */
export function decodeEscapes(text: string): string {
  return text.includes('_x')
    ? text.replace(ESCAPE, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text
}
