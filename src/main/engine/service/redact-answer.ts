import { SERVICE_ERRORS } from '../../../shared/service/errors.ts'
import { REDACTED, type Redactor } from '../secrets/redactor.ts'
import { parseJson } from './judgement.ts'

/** Names of members as services write them, which no key looks like. */
const NAME = /^[A-Za-z_]{1,64}$/

const CODES: ReadonlySet<string> = new Set(SERVICE_ERRORS.map(({ errorCode }) => errorCode))

/**
 * A body without secrets, which reads as it did: in JSON only values are taken out, and names that are no plain words,
 * so that a key which happens to be a word of the answers changes nothing of their structure. Other texts lose every
 * secret. Codes of the interface's errors stay, since what a run does next depends on them (docs/interface.md §7).
 */
export function redactAnswer(redactor: Redactor, body: string): string {
  const redacted = redactor.redact(body)
  return redacted === body || parseJson(body) === undefined ? redacted : redactJson(redactor, body)
}

/** The same for bytes; the same bytes if they hold none. Nothing else in them changes. */
export function redactAnswerBytes(redactor: Redactor, bytes: Uint8Array): Uint8Array {
  if (redactor.redactBytes(bytes) === bytes) return bytes
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return Buffer.from(redactAnswer(redactor, body), 'latin1')
}

/** An error code without secrets, unless it is one of the interface. */
export function redactCode(redactor: Redactor, code: string): string {
  return CODES.has(code) ? code : redactor.redact(code)
}

function redactJson(redactor: Redactor, json: string): string {
  let redacted = ''
  let at = 0
  for (let start = json.indexOf('"'); start >= 0; start = json.indexOf('"', at)) {
    const end = findStringEnd(json, start)
    const text = json.slice(start + 1, end)
    const isKept = isName(json, end) && NAME.test(text)
    redacted += redactNumbers(redactor, json.slice(at, start))
    redacted += `"${isKept ? text : redactCode(redactor, text)}"`
    at = end + 1
  }
  return redacted + redactNumbers(redactor, json.slice(at))
}

/** Where the closing quote of the string is that begins at `start`. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return end
  }
}

/** Whether a string that ends there is the name of a member. */
function isName(json: string, end: number): boolean {
  let at = end + 1
  while (at < json.length && ' \t\r\n'.includes(json.charAt(at))) at += 1
  return json[at] === ':'
}

/** Numbers that are wholly a secret become texts. */
function redactNumbers(redactor: Redactor, json: string): string {
  return json.replaceAll(/[-\d][\d.eE+-]{7,}/g, (number) =>
    redactor.redact(number) === REDACTED ? `"${REDACTED}"` : number,
  )
}
