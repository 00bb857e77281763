import Papa from 'papaparse'
import { expect, inject, test } from 'vitest'
import { parseRecords } from '../../../../src/main/engine/source/csv/record-parser.ts'
import { PLAIN_SYNTAX } from '../../../helpers/plain-syntax.ts'
import { parseRfc4180 } from './rfc4180.ts'

const ROUNDS = inject('isLong') ? 20_000 : 2_000

/** Numbers between 0 and 1 that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function pick<Item>(random: () => number, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

function parseInPieces(text: string, newline: '\n' | '\r', nextSize: () => number): string[][] {
  let at = 0
  const readText = () => {
    if (at >= text.length) return null
    const from = at
    at += nextSize()
    return text.slice(from, at)
  }
  return [...parseRecords(readText, { ...PLAIN_SYNTAX, newline })].flatMap((batch) => batch.records)
}

test('chunks of 1 to 9 characters give the same rows as parsing the whole file, broken quotes included', () => {
  const random = createRandom(20_000)
  const alphabet = ['a', 'b', ' ', '\r', '\r\n', ',', ',', '"', '"', '""', '\n', '\n', 'é', '😀', "'", '\\']
  for (let round = 0; round < ROUNDS; round += 1) {
    const length = Math.floor(random() * 40)
    const text = Array.from({ length }, () => pick(random, alphabet)).join('')
    const whole = parseInPieces(text, '\n', () => text.length)
    expect(
      parseInPieces(text, '\n', () => 1 + Math.floor(random() * 9)),
      JSON.stringify(text),
    ).toEqual(whole)
    if (!/["\r]/.test(text)) {
      const body = text.endsWith('\n') ? text.slice(0, -1) : text
      const parsed = text === '' ? [] : Papa.parse<string[]>(body, { delimiter: ',', newline: '\n' }).data
      if (body === '' && text !== '') parsed.push([''])
      expect(whole, JSON.stringify(text)).toEqual(parsed)
    }
  }
})

test('well-formed records with either line end are read as written, whatever the chunks', () => {
  const random = createRandom(7)
  const parts = [
    'a',
    'bc',
    ' ',
    ',',
    '"',
    '\n',
    '\r',
    '\r\n',
    '\t',
    'ü',
    '漢',
    '😀',
    "'=1",
    ' "x" ',
    '\uFFFD',
  ]
  for (let round = 0; round < 5_000; round += 1) {
    const records = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      Array.from({ length: 2 + Math.floor(random() * 3) }, () =>
        Array.from({ length: Math.floor(random() * 4) }, () => pick(random, parts)).join(''),
      ),
    )
    const text = records
      .map((record) => record.map((cell) => quote(cell, random)).join(',') + pick(random, ['\n', '\r\n']))
      .join('')
    expect(
      parseInPieces(text, '\n', () => 1 + Math.floor(random() * 9)),
      JSON.stringify(text),
    ).toEqual(records)
    expect(parseRfc4180(text)).toEqual(records)
  }
})

function quote(cell: string, random: () => number): string {
  const needsQuotes = /[",\r\n]/.test(cell) || random() < 0.2
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell
}

test.each([',', ';', '\t', '|', '.'])(
  'white space after a closing quote stays in the cell (%j)',
  (delimiter) => {
    const text = [`"a" `, `b`, `"c"\u00a0`].join(delimiter)
    for (const [end, newline] of [
      ['\n', '\n'],
      ['\r\n', '\n'],
      ['\r', '\r'],
      ['', '\n'],
    ] as const) {
      const readText = Iterator.from([text + end, null])
      const records = [
        ...parseRecords(() => readText.next().value ?? null, { ...PLAIN_SYNTAX, delimiter, newline }),
      ]
      expect(records.flatMap((batch) => batch.records)).toEqual([['a ', 'b', 'c\u00a0']])
      expect(records.flatMap((batch) => [...batch.faults])).toEqual([])
    }
  },
)

test('a record that spans many reads is not reparsed for each of them', () => {
  const long = 'x'.repeat(3_000_000)
  const text = `a,"${long}"\nb,c\n`
  let reads = 0
  let at = 0
  const readText = (sizeBytes: number) => {
    if (at >= text.length) return null
    reads += 1
    const from = at
    at += sizeBytes
    return text.slice(from, at)
  }
  const records = [...parseRecords(readText, PLAIN_SYNTAX)].flatMap((batch) => batch.records)
  expect(records).toEqual([
    ['a', long],
    ['b', 'c'],
  ])
  expect(reads).toBeLessThan(12)
})
