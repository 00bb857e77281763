import { ANSWER_MAX_BYTES, ANSWER_TOO_LARGE_CODE, MALFORMED_ANSWER_CODE } from './exchange.ts'

/** Most of an answer's head that is read, bytes, as in Node's own client. */
const HEAD_MAX_BYTES = 16 * 1024

/** Longest line that tells a chunk's size, extensions included. */
const CHUNK_LINE_MAX_BYTES = 1024

/** A token, as names of headers are (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** The size of a chunk in hexadecimal digits, and extensions, which say nothing to us (RFC 9112 §7.1). */
const CHUNK_SIZE =
  /^([0-9a-fA-F]{1,16})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*"))?)*$/

/** An answer that cannot be read. Its message says the same for all answers that are broken alike. */
export class AnswerError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'AnswerError'
    this.code = code
  }
}

type Part = 'head' | 'sized' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'whole'

/**
 * Reads the answer to one HTTP/1.1 request from the pieces in which it comes (RFC 9112 §4 to §7), and refuses whatever
 * could be taken for something else than was meant: a row must never be told an answer that is not its own, or half
 * of one. The pieces may be overwritten once {@link read} has returned.
 */
export class AnswerReader {
  /** Null until the head has been read; informational answers are passed over. */
  status: number | null = null
  contentType = ''
  retryAfter: string | null = null
  location: string | null = null
  /** The whole body, once the answer is whole. */
  body = ''
  /** Whether the connection may carry another request. */
  keepsAlive = false
  /** How long the service says it keeps an idle connection, milliseconds; null where it says nothing. */
  keepAliveMs: number | null = null
  #part: Part = 'head'
  /** What came of the head so far, or of a line of a chunked body. */
  #pending = ''
  #chunks: Buffer[] = []
  #sizeBytes = 0
  /** Bytes of the body, or of the current chunk, that are still to come. */
  #leftBytes = 0

  /** Makes it ready for the answer to another request. */
  reset(): void {
    this.status = null
    this.body = ''
    this.#part = 'head'
    this.#pending = ''
    this.#chunks = []
    this.#sizeBytes = 0
    this.#forgetHead()
  }

