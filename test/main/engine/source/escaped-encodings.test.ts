import { expect, test } from 'vitest'
import { failReadingAny, readText, writeSource } from './read-source.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** The same tables in the bytes of Python's codecs. */
const FILES = {
  'iso-2022-jp': {
    bytes: latin1('id,text\n1,\x1b$B$3$s$K$A$O@$3&\x1b(B\n2,\x1b$B:#F|$O$$$$E75$$G$9$M\x1b(B\n'),
    cells: ['こんにちは世界', '今日はいい天気ですね'],
  },
  'iso-2022-kr': {
    bytes: latin1('\x1b$)Cid,text\n1,\x0eGQ19>n\x0f \x0e9.@e@T4O4Y\x0f\n2,\x0e>H3gGO<<?d\x0f\n'),
    cells: ['한국어 문장입니다', '안녕하세요'],
  },
  'hz-gb-2312': {
    bytes: latin1('id,text\n1,~{Dc:C~}~~~{J@=g~}\n2,~{=qLlLlFx:\\:C~}\n3,~{V\\PD2bJT~}\n'),
    cells: ['你好~世界', '今天天气很好'],
  },
  'utf-7': {
    bytes: latin1('id,text\n1,caf+AOkAKzBC +ZeVnLA-\n2,+Zi8EQg- 1 +- 1\n3,+BB8EQAQ4BDIENQRC-\n'),
    cells: ['café+あ 日本', '是т 1 + 1'],
  },
}

test.each(Object.entries(FILES))('%s is recognised by its escape sequences', (encoding, { bytes, cells }) => {
  const source = readText(bytes)
  expect(source).toMatchObject({ encoding, encodingBy: 'guess', columns: ['id', 'text'], problems: [] })
  expect(source.cells.slice(0, 2).map((row) => row[1])).toEqual(cells)
})

test.each(Object.entries(FILES))('%s is read the same one byte at a time', (encoding, { bytes }) => {
  expect(readText(bytes, { encoding, readBytes: 1 }).cells).toEqual(readText(bytes).cells)
})

test('a dash that UTF-7 writes as a word of capitals is asked about', () => {
  const { told } = readText('text\nWir kommen +IBM- endlich +IBQ- an\n')
  expect(told.map(({ code }) => code)).toEqual(['uncertain_encoding'])
})

test('escape sequences far from the beginning are recognised too', () => {
  const bytes = Buffer.concat([
    latin1('text\n'),
    latin1('plain words\n'.repeat(60_000)),
    FILES['iso-2022-jp'].bytes,
  ])
  expect(readText(bytes).encoding).toBe('iso-2022-jp')
})

test.each([
  ['plus signs', 'a+b\nC++\n+49 151 123\n1+1=2\n+AOk- is é\n'],
  ['a phone number', 'phone\n+12025550100\n+442079460000\n'],
  ['a word behind a plus sign', 'text\n+response- is great\n+1\n'],
  ['a grade', 'text\nA+B+AAA-\n'],
  ['words of capitals behind a plus sign', 'text\nthe UK+USA deal\n=A1+SUM(B1)\n'],
  ['an address with a tag', 'email\ndevnull+Ccccc1@example.com\n'],
  ['base64', 'token\nQUJD+ZeVnLA+abcd==\nxyz+ab+cd\n'],
  ['colours of a terminal', 'text\n\x1b[31mred\x1b[0m\n\x1b(B\x1b[m\n'],
  ['braces behind a tilde', 'text\n~{ not text of pairs }~\n~{x~}\nwow ~{odd~}\n'],
  ['escape sequences that stand for nothing', 'text\n\x1b$B\x01\x02\n'],
])('%s are ordinary text', (_name, text) => {
  expect(readText(text)).toMatchObject({ encoding: 'utf-8', encodingBy: 'strict' })
  expect(readText(text).cells.map((cells) => cells.join(','))).toEqual(text.trimEnd().split('\n').slice(1))
})

test('escape sequences in text with other non-ASCII bytes are not a seven-bit encoding', () => {
  expect(readText('text\n\x1b$B$3$s\x1b(B and é\n')).toMatchObject({ encoding: 'utf-8' })
})

test('a recognised encoding that cannot be read is refused by name', async () => {
  const path = writeSource(latin1('id,text\n1,\x1b$)A\x0e;;E@\x0f\n'), 'source.csv')
  expect(await failReadingAny(path)).toContain(
    'found text in iso-2022-cn, which Sluice cannot read | Save the file as UTF-8',
  )
  expect(readText(latin1('id,text\n1,\x1b$)A\x0e;;E@\x0f\n'), { encoding: 'utf-8' }).cells).toHaveLength(1)
})

test.each([
  ['hz-gb-2312', latin1('text\n~x ~{!~}\n')],
  ['utf-7', latin1('text\na + b +AOk caf\xe9\n')],
  ['utf-7', latin1('text\ndevnull+Ccccc1@example.com\n')],
  ['iso-2022-kr', latin1('text\n\x1b$)C\x0eGQ1\x0f\n')],
])('invalid bytes in %s are reported', (encoding, bytes) => {
  const source = readText(bytes, { encoding })
  expect(source.problems).toEqual(['undecodable_bytes 1 warning'])
})

test.each([
  ['an address', (row: number) => `${row},me+js0@example.com`],
  ['a mark of its own', (row: number) => `${row},~{VPND~}`],
])('%s repeated in every row does not make an escaped encoding certain', (_what, write) => {
  const rows = Array.from({ length: 60 }, (_, index) => `${write(index)}\n`)
  expect(readText(`id,text\n${rows.join('')}`).told.map(({ code }) => code)).toEqual(['uncertain_encoding'])
})
