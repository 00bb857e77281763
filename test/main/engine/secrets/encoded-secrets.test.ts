import { expect, it } from 'vitest'
import { Redactor } from '../../../../src/main/engine/secrets/redactor.ts'
import { createRandom } from '../../../helpers/crash/kill.ts'

type Encode = (text: string) => string

const each = (text: string, encode: (code: number, character: string) => string) =>
  [...text].map((character) => encode(character.charCodeAt(0), character)).join('')
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
const NAMES: Record<string, string> = {
  '/': 'sol',
  '+': 'plus',
  '-': 'hyphen',
  _: 'lowbar',
  '.': 'period',
  ':': 'colon',
  '=': 'equals',
  '&': 'amp',
  '"': 'quot',
  '<': 'lt',
}

/** Encodings that a service may use for a key, independent of the key. */
const ENCODINGS = {
  asItIs: (text) => text,
  hex: (text) => Buffer.from(text, 'latin1').toString('hex'),
  capitalHex: (text) => Buffer.from(text, 'latin1').toString('hex').toUpperCase(),
  base64: (text) => Buffer.from(text, 'latin1').toString('base64'),
  base64url: (text) => Buffer.from(text, 'latin1').toString('base64url'),
  url: (text) => encodeURIComponent(text),
  wholeUrl: (text) => each(text, (code) => `%${hex(code, 2)}`),
  decimalEntities: (text) => each(text, (code) => `&#${code};`),
  hexEntities: (text) => each(text, (code) => `&#X${hex(code, 2)};`),
  namedEntities: (text) => each(text, (_, one) => (NAMES[one] === undefined ? one : `&${NAMES[one]};`)),
  json: (text) => JSON.stringify(text),
  wholeJson: (text) => each(text, (code) => `\\u${hex(code, 4)}`),
  script: (text) => each(text, (code) => `\\x${hex(code, 2)}`),
} satisfies Record<string, Encode>

/** Encodings that lose information about the text, so that only the key itself may be encoded so. */
const INNERMOST = {
  ...ENCODINGS,
  capitals: (text) => text.toUpperCase(),
  small: (text) => text.toLowerCase(),
  mixed: (text) => each(text, (code, one) => (code % 2 === 0 ? one.toUpperCase() : one.toLowerCase())),
  utf16le: (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  utf16be: (text) => Buffer.from(text, 'utf16le').swap16().toString('latin1'),
} satisfies Record<string, Encode>

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/+=&"<'

function drawKey(random: () => number): string {
  const length = 12 + Math.floor(random() * 40)
  return Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('')
}

it('removes a key from a text in every encoding, and with a second encoding on top', () => {
  const random = createRandom(20_261_126)
  const missed: string[] = []
  for (const [innerName, inner] of Object.entries(INNERMOST)) {
    for (const [outerName, outer] of Object.entries(ENCODINGS)) {
      for (let round = 0; round < 3; round += 1) {
        const key = drawKey(random)
        const redactor = new Redactor()
        redactor.add(key)
        const written = outer(inner(key))
        const text = `{"message":"bad key: ${written} (unknown), é"}`
        const redacted = redactor.redact(text)
        const isLeft = redacted.includes(written) || !redacted.includes('[redacted]')
        if (isLeft) missed.push(`${innerName} in ${outerName}: ${key}`)
        expect(redacted.startsWith('{"message":"bad key: ')).toBe(true)
        expect(redacted.endsWith(' (unknown), é"}')).toBe(true)
      }
    }
  }
  expect(missed).toEqual([])
})

it.each<[string, Encode]>([
  ['base64 of base64 of base64', (key) => btoa(btoa(btoa(key)))],
  ['base64 of UTF-16 in hexadecimal', (key) => ENCODINGS.hex(btoa(INNERMOST.utf16le(key)))],
  ['base64 in an URL within JSON', (key) => JSON.stringify(encodeURIComponent(`${btoa(`user:${key}`)}`))],
  ['base64 that begins in the middle of a path', (key) => `/files/${btoa(btoa(key))}/x`],
])('removes a key from %s', (_, encode) => {
  const redactor = new Redactor()
  const key = 'sk-live-4f9a8b7c6d'
  redactor.add(key)
  expect(redactor.redact(`a ${encode(key)} b`)).toMatch(/^a .*\[redacted\].* b$/)
  expect(redactor.redact(`a ${encode(key)} b`)).not.toContain(encode(key).slice(10, 30))
})

it('leaves long ids, hashes and encoded texts without a key unchanged', () => {
  const redactor = new Redactor()
  redactor.add('sk-live-4f9a8b7c6d')
  const random = createRandom(7)
  const bytes = () => Buffer.from(Array.from({ length: 48 }, () => Math.floor(random() * 256)))
  const text = JSON.stringify({
    ids: Array.from({ length: 50 }, () => bytes().toString('hex')),
    images: Array.from({ length: 50 }, () => bytes().toString('base64')),
    html: '&lt;b&gt; &sol; &unknown; &#x41; a&b=c; %41 \\x41',
  })
  expect(redactor.redact(text)).toBe(text)
})

it('searches a limited part of encoded data, and all of the text', () => {
  const redactor = new Redactor()
  const key = 'sk-live-4f9a8b7c6d'
  redactor.add(key)
  const filler = 'A'.repeat(4 * 1024 * 1024)
  const text = `${filler} ${key}`
  expect(redactor.redact(text)).toBe(`${filler} [redacted]`)
})
