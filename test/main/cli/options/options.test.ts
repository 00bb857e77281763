import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addLabelOptions } from '../../../../src/main/cli/options/label-options.ts'
import {
  createDurationParser,
  createIntegerParser,
  createPositiveNumberParser,
  createSizeParser,
  parseBaseUrl,
  parseDelimiter,
  parseDurationMs,
  parseProxyUrl,
  parseVariableName,
} from '../../../../src/main/cli/options/parse-values.ts'
import { collectKey } from '../../../../src/main/cli/options/service-options.ts'
import {
  collectMapping,
  collectTemplate,
  toMapping,
} from '../../../../src/main/cli/options/source-options.ts'
import { findNearest } from '../../../../src/shared/messages/find-nearest.ts'

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2 min', 120_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it('never assumes a unit, and names both that may be meant', () => {
    expect(() => parseDurationMs('30')).toThrow('`30s` or `30ms`')
  })

  it.each(['', 'soon', '-1s', '1s2', 's'])('refuses %j and says what was found', (text) => {
    expect(() => parseDurationMs(text)).toThrow(`found \`${text}\``)
  })

  it('is at most an hour as a timeout', () => {
    expect(() => createDurationParser('1h')('61m')).toThrow('from 1ms to 1h')
    expect(() => createDurationParser('1h')('0ms')).toThrow('from 1ms to 1h')
  })
})

describe('a size', () => {
  const parse = createSizeParser(1024, 1024 ** 3)
  it.each([
    ['5MB', 5_000_000],
    ['5 MiB', 5_242_880],
    ['2kB', 2_000],
    ['0.5gib', 536_870_912],
    ['1024B', 1024],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parse(text)).toBe(bytes)
  })

  it('has its unit, and its range', () => {
    expect(() => parse('5')).toThrow('a size with its unit')
    expect(() => parse('5 bananas')).toThrow('found `5 bananas`')
    expect(() => parse('1kB')).toThrow('from 1024 to 1073741824 bytes')
    expect(() => parse('2GB')).toThrow('from 1024')
  })
})

describe('the name of a variable', () => {
  it('is letters, digits and underscores; what may be the secret itself is not repeated', () => {
    expect(parseVariableName('SLUICE_API_KEY_2')).toBe('SLUICE_API_KEY_2')
    for (const text of ['sk-live-123', '2nd', '', 'A B', 'A=B']) {
      expect(() => parseVariableName(text)).toThrow('the name of an environment variable')
    }
    expect(() => parseVariableName('sk-live-123')).not.toThrow('sk-live-123')
  })
})

describe('a key of a connection', () => {
  it('has a label and a variable, each label once', () => {
    const keys = collectKey('b=KEY_B', collectKey('a=KEY_A', undefined))
    expect(keys).toEqual([
      { label: 'a', env: 'KEY_A' },
      { label: 'b', env: 'KEY_B' },
    ])
    expect(() => collectKey('a=KEY_C', keys)).toThrow('the key label a is used twice')
    expect(() => collectKey('KEY_C', keys)).toThrow('LABEL=VARIABLE')
    expect(() => collectKey('c=sk-1', keys)).not.toThrow('sk-1')
  })
})

describe('a proxy', () => {
  it('is an address without the credentials, which are not repeated', () => {
    expect(parseProxyUrl('http://proxy.test:3128/')).toBe('http://proxy.test:3128')
    const refuse = () => parseProxyUrl('http://me:hunter2@proxy.test')
    expect(refuse).toThrow('--proxy-credentials-env')
    expect(refuse).not.toThrow('hunter2')
  })
})

describe('numbers', () => {
  it('name their range and what was found', () => {
    const parse = createIntegerParser(0, 100)
    expect(parse('7')).toBe(7)
    for (const text of ['-1', '101', '1.5', '1e2', '', ' ', 'x', '0x10']) {
      expect(() => parse(text)).toThrow(`from 0 to 100, found \`${text}\``)
    }
  })

  it('above zero take fractions, not zero', () => {
    const parse = createPositiveNumberParser(1000)
    expect(parse('0.5')).toBe(0.5)
    for (const text of ['0', '-2', '1001', 'Infinity', 'NaN', '1e2']) expect(() => parse(text)).toThrow(text)
  })
})

