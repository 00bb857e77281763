import { describe, expect, it } from 'vitest'
import { REDACTED_MIN_CHARACTERS, Redactor } from '../../../../src/main/engine/secrets/redactor.ts'

const KEY = 'sk/live+4f9a"8b7c6d'

function createRedactor(...secrets: string[]): Redactor {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.add(secret)
  return redactor
}

const escapeAll = (text: string, toEscape: (code: number) => string): string =>
  [...text].map((character) => toEscape(character.charCodeAt(0))).join('')
const toHex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

describe('the redactor takes out a secret', () => {
  it.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => `bad key ${secret}.`],
    ['in JSON', (secret) => JSON.stringify({ message: secret })],
    ['in JSON within JSON', (secret) => JSON.stringify(JSON.stringify({ message: secret }))],
    ['in JSON that escapes slashes', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
    ['in JSON that escapes every character', (secret) => escapeAll(secret, (code) => `\\u${toHex(code, 4)}`)],
    ['in capital escapes', (secret) => escapeAll(secret, (code) => `\\u${toHex(code, 4).toUpperCase()}`)],
    ['in an URL', (secret) => `?key=${encodeURIComponent(secret)}&x=1`],
    ['in an URL within an URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['in an URL that escapes every character', (secret) => escapeAll(secret, (code) => `%${toHex(code, 2)}`)],
    ['in HTML', (secret) => `<b>${secret.replaceAll('"', '&quot;')}</b>`],
    [
      'in HTML that escapes every character',
      (secret) => escapeAll(secret, (code) => `&#x${toHex(code, 2)};`),
    ],
  ])('%s', (_how, write) => {
    for (const secret of [KEY, 'plain-key-0123456789']) {
      const redacted = createRedactor(secret).redact(write(secret))
      expect(redacted).toContain('[redacted]')
      expect(redacted).not.toContain(secret.slice(3, 9))
      expect(redacted).not.toMatch(/\\u00|%[2-7]|&#x/)
    }
  })

  it.each(['', 'a', 'ab', 'abc', 'user:'])('in base64 behind `%s`', (before) => {
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${before}${KEY}~`).toString(alphabet)
      const redacted = createRedactor(KEY).redact(`Basic ${text} and JSON ${JSON.stringify(text)}`)
      const rest = redacted.replaceAll('[redacted]', '').replace(/^Basic | and JSON /g, '')
      expect(Buffer.from(rest, 'base64').toString('latin1')).not.toMatch(/sk|live|4f9a|8b7c/)
      expect(rest.length).toBeLessThan(24)
    }
  })

  it('and leaves escapes around it unchanged', () => {
    const redactor = createRedactor(KEY)
    expect(redactor.redact(encodeURIComponent(JSON.stringify({ message: KEY })))).toBe(
      '%7B%22message%22%3A%22[redacted]%22%7D',
    )
    const toText = (secret: string) => `100 % \\u00e9 \\n &amp; ${secret} %e4 ${secret} \\u &#x2b;`
    const escaped = escapeAll(KEY, (code) => `\\u${toHex(code, 4)}`)
    expect(redactor.redact(toText(escaped))).toBe(toText('[redacted]'))
    expect(redactor.redact(toText(KEY))).toBe(toText('[redacted]'))
  })

  it('of every one that was added, and all of the longest if one begins another', () => {
    const redactor = createRedactor('clerk:proxy-secret', 'proxy-secret', 'clerk:proxy-secret-2')
    expect(redactor.redact('clerk:proxy-secret-2, clerk:proxy-secret, proxy-secret')).toBe(
      '[redacted], [redacted], [redacted]',
    )
  })

  it('from bytes, and leaves those around it unchanged', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(KEY), Buffer.from('ä')])
    const expected = Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from('[redacted]ä')])
    expect(Buffer.from(createRedactor(KEY).redactBytes(bytes))).toEqual(expected)
    expect(Buffer.from(createRedactor('schlüssel-wort').redactBytes(Buffer.from('schlüssel-wort')))).toEqual(
      Buffer.from('[redacted]'),
    )
  })
})

it('leaves texts without a secret unchanged, as the same object', () => {
  const bytes = Buffer.from('{"message":"100 % \\u00e9 &#228; \\/"}')
  expect(createRedactor(KEY).redactBytes(bytes)).toBe(bytes)
  expect(createRedactor().redactBytes(bytes)).toBe(bytes)
})

it('does not search for a secret so short that it occurs in ordinary answers', () => {
  const short = 'x'.repeat(REDACTED_MIN_CHARACTERS - 1)
  expect(createRedactor(short).redact(`text ${short}`)).toBe(`text ${short}`)
  expect(createRedactor(`${short}x`).redact(`text ${short}x`)).toBe('text [redacted]')
})
