import {
  type Answer,
  AnswerError,
  MALFORMED_ANSWER_CODE,
  UNSENDABLE_CODE,
  type WireRequest,
} from './exchange.ts'
import { TRACE_HEADER } from './trace-context.ts'

/** Characters forbidden in a header's value (RFC 9110 §5.5); those outside Latin-1 cannot be written. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** The lines before the body, which are the same for most requests of a connection. */
export class RequestHead {
  readonly #start: string
  #method = ''
  #target = ''
  #headers: readonly string[] = []
  #text = ''

  constructor(host: string, keepsAlive: boolean) {
    this.#start = `host: ${host}\r\nconnection: ${keepsAlive ? 'keep-alive' : 'close'}\r\n`
  }

  /** Why the request cannot be sent; null if it can. The message contains no value, which may be a secret. */
  prepare({ method, target, headers }: WireRequest): { code: string; message: string } | null {
    if (this.#method === method && this.#target === target && this.#headers === headers) return null
    this.#method = ''
    if (/[^\x21-\x7e]/.test(target)) {
      return {
        code: UNSENDABLE_CODE,
        message: 'the path holds a character that an HTTP request cannot carry',
      }
    }
    let text = `${method} ${target} HTTP/1.1\r\n${this.#start}`
    for (let i = 0; i < headers.length; i += 2) {
      const [name = '', value = ''] = [headers[i], headers[i + 1]]
      if (NOT_IN_VALUE.test(value)) {
        const message = `the header ${name} holds a character that an HTTP request cannot carry`
        return { code: UNSENDABLE_CODE, message }
      }
      text += `${name}: ${value}\r\n`
    }
    this.#method = method
    this.#target = target
    this.#headers = headers
    this.#text = text
    return null
  }

  /** `length`: of the body, bytes; null if there is none. */
  finish(length: number | null, traceparent: string | null): string {
    const text = traceparent === null ? this.#text : `${this.#text}${TRACE_HEADER}: ${traceparent}\r\n`
    return length === null ? `${text}\r\n` : `${text}content-length: ${length}\r\n\r\n`
  }
}

/** A token, as names of headers are (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

export interface AnswerHead extends Pick<Answer, 'status' | 'contentType' | 'retryAfter' | 'location'> {
  /** The Date header as received. */
  date: string | null
  /** The Content-Encoding header, '' if missing. */
  contentEncoding: string
  /** Whether the connection may carry another request. */
  keepsAlive: boolean
  /** How long the service says it keeps an idle connection, milliseconds; null if it says nothing. */
  keepAliveMs: number | null
  /** How the body ends. */
  framing: 'none' | 'sized' | 'chunked' | 'until-close'
  /** Length of a sized body. */
  lengthBytes: number
}

/**
 * Parses a head without the empty line that ends it (RFC 9112 §4 to §6). Accepts what RFC 9112 requires to be
 * accepted; refuses anything ambiguous. Throws {@link AnswerError}. For an informational answer, only the
 * status counts.
 */
export function parseAnswerHead(text: string): AnswerHead {
  if (!text.startsWith('HTTP/1.')) throw notHttp()
  if (holdsForbidden(text)) throw badCharacter()
  const match = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |\r|$)/.exec(text)
  if (match === null) throw malformed('its first line is not a status line of HTTP/1.1')
  const status = Number(match[2])
  const isHttp10 = match[1] === '0'
  if (status === 101) throw malformed('it switches to another protocol, which was not requested')
  if (status < 200 && isHttp10) throw malformed('HTTP/1.0 knows no informational answers')
  const firstEnd = text.indexOf('\r\n')
  if (firstEnd >= 0 && isBlank(text.charCodeAt(firstEnd + 2))) {
    throw malformed('its headers begin with white space')
  }
  return parseHeaders(text, firstEnd, status, isHttp10)
}

/** Every header of a head accepted by {@link parseAnswerHead}, in order. */
export function listHeaders(text: string): [name: string, value: string][] {
  const [, ...lines] = text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), trimBlanks(line, colon + 1, line.length)]
  })
}

