import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { readText } from './read-source.ts'

const ROWS = Array.from({ length: 300 }, (_, index) => `${index},a comment of an ordinary length ${index}`)

/** A table of 300 rows in 8-bit text with zero bytes after these characters. */
function withZeros(place: (text: string) => string): string {
  return place(`id,text\n${ROWS.join('\n')}\n`)
}

test.each([
  ['two on the same side of byte pairs', (text: string) => spoil(text, [1001, 5003])],
  [
    'two hundred on the same side',
    (text: string) =>
      spoil(
        text,
        Array.from({ length: 200 }, (_, n) => 1001 + n * 40),
      ),
  ],
  ['one on each side', (text: string) => spoil(text, [1000, 5003])],
  ['a single one', (text: string) => spoil(text, [1000])],
  ['a kilobyte behind the end', (text: string) => text + '\0'.repeat(1024)],
])('ASCII text with zero bytes stays text: %s', (_name, place) => {
  const source = readText(withZeros(place))
  expect(source).toMatchObject({ encoding: 'utf-8', columns: ['id', 'text'] })
  expect(source.cells[10]).toEqual(['10', 'a comment of an ordinary length 10'])
})

function spoil(text: string, offsets: number[]): string {
  const units = [...text]
  for (const offset of offsets) if (/[a-z]/.test(units[offset] ?? '')) units[offset] = '\0'
  return units.join('')
}

test('Windows-1252 text with zero bytes on one side stays Windows-1252', () => {
  const bytes = iconv.encode(
    `id,text\n${ROWS.map((row) => `${row} déjà vu à Zürich`).join('\n')}\n`,
    'windows-1252',
  )
  for (const offset of [1001, 5003, 9001]) bytes[offset] = 0
  expect(readText(bytes)).toMatchObject({ encoding: 'windows-1252', columns: ['id', 'text'] })
})

const WIDE: [string, string][] = [
  ['English', 'Good morning, see you later'],
  ['Chinese', '你好世界，今天天气很好，我们一起去公园散步吧'],
  ['Japanese', 'こんにちは世界、今日はいい天気ですね'],
  ['Russian', 'Привет мир, как дела сегодня'],
  ['Thai', 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน'],
  ['Emoji', 'party 🎉🎉🎉 at nine'],
]

test.each(
  WIDE.flatMap(([language, text]) =>
    ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'].map((encoding) => ({ language, text, encoding })),
  ),
)('$language in $encoding is recognised without a byte-order mark', ({ text, encoding }) => {
  const source = readText(
    iconv.encode(`id\ttext\r\n1\t${text}\r\n2\t${text}\r\n`, encoding, { addBOM: false }),
    { delimiter: '\t' },
  )
  expect(source).toMatchObject({
    encoding,
    encodingBy: 'guess',
    cells: [
      ['1', text],
      ['2', text],
    ],
  })
})

test.each(['utf-16le', 'utf-16be', 'utf-32le'])(
  'text in %s without a byte-order mark stays text if some characters are unassigned or private',
  (encoding) => {
    const lines = ['premiè,second', '\u{10400},\ufffe\uffff', '\ue000,\u{10ffff}']
    const source = readText(iconv.encode(`${lines.join('\r\n')}\r\n`, encoding, { addBOM: false }))
    expect(source).toMatchObject({
      encoding,
      encodingBy: 'guess',
      columns: ['premiè', 'second'],
      cells: [
        ['\u{10400}', '\ufffe\uffff'],
        ['\ue000', '\u{10ffff}'],
      ],
    })
  },
)

test.each([
  [
    'an executable',
    Buffer.from([
      0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x3e, 0, 1, 0, 0, 0, 0x60, 0x1a, 2,
    ]),
  ],
  [
    'sound',
    Buffer.concat([
      Buffer.from('RIFF'),
      Buffer.from([0x24, 8, 0, 0]),
      Buffer.from('WAVEfmt '),
      Buffer.from([16, 0, 0, 0, 1, 0, 2, 0, 0x22, 0x56, 0, 0]),
    ]),
  ],
  ['numbers', Buffer.from(Float64Array.from([1.5, 2.25, 1e10, 3, 4]).buffer)],
  ['nothing but zero bytes', Buffer.alloc(4096)],
])('%s is refused as binary data', (_name, bytes) => {
  expect(() => readText(bytes)).toThrow('expected text, found binary data (a NUL byte at offset')
})
