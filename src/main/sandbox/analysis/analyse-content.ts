import {
  type ClassScores,
  createScores,
  findTestPhrases,
  findWords,
  type ScoredSpan,
  scoreText,
  toHighestScores,
  type Word,
} from './score-text.ts'
import type { FoundTerm, WatchlistMatcher } from './watchlist-matcher.ts'

/** UTF-16 code units of a text that are analysed; the rest is ignored. */
export const ANALYSED_CHARACTERS = 100_000

/** Content: raw text, or the address of an image or video, which the analysis never fetches. */
export type Content = { kind: 'text'; text: string } | { kind: 'url'; url: string }

/** What the sandbox found in some content; not a moderation decision. */
export interface Analysis {
  scores: ClassScores
  spans: ScoredSpan[]
  terms: FoundTerm[]
  urls: string[]
  /** Upper-case language code. */
  language: string
}

/** Analyses content with the word list, the test phrases, the watchlists and the language heuristic. */
export function analyseContent(content: Content, matchTerms: WatchlistMatcher): Analysis {
  return content.kind === 'text'
    ? analyseText(content.text.slice(0, ANALYSED_CHARACTERS), matchTerms)
    : analyseUrl(content.url)
}

function analyseText(text: string, matchTerms: WatchlistMatcher): Analysis {
  const words = findWords(text)
  const spans = scoreText(text, words)
  return {
    scores: toHighestScores(spans),
    spans,
    terms: matchTerms(text, words),
    urls: findUrls(text),
    language: detectLanguage(text, words),
  }
}

/** Only the address's test phrases count, as in `https://example.com/sandbox-violence-3.jpg`. */
function analyseUrl(url: string): Analysis {
  const scores = createScores()
  for (const { className, score } of findTestPhrases(url)) {
    scores[className] = Math.max(score, scores[className])
  }
  return { scores, spans: [{ start: 0, end: 0, scores }], terms: [], urls: [url], language: 'EN' }
}

/** Found in a text; offsets in UTF-16 code units, end exclusive (docs/interface.md §2.3, pii_entities). */
export interface Entity {
  value: string
  start_index: number
  end_index: number
  type: string
}

const URL_IN_TEXT = /\b(?:https?:\/\/|www\.)[^\s<>"']+/gi

/** Every quantifier is bounded, so that no text makes matching slow. */
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g

const PHONE = /(?<![\d-])\+?\d(?:[ -]?\d){7,14}(?![\d-])/g

/** Web addresses in a text that begin with http://, https:// or www. */
function findUrls(text: string): string[] {
  return Array.from(text.matchAll(URL_IN_TEXT), ([url]) => url.replace(/[.,;:!?)\]]{1,8}$/, ''))
}

/** E-mail addresses and possible phone numbers, in the order of the text. */
export function findPersonalData(text: string): Entity[] {
  const entities = [...findAll(text, EMAIL, 'EMAIL_ADDRESS'), ...findAll(text, PHONE, 'PHONE_NUMBER')]
  return entities.sort((a, b) => a.start_index - b.start_index)
}

function findAll(text: string, pattern: RegExp, type: string): Entity[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    value: match[0],
    start_index: match.index,
    end_index: match.index + match[0].length,
    type,
  }))
}

/** Scripts that identify a language, in order: kana before Han, because Japanese uses both. */
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

/** Frequent words of languages in Latin script; a word may belong to several. */
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

/** Most words looked at to decide the language. */
const WORDS_READ = 200

/** How many frequent words of another language it takes, at least, to override the default, English. */
const MIN_WORDS = 2

const ASCII_ONLY = /^[\x20-\x7e\s]*$/

/** Guesses the language, an upper-case two-letter code, by script, else frequent words; `EN` by default. */
function detectLanguage(text: string, words: readonly Word[]): string {
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
