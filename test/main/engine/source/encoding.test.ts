import iconv from 'iconv-lite'
import { expect, test, vi } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readSource, readText, writeSource } from './read-source.ts'

const LINES = 'id,text\r\n1,Café “crème” – déjà vu\r\n2,Müller straße\r\n'
const CELLS = [
  ['1', 'Café “crème” – déjà vu'],
  ['2', 'Müller straße'],
]

test.each([
  ['utf-8', 'bom', Buffer.from(`\uFEFF${LINES}`)],
  ['utf-8', 'strict', Buffer.from(LINES)],
  ['utf-16le', 'bom', Buffer.from(`\uFEFF${LINES}`, 'utf16le')],
  ['utf-16be', 'bom', Buffer.from(`\uFEFF${LINES}`, 'utf16le').swap16()],
  ['utf-16le', 'guess', Buffer.from(LINES, 'utf16le')],
  ['utf-16be', 'guess', Buffer.from(LINES, 'utf16le').swap16()],
  ['utf-32le', 'bom', iconv.encode(`\uFEFF${LINES}`, 'utf-32le')],
  ['windows-1252', 'guess', iconv.encode(LINES, 'windows-1252')],
])('%s is recognised by %s', (encoding, encodingBy, bytes) => {
  const source = readText(bytes)
  expect(source).toMatchObject({ encoding, encodingBy, columns: ['id', 'text'], cells: CELLS, problems: [] })
})

test.each([
  ['windows-1251', 'id,text\n1,Привет мир, как дела сегодня\n2,Это сообщение на русском языке\n'],
  ['koi8-r', 'id,text\n1,Привет мир, как дела сегодня\n2,Это сообщение на русском языке\n'],
  ['windows-1250', 'id,text\n1,Zażółć gęślą jaźń\n2,Dziękuję, wszystko w porządku\n'],
  ['shift_jis', 'id,text\n1,こんにちは世界、今日はいい天気ですね\n'],
  ['gb18030', 'id,text\n1,你好世界，今天天气很好\n2,中文文本测试\n'],
  ['euc-kr', 'id,text\n1,안녕하세요 세계\n2,오늘 날씨가 좋네요\n'],
])('a detector recognises %s', (encoding, text) => {
  const source = readText(iconv.encode(text, encoding))
  expect(source).toMatchObject({ encoding, encodingBy: 'guess' })
  expect(source.cells.map((cells) => cells.join())).toEqual(text.trimEnd().split('\n').slice(1))
})

const ENGLISH =
  'you are all idiots\ngreat product, fast delivery\nsee you tomorrow at the usual place\n'.repeat(30)

test.each([
  "Şu anda İstanbul'da yağmur yağıyor",
  'Seni öldüreceğim, salak mısın',
  'Kargo geç geldi, ürün kırık çıktı',
  'Teşekkürler, iyi akşamlar arkadaşlar',
  'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.',
])('Turkish among English rows is read as Windows-1254: %s', (text) => {
  const source = readText(iconv.encode(`text\n"${text}"\n${ENGLISH}`, 'windows-1254'))
  expect(source).toMatchObject({ encoding: 'windows-1254', encodingBy: 'guess' })
  expect(source.cells[0]).toEqual([text])
})

