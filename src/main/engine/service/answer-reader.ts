import { type DecodedBody, decodeBody, ReceivedBody, ReceivedBytes, toTooLarge } from './answer-body.ts'
import { ANSWER_MAX_BYTES, type AnswerError } from './exchange.ts'
import {
  type AnswerHead,
  badCharacter,
  holdsForbidden,
  isToken,
  listHeaders,
  malformed,
  notHttp,
  parseAnswerHead,
} from './http1-heads.ts'

/** Most bytes of an answer's head, as in Node's own client; the same for its trailers. */
const HEAD_MAX_BYTES = 16 * 1024

/** Most informational answers (1xx) before the real one. */
const INTERIM_MAX = 100

/** Longest line with a chunk's size, extensions included. */
const CHUNK_LINE_MAX_BYTES = 1024

/** Most extensions of all chunks of a body together, bytes. */
const EXTENSIONS_MAX_BYTES = 16 * 1024

/** Most chunks of a body: 64 bytes each in the largest body there may be. */
const CHUNKS_MAX = ANSWER_MAX_BYTES / 64

/** A body, and what one read can bring of a head or of a line between chunks. */
const KEPT_MAX_BYTES = ANSWER_MAX_BYTES + 128 * 1024

/**
 * The size of a chunk in hexadecimal digits, and extensions, which are ignored (RFC 9112 §7.1). Some services
 * pad the size with spaces.
 */
