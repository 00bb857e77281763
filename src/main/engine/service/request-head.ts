import { UNSENDABLE_CODE } from './exchange.ts'
import type { WireRequest } from './wire-client.ts'

/** Characters that a header's value may not have (RFC 9110 §5.5); what is not Latin-1 cannot be written at all. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** The lines before the body, which are the same for most requests of a connection. */
export class RequestHead {
  readonly #host: string
  #method = ''
  #target = ''
  #headers: readonly string[] = []
  #text = ''

  constructor(host: string) {
    this.#host = host
  }

  /** Tells why the request cannot be sent; null where it can. The message holds no value, which may be a secret. */
  prepare({ method, target, headers }: WireRequest): { code: string; message: string } | null {
    if (this.#method === method && this.#target === target && this.#headers === headers) return null
    this.#method = ''
    if (/[^\x21-\x7e]/.test(target)) {
      return {
        code: UNSENDABLE_CODE,
        message: 'the path holds a character that an HTTP request cannot carry',
      }
    }
    let text = `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\nconnection: keep-alive\r\n`
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

  /** `length`: of the body, bytes; null where there is none. */
  finish(length: number | null): string {
    return length === null ? `${this.#text}\r\n` : `${this.#text}content-length: ${length}\r\n\r\n`
  }
}