describe('a delimiter', () => {
  it.each([
    ['tab', '\t'],
    ['\\t', '\t'],
    ['\t', '\t'],
    [';', ';'],
    ['|', '|'],
  ])('%j is %j', (text, delimiter) => {
    expect(parseDelimiter(text)).toBe(delimiter)
  })

  it.each(['', ';;', '"', '\n'])('is one character, so %j is refused', (text) => {
    expect(() => parseDelimiter(text)).toThrow('one character')
  })
})

describe('a mapping', () => {
  it('takes a column by name or by number: everything after the first =', () => {
    const assignments = collectMapping('user_id=a=b', collectMapping('text_data=2', undefined))
    expect(toMapping(assignments)).toEqual({
      text_data: { kind: 'column', column: 2 },
      user_id: { kind: 'column', column: 'a=b' },
    })
  })

  it('takes templates, empty ones too', () => {
    expect(toMapping(collectTemplate('group_id=', undefined))).toEqual({
      group_id: { kind: 'template', template: '' },
    })
  })

  it('refuses a value without a field or column, and column 0', () => {
    for (const text of ['text_data', '=2', 'text_data=', 'text_data=0']) {
      expect(() => collectMapping(text, undefined)).toThrow()
    }
  })

  it('fills a field once', () => {
    const twice = collectTemplate('user_id=x', collectMapping('user_id=1', undefined))
    expect(() => toMapping(twice)).toThrow('user_id is set twice')
  })
})

describe('a base URL', () => {
  it('keeps its path and loses its last slash', () => {
    expect(parseBaseUrl('https://api.example.com/moderation/')).toBe('https://api.example.com/moderation')
    expect(parseBaseUrl('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080')
  })

  it('is refused if it is not one, and the message says what was found', () => {
    expect(() => parseBaseUrl('nonsense')).toThrow('found `nonsense`')
    expect(() => parseBaseUrl('ftp://example.com')).toThrow('http or https')
    expect(() => parseBaseUrl('https://example.com/?a=1')).toThrow('without `?`')
  })

  it('asks whether http was forgotten', () => {
    expect(() => parseBaseUrl('localhost:8080')).toThrow('Did you mean `http://localhost:8080`?')
  })

  it.each([
    'https://example.com/x?token=hunter2',
    'https://example.com/x#hunter2',
    'example.com?token=hunter2',
    'localhost:8080?token=hunter2',
    'me:hunter2@example.com',
    'https://me:hunter2/x@example.com',
    'https://me:hunter2?x@example.com',
    'me:hunter2/x@example.com',
    'ftp://me:hunter2@example.com',
    'ghp_0123456789hunter2abcdef',
  ])('is refused without repeating what may be a secret in it: %s', (text) => {
    const refuse = () => parseBaseUrl(text)
    expect(refuse).toThrow('expected an http or https address')
    expect(refuse).not.toThrow('hunter2')
  })

  it('is refused with a password in it, which is not repeated', () => {
    const refuse = () => parseBaseUrl('https://me:hunter2@example.com')
    expect(refuse).toThrow('without a user name or password')
    expect(refuse).not.toThrow('hunter2')
  })
})

describe('the nearest name', () => {
  it('is one that a person may have mistyped', () => {
    const names = ['text_data', 'url', 'user_id', 'post_id']
    expect(findNearest('text', names)).toBe(null)
    expect(findNearest('text-data', names)).toBe('text_data')
    expect(findNearest('userid', names)).toBe('user_id')
    expect(findNearest('parrot', names)).toBe(null)
  })
})

describe('a rule of labels', () => {
  it.each([
    ['--positive', 'TRUE=*'],
    ['--positive', '>=0.5=*'],
    ['--label', 'truth=*'],
    ['--label', 'score>=0.5=*'],
  ])('is never `*`: %s %s is refused, and "any rule" named', (option, value) => {
    const command = addLabelOptions(new Command())
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
    expect(() => command.parse([option, value], { from: 'user' })).toThrow(
      'expected a rule, or "any rule" for whichever',
    )
    command.parse([option, value.replace('*', '**')], { from: 'user' })
  })
})
