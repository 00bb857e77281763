import { expect, test } from 'vitest'
import { findDamage } from '../../../../src/main/engine/mapping/text-damage.ts'

const toWrong = (text: string) => new TextDecoder('windows-1252').decode(Buffer.from(text))

test.each(['café', 'naïve', 'it’s', 'привет', 'καλημέρα', 'こんにちは', '😀', '£5', 'straße'])(
  'text that was read as Windows-1252 instead of UTF-8 is told: %s',
  (text) => {
    expect(findDamage(toWrong(text))).toMatchObject({ as: 'decoded_wrongly' })
    expect(findDamage(text)).toBe(null)
  },
)

test.each(['caf\ufffd', '\ufffd'])('text with U+FFFD is told: %j', (text) => {
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
])('text with such letters is no damage: %s', (text) => expect(findDamage(text)).toBe(null))
