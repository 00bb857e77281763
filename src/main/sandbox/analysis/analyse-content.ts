import { type ClassScores, createScores } from './content-classes.ts'
import { detectLanguage } from './detect-language.ts'
import { findUrls } from './find-entities.ts'
import { findWords } from './find-words.ts'
import { findTestPhrases, type ScoredSpan, scoreText, toHighestScores } from './score-text.ts'
import type { FoundTerm, WatchlistMatcher } from './watchlist-matcher.ts'

/** Characters of a text that are analysed, in UTF-16 code units; what comes after is taken and left alone. */
export const ANALYSED_CHARACTERS = 100_000

/** One piece of content: raw text, or the address of an image or video, which the sandbox never fetches. */
export type Content = { kind: 'text'; text: string } | { kind: 'url'; url: string }

/** What the sandbox found in a piece of content. It is no moderation decision. */
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
