import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'

/** Encodings with the languages written in them. */
export const ENCODED_LANGUAGES: Readonly<Record<string, string>> = {
  'utf-8': 'de ru ja vi ar',
  'utf-16le': 'de ru zh th',
  'utf-16be': 'fr el ko',
  'utf-7': 'de ru el',
  'windows-1250': 'pl cs sk hu hr sl',
  'windows-1251': 'ru uk bg mk sr be',
  'windows-1252': 'de fr es pt it sv da nb fi is nl ca sq fo gl ga',
  'windows-1253': 'el',
  'windows-1254': 'tr',
  'windows-1255': 'he',
  'windows-1256': 'ar fa',
  'windows-1257': 'lt lv et',
  'windows-1258': 'vi',
  'windows-874': 'th',
  'iso-8859-2': 'pl cs hu sk',
  'iso-8859-5': 'ru bg sr',
  'iso-8859-6': 'ar',
  'iso-8859-7': 'el',
  'iso-8859-8': 'he',
  'iso-8859-9': 'tr',
  'iso-8859-13': 'lt lv',
  'iso-8859-15': 'fr fi',
  'koi8-r': 'ru',
  'koi8-u': 'uk',
  macintosh: 'de fr es pt it sv da',
  maccyrillic: 'ru uk',
  maccenteuro: 'pl cs hu',
  cp437: 'de fr es sv',
  cp737: 'el',
  cp775: 'lt lv',
  cp850: 'de fr es pt sv da',
  cp852: 'pl cs hu hr',
  cp855: 'ru sr',
  cp857: 'tr',
  cp862: 'he',
  cp866: 'ru bg',
  cp869: 'el',
  shift_jis: 'ja',
  'euc-jp': 'ja',
  gb18030: 'zh',
  big5: 'zh-hant',
  'euc-kr': 'ko',
}

/** Sentences of the Universal Declaration of Human Rights by language, with which the weights were set. */
const DECLARATION = join(import.meta.dirname, '../../fixtures/encodings')

/**
 * Tables of this many sentences of a language in an encoding, with their text; each has a non-ASCII
 * character. Sentences that the encoding cannot write are left out. `folder` has a file of sentences for each
 * language; there are no tables for a missing one.
 */
export function createEncodedTables(
  encoding: string,
  language: string,
  rows: number,
  folder = DECLARATION,
): { bytes: Buffer; text: string }[] {
  const path = join(folder, `${language}.txt`)
  const sentences = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  const written = sentences
    .map((sentence) => adapt(sentence, encoding))
    .filter((sentence) => iconv.decode(iconv.encode(sentence, encoding), encoding) === sentence)
  const usable = rows === 1 ? written.filter((sentence) => /[^\0-\x7f]/.test(sentence)) : written
  const tables: { bytes: Buffer; text: string }[] = []
  for (
    let from = 0;
    from + Math.min(rows, usable.length) <= usable.length && usable.length > 0;
    from += rows
  ) {
    const lines = usable.slice(from, from + rows).map((sentence, index) => `${index + 1},"${sentence}"`)
    const text = `id,text\n${lines.join('\n')}\n`
    if (/[^\0-\x7f]/.test(text)) tables.push({ bytes: iconv.encode(text, encoding, { addBOM: false }), text })
  }
  return tables
}

/** Punctuation as typed in the encoding, and Vietnamese as Windows writes it: tones after their letters. */
function adapt(sentence: string, encoding: string): string {
  const plain = sentence.replaceAll('"', "'")
  if (encoding.startsWith('utf-')) return plain
  const marks = plain
    .replaceAll(/[“”„«»]/g, "'")
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[–—]/g, '-')
  if (encoding !== 'windows-1258') return marks
  return marks.replaceAll(/\p{L}/gu, (letter) => {
    if (iconv.decode(iconv.encode(letter, encoding), encoding) === letter) return letter
    const parts = letter.normalize('NFD')
    const tone = parts.match(TONES)?.[0] ?? ''
    return parts.replace(TONES, '').normalize('NFC') + tone
  })
}

const TONES = /[\u0300\u0301\u0303\u0309\u0323]/
