import { findWords, type Word } from './score-text.ts'

/** A watchlist term found in a text; offsets in UTF-16 code units, the end exclusive. */
export interface FoundTerm {
  watchlist: string
  term: string
  start: number
  end: number
}

export type WatchlistMatcher = (text: string, words: readonly Word[]) => FoundTerm[]

interface Phrase {
  watchlist: string
  term: string
  words: string[]
}

/** Scripts without spaces, in which a word of the text may be a whole phrase. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/**
 * Builds a matcher whose cost depends on the text, not on the number of terms. A term matches where its words
 * follow each other, whatever is between them. Terms without words (emoji) and in scripts without spaces
 * match anywhere. Each term is reported once.
 */
export function createWatchlistMatcher(lists: ReadonlyMap<string, readonly string[]>): WatchlistMatcher {
  const byFirstWord = new Map<string, Phrase[]>()
  const anywhere: { watchlist: string; term: string }[] = []
  for (const [watchlist, terms] of lists) {
    for (const term of terms) {
      const words = findWords(term).map((word) => word.text)
      const [first] = words
      if (first === undefined || UNSPACED.test(term)) anywhere.push({ watchlist, term })
      else addTo(byFirstWord, first, { watchlist, term, words })
    }
  }

  return (text, words) => {
    const found: FoundTerm[] = []
    const reported = new Set<Phrase>()
    for (const [index, word] of words.entries()) {
      const phrases = byFirstWord.get(word.text)
      if (phrases === undefined) continue
      for (const phrase of phrases) {
        if (reported.has(phrase)) continue
        const last = words[index + phrase.words.length - 1]
        if (last === undefined || !phrase.words.every((part, i) => words[index + i]?.text === part)) continue
        reported.add(phrase)
        found.push({ watchlist: phrase.watchlist, term: phrase.term, start: word.start, end: last.end })
      }
    }
    if (anywhere.length > 0) {
      const lowered = text.toLowerCase()
      for (const { watchlist, term } of anywhere) {
        const start = lowered.indexOf(term)
        if (start !== -1) found.push({ watchlist, term, start, end: start + term.length })
      }
    }
    return found
  }
}

function addTo(map: Map<string, Phrase[]>, key: string, phrase: Phrase): void {
  const phrases = map.get(key)
  if (phrases === undefined) map.set(key, [phrase])
  else phrases.push(phrase)
}
