import { detectLanguage } from './detect-language.ts'
import {
  type ClassScores,
  createScores,
  findTestPhrases,
  findWords,
  type ScoredSpan,
  scoreText,
  toHighestScores,
} from './score-text.ts'
import type { FoundTerm, WatchlistMatcher } from './watchlist-matcher.ts'

/** Characters of a text that are analysed, in UTF-16 code units; what comes after is taken and left alone. */
export const ANALYSED_CHARACTERS = 100_000

/** One piece of content: raw text, or the address of an image or video, which the sandbox never fetches. */
export type Content = { kind: 'text'; text: string } | { kind: 'url'; url: string }

/** What the sandbox found in a piece of content. It is not a moderation decision. */
export interface Analysis {
  /** The highest score of each class. */
  scores: ClassScores
  spans: ScoredSpan[]
  terms: FoundTerm[]
  urls: string[]
  /** Upper-case code. */
  language: string
}

/** Analyses a piece of content by the word list, the test phrases, the watchlists and the language heuristic. */
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

/** Only test phrases in the address count: `https://example.com/sandbox-violence-3.jpg`. */
function analyseUrl(url: string): Analysis {
  const scores = createScores()
  for (const { className, score } of findTestPhrases(url)) {
    scores[className] = Math.max(score, scores[className])
  }
  return { scores, spans: [{ start: 0, end: 0, scores }], terms: [], urls: [url], language: 'EN' }
}

/**
 * Something found in a text; offsets in UTF-16 code units, the end exclusive (docs/interface.md §2.3, pii_entities).
 */
export interface Entity {
  value: string
  start_index: number
  end_index: number
  type: string
}

const URL_IN_TEXT = /\b(?:https?:\/\/|www\.)[^\s<>"']+/gi

/** Every quantifier is bounded, so that no text makes it slow. */
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g

const PHONE = /(?<![\d-])\+?\d(?:[ -]?\d){7,14}(?![\d-])/g

/** Web addresses in a text: those that begin with http://, https:// or www. */
function findUrls(text: string): string[] {
  return Array.from(text.matchAll(URL_IN_TEXT), ([url]) => url.replace(/[.,;:!?)\]]{1,8}$/, ''))
}

/** E-mail addresses and numbers that look like telephone numbers, in the order of the text. */
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