/** `from`: the end of the line before. */
function parseHeaders(text: string, from: number, status: number, isHttp10: boolean): AnswerHead {
  const head: AnswerHead = {
    status,
    contentType: '',
    retryAfter: null,
    date: null,
    location: null,
    contentEncoding: '',
    keepsAlive: false,
    keepAliveMs: null,
    framing: 'none',
    lengthBytes: 0,
  }
  let contentType: string | null = null
  let lengths: string | null = null
  let codings: string | null = null
  let connection = ''
  let end = from
  while (end >= 0) {
    const start = end + 2
    // A value that continues on the next line (RFC 9112 §5.2).
    if (isBlank(text.charCodeAt(start))) {
      return parseHeaders(text.replace(/\r\n[ \t]+/g, ' '), from, status, isHttp10)
    }
    end = text.indexOf('\r\n', start)
    const colon = text.indexOf(':', start)
    const name = text.slice(start, colon)
    if (colon < start || !isToken(name)) throw malformed('one of its headers has no name')
    const value = trimBlanks(text, colon + 1, end < 0 ? text.length : end)
    switch (name.toLowerCase()) {
      case 'content-type':
        contentType ??= value
        break
      case 'content-length':
        lengths = lengths === null ? value : `${lengths},${value}`
        break
      case 'transfer-encoding':
        codings = codings === null ? value : `${codings},${value}`
        break
      case 'content-encoding':
        head.contentEncoding += head.contentEncoding === '' ? value : `,${value}`
        break
      case 'connection':
        connection += `,${value}`
        break
      case 'keep-alive':
        head.keepAliveMs = toKeepAliveMs(value)
        break
      case 'retry-after':
        head.retryAfter ??= value
        break
      case 'date':
        head.date ??= value
        break
      case 'location':
        head.location ??= value
        break
    }
  }
  head.contentType = contentType ?? ''
  head.keepsAlive =
    connection === ',keep-alive' ||
    (!hasToken(connection, 'close') && (!isHttp10 || hasToken(connection, 'keep-alive')))
  // HTTP/1.0 has no transfer codings; a sender of one may have garbled it (RFC 9112 §6.1).
  if (isHttp10 && codings !== null) head.keepsAlive = false
  if (status >= 200) frame(head, lengths, codings)
  return head
}

/** Determines where the body ends (RFC 9112 §6.3). */
function frame(head: AnswerHead, lengths: string | null, codings: string | null): void {
  const isChunked = codings !== null && readCodings(codings)
  // A coding that changes nothing is harmless but odd.
  if (codings !== null && !isChunked) head.keepsAlive = false
  if (isChunked && lengths !== null) throw malformed('it names both a length and a transfer coding')
  const length = lengths === null ? null : readLength(lengths)
  if (head.status === 204 || head.status === 304) {
    // They have no body, whatever their headers claim; a service that claims one may send it anyway.
    if (codings !== null || (length ?? 0) > 0) head.keepsAlive = false
  } else if (isChunked) {
    head.framing = 'chunked'
  } else if (length === null) {
    head.keepsAlive = false
    head.framing = 'until-close'
  } else if (length > 0) {
    head.framing = 'sized'
    head.lengthBytes = length
  }
}

/** Whether a text is a token, as names of headers are. */
export function isToken(text: string): boolean {
  return NAME.test(text)
}

/** Finds control characters, and line ends other than CRLF (RFC 9112 §2.2, RFC 9110 §5.5). */
export function holdsForbidden(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code >= 0x20 && code !== 0x7f) continue
    if (code === 0x0d && text.charCodeAt(i + 1) === 0x0a) i += 1
    else if (code !== 0x09) return true
  }
  return false
}

/** Most answers of a service have the same value. */
let lastKeepAlive: { value: string; ms: number | null } = { value: '', ms: null }

function toKeepAliveMs(value: string): number | null {
  if (value !== lastKeepAlive.value) {
    const seconds = /(?:^|[,;\s])timeout=(\d{1,9})/i.exec(value)?.[1]
    lastKeepAlive = { value, ms: seconds === undefined ? null : Number(seconds) * 1000 }
  }
  return lastKeepAlive.ms
}

function hasToken(list: string, token: string): boolean {
  if (list === '') return false
  return toTokens(list).includes(token)
}

/**
 * Whether the body is chunked. Named twice, as by a service and a proxy before it, it is still one coding;
 * `identity` and an empty value change nothing.
 */
function readCodings(codings: string): boolean {
  const tokens = toTokens(codings).filter((token) => token !== '' && token !== 'identity')
  if (tokens.some((token) => token !== 'chunked')) throw malformed('its transfer coding is not chunked')
  return tokens.length > 0
}

/** The same length given several times is one length (RFC 9110 §8.6). */
function readLength(lengths: string): number {
  const [first = '', ...others] = lengths.includes(',') ? toTokens(lengths) : [lengths]
  if (!/^\d{1,15}$/.test(first)) throw malformed('its length is not a number')
  if (others.some((length) => length !== first)) throw malformed('it names two lengths')
  return Number(first)
}

function toTokens(list: string): string[] {
  return list.split(',').map((entry) => trimBlanks(entry, 0, entry.length).toLowerCase())
}

/** Trims HTTP's white space, which is less than JavaScript's (RFC 9110 §5.6.3). */
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

/** An answer that is not HTTP/1.1, or is ambiguous. */
export function malformed(what: string): AnswerError {
  return new AnswerError(MALFORMED_ANSWER_CODE, `the answer cannot be read: ${what}`)
}

/** An answer of another protocol. */
export function notHttp(): AnswerError {
  return malformed('it does not begin as HTTP/1.1 does')
}

/** A control character, or an invalid line break. */
export function badCharacter(): AnswerError {
  return malformed('it holds a character that has no place there')
}
