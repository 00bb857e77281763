import type { Word } from './score-text.ts'

/** Scripts that identify a language, in this order: kana before Han, because Japanese uses both. */
const SCRIPTS: readonly [code: string, script: RegExp][] = [
  ['JA', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['ZH', /\p{Script=Han}/u],
  ['KO', /\p{Script=Hangul}/u],
  ['RU', /\p{Script=Cyrillic}/u],
  ['EL', /\p{Script=Greek}/u],
  ['AR', /\p{Script=Arabic}/u],
  ['HE', /\p{Script=Hebrew}/u],
  ['TH', /\p{Script=Thai}/u],
  ['HI', /\p{Script=Devanagari}/u],
]

/** Frequent words of languages in Latin letters; a word may belong to several. */
const FREQUENT_WORDS: Record<string, string> = {
  EN: 'the and you to of is it in that for have not with this are my your be on what so but',
  ES: 'el los las que y es por para con una no se del muy pero como está gracias hola gratis este mi',
  PT: 'o os que e é por para com uma não se do da muito mas como está obrigado olá você este meu',
  FR: 'le les que et est pour avec une pas je vous du des très mais comme merci bonjour ce mon dans',
  DE: 'der die das und ist nicht ich du mit für ein eine auf sehr aber wie danke hallo sie mein zu',
  IT: 'il gli che e è per con una non si del molto ma come grazie ciao questo mio sono di',
  NL: 'de het een en is niet ik je met voor op zeer maar hoe dank hallo dit mijn van dat',
}

const LANGUAGES_OF_WORD = new Map<string, string[]>()
for (const [code, words] of Object.entries(FREQUENT_WORDS)) {
  for (const word of words.split(' ')) {
    LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), code])
  }
}

/** Words read before the language is decided. */
const WORDS_READ = 200

/** Frequent words of another language than English that it takes, for English is the default. */
const MIN_WORDS = 2

const ASCII_ONLY = /^[\x20-\x7e\s]*$/

/**
 * A guess at the language, an upper-case two-letter code: by its script, otherwise by counting frequent words.
 * `EN` by default.
 */
export function detectLanguage(text: string, words: readonly Word[]): string {
  const head = words.slice(0, WORDS_READ)
  const sample = text.slice(0, head.at(-1)?.end ?? 0)
  if (!ASCII_ONLY.test(sample)) {
    const letters = head.map((word) => word.text).join('')
    for (const [code, script] of SCRIPTS) if (script.test(letters)) return code
  }
  const counts = new Map<string, number>()
  for (const word of head) {
    for (const code of LANGUAGES_OF_WORD.get(word.text) ?? []) counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  let best = 'EN'
  let bestCount = Math.max(counts.get('EN') ?? 0, MIN_WORDS - 1)
  for (const [code, count] of counts) {
    if (count > bestCount) {
      best = code
      bestCount = count
    }
  }
  return best
}
