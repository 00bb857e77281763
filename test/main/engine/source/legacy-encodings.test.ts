import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { measureDetection } from '../../../helpers/encodings/measure-detection.ts'
import { firstOf } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { readAnySource, readText, writeSource } from './read-source.ts'

test.each(
  firstOf(1, [
    [1, 0.7],
    [4, 0.91],
  ]),
)('sentences in 42 encodings, %i to a table, are recognised or asked about', async (rows, leastRight) => {
  const { counts, missed } = await measureDetection(rows, 1)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  expect(missed.filter(({ detection }) => detection !== 'asked')).toEqual([])
  expect(counts.right / total).toBeGreaterThanOrEqual(leastRight)
})

test.each([
  ['windows-1252', 'Müller straße, Grüße aus Köln'],
  ['windows-1252', 'it’s fine – really “good”'],
  ['windows-1252', 'smørrebrød på bordet, æbleskiver og øl'],
  ['macintosh', 'Le café était fermé, j’ai dû rentrer à la maison'],
  ['cp850', 'Grüße aus München und schöne Ferien'],
  ['cp852', 'Wszyscy ludzie rodzą się wolni, żółć i gęś'],
  ['koi8-r', 'привет, как дела? всё хорошо'],
  ['windows-1251', 'ПОЧЕМУ ТЫ МОЛЧИШЬ, ОТВЕТЬ МНЕ'],
  ['koi8-r', 'ПОЧЕМУ ТЫ МОЛЧИШЬ, ОТВЕТЬ МНЕ'],
  ['windows-1253', 'ΚΑΛΗΜΕΡΑ ΣΑΣ, ΤΙ ΚΑΝΕΤΕ'],
  ['ibm866', 'привет, как дела? всё хорошо'],
  ['iso-8859-5', 'привет, как дела? всё хорошо'],
  ['maccyrillic', 'Привет, как дела? Я не знаю, что сказать тебе'],
  ['cp737', 'Καλημέρα σας, τι κάνετε σήμερα;'],
  ['windows-1258', 'Xin chào các bạn'.normalize('NFD').replaceAll(/([aeo])\u0323/g, '$1\u0323')],
])('a few words in %s do not need to be asked about: %s', (encoding, text) => {
  const source = readText(iconv.encode(`id,text\n1,"${text}"\n`, encoding))
  expect(source).toMatchObject({ encodingBy: 'guess' })
  expect(source.cells).toEqual([['1', text]])
})

test.each([
  ['windows-1252', '£', (row: number) => `£${row},${row * 37 + 100}.00`],
  ['windows-1252', '€', (row: number) => `${row * 37}€ is too much`],
  ['windows-1251', '‰', (row: number) => `${row * 37}‰ of all`],
  ['cp850', '²', (row: number) => `${'abcdefghij'[row % 10]}${row}m² in all`],
  ['macintosh', '´', (row: number) => `it´s row ${row}`],
  ['gb18030', '“', (row: number) => `a “${'abcdefghij'[row % 10]}word” in row ${row}`],
  ['euc-kr', '…', (row: number) => `wait… for row ${row}`],
])(
  'a character in %s that every row repeats is asked about instead of guessed: %s',
  (encoding, _sign, write) => {
    const rows = Array.from({ length: 60 }, (_, index) => `${index},"${write(index)}"\n`)
    const source = readText(iconv.encode(`id,text\n${rows.join('')}`, encoding))
    expect(source.told.map(({ code }) => code)).toEqual(['uncertain_encoding'])
  },
)

test.each([
  ['posts.csv', 'id,text\n1,æøå\n'],
  ['posts.jsonl', '{"text":"æøå"}\n'],
])('an uncertain encoding is a warning of %s, which stating it resolves', async (name, text) => {
  const path = writeSource(iconv.encode(text, 'windows-1252'), name)
  const reader = await openSource({ path, header: true })
  const [warning, ...others] = reader.findWarnings?.() ?? []
  reader.close()
  expect(others).toEqual([])
  expect(warning).toMatchObject({ severity: 'warning', code: 'uncertain_encoding' })
  expect(JSON.stringify(warning)).toContain('æøå')
  const preview = await previewSource({ path, header: true }, 10)
  expect(preview.encodingReadings).toContainEqual({ encoding: 'windows-1252', sample: 'æøå' })

  const named = await openSource({ path, header: true, encoding: 'windows-1252' })
  expect(named.findWarnings?.()).toEqual([])
  named.close()
})

test('an uncertain encoding is a warning of its file in a folder', async () => {
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'one.txt'), iconv.encode('æøå', 'windows-1252'))
  writeFileSync(join(folder, 'two.txt'), iconv.encode('Grüße aus München und schöne Ferien', 'cp850'))
  expect((await readAnySource(folder)).problems).toEqual(['uncertain_encoding 1 warning'])
})

test.each(['ｺﾝﾆﾁﾊ ｾｶｲ', 'ﾔﾏﾀﾞ ﾀﾛｳ', 'ｶﾌﾞｼｷｶﾞｲｼｬ', 'ﾄｳｷｮｳ ｵｵｻｶ ﾅｺﾞﾔ ﾌｸｵｶ ｻｯﾎﾟﾛ', 'ﾃｽﾄ'])(
  'halfwidth katakana are recognised or asked about: %s',
  (text) => {
    const source = readText(iconv.encode(`id,text\n1,${text}\n2,${text}\n`, 'shift_jis'))
    const reads = source.cells[0]?.[1] === text
    expect({ reads, asks: source.warnings.join() }).toMatchObject(
      reads ? { reads } : { asks: expect.stringContaining('in shift_jis') },
    )
  },
)
