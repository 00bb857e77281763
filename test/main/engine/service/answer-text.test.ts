import { expect, test } from 'vitest'
import { readAnswerText } from '../../../../src/main/engine/service/answer-text.ts'

const JSON_TYPE = 'application/json'
const TEXT = '{"name":"Größe é"}'
const utf16le = Buffer.from(TEXT, 'utf16le')
const utf16be = Buffer.from(utf16le).swap16()

test.each([
  ['nothing', JSON_TYPE, Buffer.from(TEXT)],
  ['UTF-8', 'application/json; charset=utf-8', Buffer.from(TEXT)],
  ['UTF-8 in quotes', 'application/json;CHARSET="UTF8"', Buffer.from(TEXT)],
  ['a charset that nobody knows', 'application/json; charset=x-none', Buffer.from(TEXT)],
  ['a single-byte charset by mistake', 'application/json; charset=ISO-8859-1', Buffer.from(TEXT)],
  ['UTF-16 by mistake', 'application/json; charset=utf-16', Buffer.from(TEXT)],
])('an answer in UTF-8 is read unchanged, with a Content-Type that names %s', (_, contentType, bytes) => {
  expect(readAnswerText(bytes, contentType)).toEqual({ text: TEXT })
})

test.each([
  ['windows-1252', 'application/json; charset=iso-8859-1', Buffer.from(TEXT, 'latin1')],
  ['utf-16le', 'application/json; charset=utf-16', utf16le],
  ['utf-16be', 'application/json; charset=utf-16be', utf16be],
  ['utf-16be', 'application/json; charset=utf-16', utf16be],
  ['utf-16le', JSON_TYPE, Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le])],
  ['utf-16be', 'application/json; charset=utf-8', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be])],
  ['utf-16le', JSON_TYPE, utf16le],
  ['utf-16be', '', utf16be],
])('an answer is decoded by its own charset, which is reported (%s, %s)', (charset, contentType, bytes) => {
  expect(readAnswerText(bytes, contentType)).toEqual({ text: TEXT, charset })
})

test('an answer in a multi-byte charset is decoded by it', () => {
  const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from('d6d0cec4', 'hex'), Buffer.from('"}')])
  expect(readAnswerText(bytes, 'application/json;charset=GBK')).toEqual({
    text: '{"name":"中文"}',
    charset: 'gbk',
  })
})

test("bytes that are invalid in the answer's charset are reported, but a U+FFFD that was sent is not", () => {
  const broken = Buffer.from([0x22, 0xe9, 0x22])
  expect(readAnswerText(broken, JSON_TYPE)).toEqual({ text: '"\uFFFD"', isDamaged: true })
  expect(readAnswerText(Buffer.from([0x22, 0xff, 0x22, 0x20]), 'text/plain; charset=gbk')).toEqual({
    text: '"\uFFFD" ',
    charset: 'gbk',
    isDamaged: true,
  })
  expect(readAnswerText(Buffer.from('"\uFFFD"'), JSON_TYPE)).toEqual({ text: '"\uFFFD"' })
})

test.each([
  ['', ''],
  ['7', '7'],
])('an answer of hardly any bytes is text (%j)', (body, text) => {
  expect(readAnswerText(Buffer.from(body), JSON_TYPE)).toEqual({ text })
})