const CHUNK_SIZE =
  /^([0-9a-fA-F]{1,16})(?:[ \t]*;[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*"))?)*[ \t]*$/

type Part = 'head' | 'sized' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'whole'

/**
 * Reads the answer to one HTTP/1.1 request from the pieces in which it comes (RFC 9112 §4 to §7), and refuses
 * anything ambiguous: a row must never get an answer that is not its own, or half of one. The pieces may be
 * overwritten once {@link read} has returned.
 */
export class AnswerReader {
  /** Null until it has been read; informational answers are skipped. */
  head: AnswerHead | null = null
  /** Every header of the answer; null if they are not kept. */
  headers: [name: string, value: string][] | null = null
  /** The whole body, decoded, once the answer is complete. */
  decoded: DecodedBody = NOTHING
  /** Whether the connection may carry another request. */
  keepsAlive = false
  /** Whether more than the answer came, on a connection that would have carried another request. */
  hasSurplus = false
  #part: Part = 'head'
  /** The part received so far of the head, or of the body and the line between its chunks. */
  readonly #kept: ReceivedBody
  #bodyBytes = 0
  /** Remaining bytes of the body or of the current chunk. */
  #leftBytes = 0
  /** Line ends before the status line. */
  #emptyBytes = 0
  #interims = 0
  #chunks = 0
  #extensionBytes = 0
  #trailerBytes = 0

  readonly #keepsHeaders: boolean

  /** `received`: the memory shared with all others that read at the same time. */
  constructor(received: ReceivedBytes = new ReceivedBytes(), keepsHeaders = false) {
    this.#keepsHeaders = keepsHeaders
    this.#kept = new ReceivedBody(received, KEPT_MAX_BYTES)
  }

  reset(): void {
    this.head = null
    this.keepsAlive = false
    this.hasSurplus = false
    this.decoded = NOTHING
    this.#part = 'head'
    this.#kept.clear()
    this.#bodyBytes = 0
    this.#emptyBytes = 0
    this.#interims = 0
    this.#chunks = 0
    this.#extensionBytes = 0
    this.#trailerBytes = 0
  }

  /** Reads the first `size` bytes; true once the answer is complete. Throws {@link AnswerError}. */
  read(bytes: Buffer, size: number): boolean {
    let at = 0
    while (at < size && this.#part === 'head') at = this.#readHead(bytes, at, size)
    while (at < size && this.#part !== 'whole') at = this.#readBody(bytes, at, size)
    // What comes after an answer belongs to no request.
    if (at < size && !isLineEnds(bytes, at, size)) {
      this.hasSurplus = this.keepsAlive
      this.keepsAlive = false
    }
    return this.#part === 'whole'
  }

  /** The service will send no more; true if that completes the answer. */
  close(): boolean {
    this.keepsAlive = false
    if (this.#part === 'until-close') this.#end(this.#kept.view())
    return this.#part === 'whole'
  }

  /** Reads one head, or a piece of it. Returns where the next part begins. */
  #readHead(bytes: Buffer, from: number, size: number): number {
    if (this.#kept.length > 0) return this.#readKeptHead(bytes, from, size)
    const at = skipLineEnds(bytes, from, size)
    this.#emptyBytes += at - from
    if (this.#emptyBytes > HEAD_MAX_BYTES) {
      throw malformed(`more than ${HEAD_MAX_BYTES / 1024} KiB of line breaks come before it`)
    }
    if (at === size) return size
    const text = bytes.toString('latin1', at, size)
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#kept.append(bytes.subarray(at, size))
      this.#checkKeptHead(0)
      return size
    }
    this.#takeHead(text.slice(0, end))
    return at + end + 4
  }

  #readKeptHead(bytes: Buffer, from: number, size: number): number {
    const before = this.#kept.length
    this.#kept.append(bytes.subarray(from, size))
    const kept = this.#kept.view()
    const end = kept.indexOf('\r\n\r\n', Math.max(0, before - 3), 'latin1')
    if (end < 0) {
      this.#checkKeptHead(before)
      return size
    }
    const text = kept.toString('latin1', 0, end)
    this.#kept.clear()
    this.#takeHead(text)
    return from + end + 4 - before
  }

  /** Refuses what cannot become a head before its end has come; `from`: how much was checked before. */
  #checkKeptHead(from: number): void {
    const kept = this.#kept.view()
    if (!'HTTP/1.'.startsWith(kept.toString('latin1', 0, 7))) throw notHttp()
    if (kept.length >= HEAD_MAX_BYTES) throw headTooLong()
    if (holdsForbiddenByte(kept, from)) throw badCharacter()
  }

  #takeHead(text: string): void {
    if (text.length >= HEAD_MAX_BYTES) throw headTooLong()
    const head = parseAnswerHead(text)
    if (head.status < 200) {
      this.#interims += 1
      if (this.#interims > INTERIM_MAX) {
        throw malformed(`more than ${INTERIM_MAX} informational answers come before it`)
      }
      return
    }
    this.head = head
    if (this.#keepsHeaders) this.headers = listHeaders(text)
    this.keepsAlive = head.keepsAlive
    switch (head.framing) {
      case 'none':
        this.#end(EMPTY)
        break
      case 'chunked':
        this.#part = 'chunk-size'
        break
      case 'until-close':
        this.#part = 'until-close'
        break
      case 'sized':
        if (head.lengthBytes > ANSWER_MAX_BYTES) throw toTooLarge()
        this.#leftBytes = head.lengthBytes
        this.#part = 'sized'
    }
  }

  /** Returns where the next part begins. */
  #readBody(bytes: Buffer, at: number, size: number): number {
    switch (this.#part) {
      case 'sized': {
        if (this.#bodyBytes === 0 && size - at >= this.#leftBytes) {
          // The usual answer, all of it in one piece.
          const end = at + this.#leftBytes
          this.#end(bytes.subarray(at, end))
          return end
        }
        const end = this.#keep(bytes, at, size)
        if (this.#leftBytes === 0) this.#end(this.#kept.view())
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
    this.#bodyBytes += end - at
    if (this.#bodyBytes > ANSWER_MAX_BYTES) throw toTooLarge()
    this.#leftBytes -= end - at
    this.#kept.append(bytes.subarray(at, end))
    return end
  }

  /** A line between the chunks (RFC 9112 §7.1). */
  #readLine(bytes: Buffer, at: number, size: number): number {
    let end = at
    while (end < size && bytes[end] !== 0x0a) end += 1
    const isWhole = end < size
    if (isWhole) end += 1
    const isTrailer = this.#part === 'trailer'
    if (isTrailer) {
      this.#trailerBytes += end - at
      if (this.#trailerBytes > HEAD_MAX_BYTES)
        throw malformed(`its trailers exceed ${HEAD_MAX_BYTES / 1024} KiB`)
    }
    let line: string
    if (isWhole && this.#kept.length === this.#bodyBytes) {
      line = bytes.toString('latin1', at, end)
    } else {
      this.#kept.append(bytes.subarray(at, end))
      const lengthBytes = this.#kept.length - this.#bodyBytes
      if (!isTrailer && lengthBytes > CHUNK_LINE_MAX_BYTES) throw chunkLineTooLong()
      if (!isWhole) return end
      line = this.#kept.view().toString('latin1', this.#bodyBytes)
      this.#kept.cut(this.#bodyBytes)
    }
    if (!isTrailer && line.length > CHUNK_LINE_MAX_BYTES) throw chunkLineTooLong()
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
      if (line === '') this.#end(this.#kept.view())
      else if (!isToken(name)) throw malformed('one of its trailers has no name')
      else if (/^(content-length|transfer-encoding)$/i.test(name)) {
        throw malformed('a trailer says where its body ends')
      }
      return
    }
    const size = CHUNK_SIZE.exec(line)?.[1]
    if (size === undefined) throw malformed('the size of a chunk of its body is not a number')
    this.#leftBytes = Number.parseInt(size, 16)
    if (this.#bodyBytes + this.#leftBytes > ANSWER_MAX_BYTES) throw toTooLarge()
    this.#extensionBytes += line.length - size.length
    if (this.#extensionBytes > EXTENSIONS_MAX_BYTES) {
      throw malformed(`the extensions of its chunks exceed ${EXTENSIONS_MAX_BYTES / 1024} KiB`)
    }
    this.#chunks += 1
    if (this.#chunks > CHUNKS_MAX)
      throw malformed(`its body has more than ${CHUNKS_MAX.toLocaleString('en-US')} chunks`)
    this.#part = this.#leftBytes === 0 ? 'trailer' : 'chunk'
  }

  #end(bytes: Buffer): void {
    this.#part = 'whole'
    this.decoded = decodeBody(bytes, this.head ?? NO_HEADERS)
    this.#kept.clear()
  }
}

const EMPTY = Buffer.alloc(0)

const NOTHING: DecodedBody = { body: '' }

const NO_HEADERS = { contentEncoding: '', contentType: '' }

/** Whether bytes are only line ends, of which some services send one too many after a body. */
export function isLineEnds(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) if (bytes[i] !== 0x0d && bytes[i] !== 0x0a) return false
  return true
}

function skipLineEnds(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at] === 0x0d || bytes[at] === 0x0a)) at += 1
  return at
}

/** Like {@link holdsForbidden}, for a head without its end, from where it was not checked before. */
function holdsForbiddenByte(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i += 1) {
    const code = bytes[i] ?? 0
    const isAfterReturn = i > 0 && bytes[i - 1] === 0x0d
    if (isAfterReturn !== (code === 0x0a)) return true
    if ((code < 0x20 && code !== 0x0d && code !== 0x0a && code !== 0x09) || code === 0x7f) return true
  }
  return false
}

function headTooLong(): AnswerError {
  return malformed(`its headers are longer than ${HEAD_MAX_BYTES / 1024} KiB`)
}

function chunkLineTooLong(): AnswerError {
  return malformed(`a line of its chunked body is longer than ${CHUNK_LINE_MAX_BYTES / 1024} KiB`)
}
