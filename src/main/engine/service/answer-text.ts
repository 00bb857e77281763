import { isUtf8 } from 'node:buffer'

export interface AnswerText {
  text: string
  /** The charset used, if not UTF-8. */
  charset?: string
  /** Whether some bytes are not text in its charset; U+FFFD replaces them. */
  isDamaged?: true
}

/** Charsets whose non-ASCII bytes are hardly ever valid UTF-8 by chance, by the Encoding Standard's names. */
const SINGLE_BYTE = /^(windows-|iso-8859-|koi8-|ibm866|macintosh|x-mac-)/

/**
 * Reads a body by its byte order mark, the charset of its Content-Type, or the zeros of JSON in UTF-16 (RFC
 * 4627 §3); else as UTF-8, as JSON must be (RFC 8259 §8.1). If valid UTF-8 is labelled as UTF-16 or a
 * single-byte charset, the label is considered a mistake of the service.
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

/** The Encoding Standard's name for a body's charset. */
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
  // JSON begins with ASCII, which contains a zero in UTF-16.
  if (named.startsWith('utf-16') && bytes[0] !== 0 && bytes[1] !== 0) return 'utf-8'
  return SINGLE_BYTE.test(named) && isUtf8(bytes) && !bytes.every((byte) => byte < 0x80) ? 'utf-8' : named
}

/** Most answers of a service have the same type. */
let lastRead = { contentType: '', charset: 'utf-8' }

function readCharset(contentType: string): string {
  if (contentType !== lastRead.contentType) lastRead = { contentType, charset: parseCharset(contentType) }
  return lastRead.charset
}

/** The charset that a Content-Type names; UTF-8 if none or an unknown one. */
function parseCharset(contentType: string): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? []
  try {
    return new TextDecoder(quoted ?? plain).encoding
  } catch {
    return 'utf-8'
  }
}
