import { expect, test } from 'vitest'
import { findDamage } from '../../../../src/main/engine/mapping/text-damage.ts'

const toWrong = (text: string) => new TextDecoder('windows-1252').decode(Buffer.from(text))

test.each(['café', 'naïve', 'it’s', 'привет', 'καλημέρα', 'こんにちは', '😀', '£5', 'straße'])(
  'text that was read as Windows-1252 instead of UTF-8 is reported: %s',
  (text) => {
    expect(findDamage(toWrong(text))).toMatchObject({ as: 'decoded_wrongly' })
    expect(findDamage(text)).toBe(null)
  },
)

test.each(['caf\ufffd', '\ufffd'])('text with U+FFFD is reported: %j', (text) => {
  expect(findDamage(text)).toMatchObject({ as: 'replaced' })
})

test.each([
  'CAFÉ\u00a0!',
  'FIANCÉ”',
  '« ÉTÉ »',
  'NÃO, MAÇÃ…',
  'MAÇÃ»',
  '5\u00a0€ – “ok”…',
  'ÂGE',
  'ÑANDÚ',
  'GRÜSSE, ÖL‘',
  'l’été à Noël',
])('text with such letters is not damaged: %s', (text) => expect(findDamage(text)).toBe(null))

test.each([
  ['windows-1251', 'Привет, как дела?'],
  ['windows-1251', 'Дякую'],
  ['windows-1251', 'ГД СССР, уж'],
  ['windows-1250', 'reîncepe în'],
  ['koi8-r', 'Привет'],
  ['windows-1253', 'Καλημέρα κόσμε'],
  ['windows-1255', 'שלום עולם'],
  ['windows-1256', 'السلام عليكم'],
  ['windows-1250', 'gęślą jaźń'],
  ['macintosh', 'café, don’t'],
  ['gbk', 'don’t do it'],
  ['shift_jis', 'こんにちは'],
])('text that was read as %s instead of UTF-8 is reported: %s', (encoding, text) => {
  const wrong = new TextDecoder(encoding).decode(Buffer.from(text))
  expect(findDamage(wrong)).toMatchObject({ as: 'decoded_wrongly' })
  expect(findDamage(text)).toBe(null)
})

test.each([
  'СІРІ КОНІ, ЄВРОПЕЙСЬКІ РІЧКИ',
  'БЕРЁТ ВСЁ С… «Р» № 5',
  'ЊЕГОВО СРЦЕ',
  'žluťoučký kůň, Ştefan Ăsta',
  '├── src',
  '√2 ± 3',
  '«ІРІС»',
  '“Р“Р”',
  'СЈСЈ',
  'СЊ, СЈАЈ',
  'MARCĂ®',
  'MARCÃ®, IRMÃ©',
  'GMBHÄ™',
  'پاکستان طرح',
  '你好，世界',
])('text in other languages is not damaged: %s', (text) => expect(findDamage(text)).toBe(null))
