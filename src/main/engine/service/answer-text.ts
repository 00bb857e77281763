import { isUtf8 } from 'node:buffer'

export interface AnswerText {
  text: string
  /** The charset that it was read by, if that was not UTF-8. */
  charset?: string
  /** Some of its bytes are not text in its charset; U+FFFD takes their place. */
  isDamaged?: true
}

/** Charsets in which bytes that are not ASCII are hardly ever valid UTF-8 by chance, by the names of the Encoding Standard. */
const SINGLE_BYTE = /^(windows-|iso-8859-|koi8-|ibm866|macintosh|x-mac-)/

/**
 * Reads a body by its byte order mark, the charset of its Content-Type, or the zeros that JSON in UTF-16 has (RFC 4627
 * §3); else as UTF-8, which JSON is to be in (RFC 8259 §8.1). A single-byte charset or UTF-16 that was named for valid UTF-8 is
 * taken for a mistake of the service.
 */
export function readAnswerText(bytes: Buffer, contentType: string): AnswerText {
  const charset = findCharset(bytes, contentType)
  if (charset === 'utf-8') {
    const text = bytes.toString('utf8')
    // A service may send U+FFFD itself.
    return text.includes('\uFFFD') && !isUtf8(bytes) ? { text, isDamaged: true } : { text }
  }
  const text = new TextDecoder(charset).decode(bytes)
  return { text, charset, ...(text.includes('\uFFFD') && { isDamaged: true }) }
}

/** The Encoding Standard's name of the charset of a body. */
function findCharset(bytes: Buffer, contentType: string): string {
  if (bytes.length < 2) return 'utf-8'
  const first = bytes.readUInt16BE(0)
  if (first === 0xfeff) return 'utf-16be'
  if (first === 0xfffe) return 'utf-16le'
  if (first === 0xefbb && bytes[2] === 0xbf) return 'utf-8'
  const named = readCharset(contentType)
  const isUnicode = named.startsWith('utf-')
  if (isUnicode && (first === 0x007b || first === 0x005b)) return 'utf-16be'
  if (isUnicode && (first === 0x7b00 || first === 0x5b00)) return 'utf-16le'
  // JSON begins with ASCII, which has a zero in UTF-16.
  if (named.startsWith('utf-16') && bytes[0] !== 0 && bytes[1] !== 0) return 'utf-8'
  return SINGLE_BYTE.test(named) && isUtf8(bytes) && !isAscii(bytes) ? 'utf-8' : named
}

/** Most answers of a service have the same type. */
let lastRead = { contentType: '', charset: 'utf-8' }

function readCharset(contentType: string): string {
  if (contentType !== lastRead.contentType) lastRead = { contentType, charset: parseCharset(contentType) }
  return lastRead.charset
}

/** The charset that a Content-Type names; UTF-8 for none and for one that nobody knows. */
function parseCharset(contentType: string): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? []
  try {
    return new TextDecoder(quoted ?? plain).encoding
  } catch {
    return 'utf-8'
  }
}

function isAscii(bytes: Buffer): boolean {
  return bytes.every((byte) => byte < 0x80)
}