  /** Reads the first `size` of some bytes; true once the answer is whole. Throws {@link AnswerError}. */
  read(bytes: Buffer, size: number): boolean {
    let at = 0
    if (this.#part === 'head') at = this.#readHead(bytes, size)
    while (at < size && this.#part !== 'whole') at = this.#readBody(bytes, at, size)
    // What comes after an answer belongs to no request.
    if (at < size && !isLineEnds(bytes, at, size)) this.keepsAlive = false
    return this.#part === 'whole'
  }

  /** The service will send no more; true where that makes the answer whole. */
  close(): boolean {
    this.keepsAlive = false
    if (this.#part === 'until-close') this.#end()
    return this.#part === 'whole'
  }

  #forgetHead(): void {
    this.contentType = ''
    this.retryAfter = null
    this.location = null
    this.keepsAlive = false
    this.keepAliveMs = null
  }

  /** Gives where the body begins. */
  #readHead(bytes: Buffer, size: number): number {
    const before = this.#pending.length
    let text = this.#pending + bytes.toString('latin1', 0, size)
    this.#pending = ''
    let taken = -before
    for (;;) {
      const start = text.startsWith('\r\n') ? 2 : 0
      const end = text.indexOf('\r\n\r\n', start)
      if (end < 0) {
        this.#keepHead(text)
        return size
      }
      if (end >= HEAD_MAX_BYTES) throw headTooLong()
      this.#readHeadText(text.slice(start, end))
      taken += end + 4
      if (this.#part !== 'head') return taken
      text = text.slice(end + 4)
    }
  }

  #keepHead(text: string): void {
    const start = text.replace(/^\r\n?/, '').slice(0, 7)
    if (!'HTTP/1.'.startsWith(start)) throw malformed('it does not begin as HTTP/1.1 does')
    if (text.length >= HEAD_MAX_BYTES) throw headTooLong()
    if (holdsForbidden(text.endsWith('\r') ? text.slice(0, -1) : text)) throw badCharacter()
    this.#pending = text
  }

  #readHeadText(text: string): void {
    if (holdsForbidden(text)) throw badCharacter()
    const match = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |\r|$)/.exec(text)
    if (match === null) throw malformed('its first line is not a status line of HTTP/1.1')
    const status = Number(match[2])
    if (status === 101) throw malformed('it switches to another protocol, which nobody asked for')
    if (status < 200 && match[1] === '0') throw malformed('HTTP/1.0 knows no informational answers')
    this.#readHeaders(text, status, match[1] === '0')
  }

  #readHeaders(text: string, status: number, isHttp10: boolean): void {
    let contentType: string | null = null
    let length: string | null = null
    let coding: string | null = null
    let connection = ''
    let end = text.indexOf('\r\n')
    while (end >= 0) {
      const start = end + 2
      end = text.indexOf('\r\n', start)
      const colon = text.indexOf(':', start)
      const name = text.slice(start, colon)
      if (colon < start || !NAME.test(name)) throw malformed('one of its headers has no name')
      const value = trimBlanks(text, colon + 1, end < 0 ? text.length : end)
      switch (name.toLowerCase()) {
        case 'content-type':
          contentType ??= value
          break
        case 'content-length':
          if (length !== null) throw malformed('it names its length twice')
          length = value
          break
        case 'transfer-encoding':
          coding = coding === null ? value : `${coding},${value}`
          break
        case 'connection':
          connection += `,${value}`
          break
        case 'keep-alive':
          this.keepAliveMs = toKeepAliveMs(value)
          break
        case 'retry-after':
          this.retryAfter ??= value
          break
        case 'location':
          this.location ??= value
          break
      }
    }
    if (status < 200) {
      this.#forgetHead()
      return
    }
    this.status = status
    this.contentType = contentType ?? ''
    this.keepsAlive = !hasToken(connection, 'close') && (!isHttp10 || hasToken(connection, 'keep-alive'))
    // HTTP/1.0 knows no transfer codings; who sends one may have garbled it (RFC 9112 §6.1).
    if (isHttp10 && coding !== null) this.keepsAlive = false
    this.#frame(status, length, coding)
  }

  /** Where the body ends (RFC 9112 §6.3). */
  #frame(status: number, length: string | null, coding: string | null): void {
    if (coding !== null && length !== null) throw malformed('it names both a length and a transfer coding')
    if (coding !== null && !isChunked(coding)) throw malformed('its transfer coding is not chunked')
    if (length !== null && !/^\d{1,15}$/.test(length)) throw malformed('its length is not a number')
    if (status === 204 || status === 304) {
      // They have no body, whatever they say of one; a service that says so may send it all the same.
      if (coding !== null || Number(length ?? 0) > 0) this.keepsAlive = false
      this.#end()
    } else if (coding !== null) {
      this.#part = 'chunk-size'
    } else if (length === null) {
      this.keepsAlive = false
      this.#part = 'until-close'
    } else {
      this.#leftBytes = Number(length)
      if (this.#leftBytes > ANSWER_MAX_BYTES) throw tooLarge()
      this.#part = 'sized'
      if (this.#leftBytes === 0) this.#end()
    }
  }

  /** Gives where the next part begins. */
  #readBody(bytes: Buffer, at: number, size: number): number {
    switch (this.#part) {
      case 'sized': {
        if (this.#sizeBytes === 0 && size - at >= this.#leftBytes) {
          // The usual answer, all of it in one piece.
          this.body = bytes.toString('utf8', at, at + this.#leftBytes)
          this.#part = 'whole'
          return at + this.#leftBytes
        }
        const end = this.#keep(bytes, at, size)
        if (this.#leftBytes === 0) this.#end()
        return end
      }
      case 'until-close':
        this.#leftBytes = size - at
        return this.#keep(bytes, at, size)
      case 'chunk': {
        const end = this.#keep(bytes, at, size)
        if (this.#leftBytes === 0) this.#part = 'chunk-end'
        return end
      }
      default:
        return this.#readLine(bytes, at, size)
    }
  }

  #keep(bytes: Buffer, at: number, size: number): number {
    const end = Math.min(size, at + this.#leftBytes)
    this.#sizeBytes += end - at
    if (this.#sizeBytes > ANSWER_MAX_BYTES) throw tooLarge()
    this.#leftBytes -= end - at
    this.#chunks.push(Buffer.from(bytes.subarray(at, end)))
    return end
  }

  /** A line between the chunks (RFC 9112 §7.1). */
  #readLine(bytes: Buffer, at: number, size: number): number {
    const lineEnd = bytes.subarray(0, size).indexOf(0x0a, at)
    const end = lineEnd < 0 ? size : lineEnd + 1
    this.#pending += bytes.toString('latin1', at, end)
    const maxBytes = this.#part === 'trailer' ? HEAD_MAX_BYTES : CHUNK_LINE_MAX_BYTES
    if (this.#pending.length > maxBytes) throw malformed('a line of its chunked body is too long')
    if (lineEnd < 0) return end
    const line = this.#pending
    this.#pending = ''
    if (!line.endsWith('\r\n') || holdsForbidden(line)) throw badCharacter()
    this.#takeLine(line.slice(0, -2))
    return end
  }

  #takeLine(line: string): void {
    if (this.#part === 'chunk-end') {
      if (line !== '') throw malformed('a chunk of its body is longer than was said')
      this.#part = 'chunk-size'
      return
    }
    if (this.#part === 'trailer') {
      const name = line.slice(0, Math.max(0, line.indexOf(':')))
      if (line === '') this.#end()
      else if (!NAME.test(name)) throw malformed('one of its trailers has no name')
      else if (/^(content-length|transfer-encoding)$/i.test(name)) {
        throw malformed('a trailer says where its body ends')
      }
      return
    }
    const match = CHUNK_SIZE.exec(line)
    if (match === null) throw malformed('the size of a chunk of its body is not a number')
    this.#leftBytes = Number.parseInt(match[1] ?? '', 16)
    if (this.#leftBytes > ANSWER_MAX_BYTES) throw tooLarge()
    this.#part = this.#leftBytes === 0 ? 'trailer' : 'chunk'
  }

  #end(): void {
    this.#part = 'whole'
    if (this.#chunks.length > 0) this.body = Buffer.concat(this.#chunks).toString('utf8')
    this.#chunks = []
  }
}

/** Whether bytes are ends of lines and nothing else, which some services send once too often behind a body. */
export function isLineEnds(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) if (bytes[i] !== 0x0d && bytes[i] !== 0x0a) return false
  return true
}

/** Looks for control characters, and for ends of lines other than CRLF (RFC 9112 §2.2, RFC 9110 §5.5). */
function holdsForbidden(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code >= 0x20 && code !== 0x7f) continue
    if (code === 0x0d && text.charCodeAt(i + 1) === 0x0a) i += 1
    else if (code !== 0x09) return true
  }
  return false
}

function toKeepAliveMs(value: string): number | null {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,9})/i.exec(value)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}

function hasToken(list: string, token: string): boolean {
  if (list === '') return false
  return toTokens(list).includes(token)
}

/** Named twice, as by a service and a proxy before it, it is still one coding. */
function isChunked(coding: string): boolean {
  return toTokens(coding).every((token) => token === 'chunked')
}

function toTokens(list: string): string[] {
  return list.split(',').map((entry) => trimBlanks(entry, 0, entry.length).toLowerCase())
}

/** Without the white space of HTTP at its ends, which is less than that of JavaScript (RFC 9110 §5.6.3). */
function trimBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function malformed(what: string): AnswerError {
  return new AnswerError(MALFORMED_ANSWER_CODE, `the answer cannot be read: ${what}`)
}

function headTooLong(): AnswerError {
  return malformed(`its headers are longer than ${HEAD_MAX_BYTES} bytes`)
}

function badCharacter(): AnswerError {
  return malformed('it holds a character that has no place there')
}

function tooLarge(): AnswerError {
  return new AnswerError(ANSWER_TOO_LARGE_CODE, `the answer is larger than ${ANSWER_MAX_BYTES} bytes`)
}