test.each([
  ['Icelandic', 'Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Ég þakka þér fyrir.'],
  ['short Icelandic', 'Það þýðir ekkert'],
  [
    'Faroese',
    'Øll menniskju eru fødd fræls og jøvn til virðingar og mannarættindi. Tey hava skil og samvitsku.',
  ],
  ['German with names', 'Herr Nový aus Köln grüßt Frau Müller in Österreich'],
  ['German', 'Alle Menschen sind frei und gleich an Würde und Rechten geboren, für Müller in Österreich.'],
  ['French', 'Tous les êtres humains naissent libres et égaux en dignité et en droits, ça va, garçon.'],
  ['Spanish', 'Todos los seres humanos nacen libres e iguales. ¿Cómo estás, niño? Mañana más.'],
  ['Portuguese', 'Todos os seres humanos nascem livres. A obrigação é de não mentir, você está lá.'],
  ['Catalan', 'Tots els éssers humans neixen lliures. Això és per als qüestionaris, Barça campió.'],
  ['Swedish', 'Alla människor är födda fria och lika i värde och rättigheter. Åk hem nu.'],
  ['Danish', 'Alle mennesker er født frie og lige i værdighed og rettigheder. På gensyn.'],
  ['Finnish', 'Kaikki ihmiset syntyvät vapaina ja tasavertaisina. Hyvää päivää, mitä kuuluu?'],
  ['Albanian', 'Të gjithë njerëzit lindin të lirë. Çfarë bën këtë natë? Faleminderit, çdo ditë.'],
])('%s among English rows stays Windows-1252', (_language, text) => {
  const source = readText(iconv.encode(`text\n"${text}"\n${ENGLISH}`, 'windows-1252'))
  expect(source).toMatchObject({ encoding: 'windows-1252', encodingBy: 'guess' })
  expect(source.cells[0]).toEqual([text])
})

test('one or two characters are not enough to leave Windows-1252', () => {
  expect(readText(iconv.encode('id,text\n1,£5 off\n', 'windows-1252'))).toMatchObject({
    encoding: 'windows-1252',
    cells: [['1', '£5 off']],
  })
})

test('a legacy byte far beyond any sample still decides the encoding', () => {
  const path = writeSource(
    Buffer.concat([
      Buffer.from(`a\n${'plain ascii\n'.repeat(100_000)}`),
      iconv.encode('café\n', 'windows-1252'),
    ]),
  )
  const source = readSource(path)
  expect(source.encoding).toBe('windows-1252')
  expect(source.cells.at(-1)).toEqual(['café'])
})

test('invalid UTF-8 bytes are reported by row, but a real U+FFFD is not a problem', () => {
  const bytes = Buffer.concat([
    Buffer.from('a,b\nüber,\uFFFD kept\nscho'),
    Buffer.from([0xff]),
    Buffer.from('n,größe\n漢字,"'),
    Buffer.from([0xe6, 0xbc, 0x22, 0x0a]),
  ])
  const source = readText(bytes)
  expect(source).toMatchObject({ encoding: 'utf-8', encodingBy: 'guess' })
  expect(source.cells).toEqual([
    ['über', '\uFFFD kept'],
    ['scho\uFFFDn', 'größe'],
    ['漢字', '\uFFFD'],
  ])
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 2: has bytes that are not valid utf-8; they were replaced by U+FFFD, found `scho\uFFFDn`',
    'row 3: has bytes that are not valid utf-8; they were replaced by U+FFFD, found `\uFFFD`',
  ])
})

test('a lone surrogate in UTF-16 is undecodable too', () => {
  const bytes = Buffer.concat([
    Buffer.from('\uFEFFa\nok\nx', 'utf16le'),
    Buffer.from([0x00, 0xd8]),
    Buffer.from('\n', 'utf16le'),
  ])
  const source = readText(bytes)
  expect(source.cells).toEqual([['ok'], ['x\uFFFD']])
  expect(source.problems).toEqual(['undecodable_bytes 2 warning'])
})

test('the stated encoding is used, by TextDecoder or iconv-lite', () => {
  expect(readText(iconv.encode('a\nŽluťoučký\n', 'iso-8859-2'), { encoding: 'ISO-8859-2' })).toMatchObject({
    encoding: 'iso-8859-2',
    encodingBy: 'given',
    cells: [['Žluťoučký']],
  })
  expect(readText(iconv.encode('a\nété\n', 'cp850'), { encoding: 'cp850' })).toMatchObject({
    encoding: 'cp850',
    cells: [['été']],
  })
  expect(readText(Buffer.from('\uFEFFa\nü\n'), { encoding: 'utf-8' })).toMatchObject({
    columns: ['a'],
    cells: [['ü']],
  })
  const bigEndian = Buffer.from('\uFEFFa\nü\n', 'utf16le').swap16()
  expect(readText(bigEndian, { encoding: 'utf-16' }).cells).toEqual([['ü']])
})

