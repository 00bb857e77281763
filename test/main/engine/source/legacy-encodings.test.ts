import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { measureDetection } from '../../../helpers/encodings/measure-detection.ts'
import { readText } from './read-source.ts'

test.each([
  [1, 0.7],
  [4, 0.93],
])('sentences in 42 encodings, %i to a table, are recognised or asked about', async (rows, leastRight) => {
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