test('stated UTF-8 with broken bytes counts them', () => {
  expect(readText(iconv.encode(LINES, 'windows-1252'), { encoding: 'utf8' }).problems).toEqual([
    'undecodable_bytes 1 warning',
    'undecodable_bytes 2 warning',
  ])
})

test('an unknown encoding is reported with suitable names', () => {
  expect(() => readText('a\n1\n', { encoding: 'klingon' })).toThrow('the encoding `klingon` is unknown')
  expect(() => readText('a\n1\n', { encoding: 'base64' })).toThrow('is unknown')
})

test('the detector of legacy encodings is loaded for the first file that needs it', async () => {
  vi.resetModules()
  const { openSource } = await import('../../../../src/main/engine/source/open-source.ts')
  const path = writeSource(Buffer.from('text_data\nGr\u00fc\u00dfe aus K\u00f6ln\n', 'latin1'))
  const reader = await openSource({ path, header: true })
  expect([reader.encoding, reader.encodingBy]).toEqual(['windows-1252', 'guess'])
  reader.close()
})

/** Emoji as Oracle and Java write them: two surrogates of three bytes each. */
function toHalves(text: string): Buffer {
  return Buffer.concat(
    [...text].map((character) => {
      if (character.length === 1) return Buffer.from(character)
      return Buffer.concat(
        [0, 1].map((half) => {
          const unit = character.charCodeAt(half)
          return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
        }),
      )
    }),
  )
}

test.each([
  ['one emoji', 'id,text\na,thanks 😀\nb,great\nc,Grüße\n'],
  ['emoji alone', 'id,text\na,😀😂\nb,great 👍🏽\n'],
  ['an emoji in every row', `id,text\n${'1,شكرا جزيلا 😂😂😂\n'.repeat(200)}`],
  ['Chinese', `id,text\n${'1,你好世界 😂\n2,今天天气很好\n'.repeat(20)}`],
])('UTF-8 with surrogate pairs is read as that text: %s', (_, text) => {
  for (const readBytes of [7, 65_536]) {
    const source = readSource(writeSource(toHalves(text)), { readBytes })
    expect(source).toMatchObject({ encoding: 'cesu-8', encodingBy: 'guess', problems: [] })
    expect(source.cells.map((cells) => cells.join())).toEqual(text.trimEnd().split('\n').slice(1))
  }
})

test('half an emoji, which a program cut, is an error in UTF-8', () => {
  const [first, second] = [toHalves('😀').subarray(0, 3), toHalves('😀').subarray(3)]
  const rows = [Buffer.from('id,text\na,wow '), first, Buffer.from('\nb,'), second, Buffer.from(' yes\n')]
  const source = readText(Buffer.concat(rows))
  expect(source).toMatchObject({ encoding: 'utf-8', encodingBy: 'guess' })
  expect(source.problems).toEqual(['undecodable_bytes 1 warning', 'undecodable_bytes 2 warning'])
})

test.each([
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x9f, 0x91],
  [0xf0, 0x9f, 0x99],
])('an emoji that is cut after its third byte leaves the encoding in doubt: %d %d %d', (...bytes) => {
  const text = (end: string) =>
    Buffer.concat([Buffer.from('id,text\nu0,wow '), Buffer.from(bytes), Buffer.from(end)])
  for (const end of ['\nu1,hello\n', '\nu1,wow\n', '\nu1,no way\nu2,see you\n']) {
    const source = readText(text(end))
    expect(source.told.map(({ code }) => code)).toContain('uncertain_encoding')
    expect(JSON.stringify(source.told)).toContain('utf-8')
  }
})
