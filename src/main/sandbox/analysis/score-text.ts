import type { ContentClass } from '../../../shared/sandbox/content.ts'
/** A score for each class, an integer from 0 to {@link MAX_SCORE}. */
export type ClassScores = Record<ContentClass, number>

/** The highest score of a class. */
const MAX_SCORE = 3

export function createScores(): ClassScores {
  return { sexual: 0, hate: 0, violence: 0, bullying: 0, spam: 0, promotions: 0 }
}

export interface ScoredSpan {
  /** In UTF-16 code units; the end is exclusive. */
  start: number
  end: number
  scores: ClassScores
}

/** Texts longer than this many UTF-16 code units are scored in several spans. */
const SPAN_CHARACTERS = 1_000

const TEST_PHRASE = /sandbox[:-](sexual|hate|violence|bullying|spam|promotions)[:-]([0-3])(?!\d)/gi

/**
 * Scores a text span by span: one point for each different listed word of a class, at most 3, or the score
 * that a test phrase asks for. A span ends with the last word that begins within it.
 */
export function scoreText(text: string, words: readonly Word[]): ScoredSpan[] {
  const spans: ScoredSpan[] = []
  let span: ScoredSpan = { start: 0, end: text.length, scores: createScores() }
  let seen = new Set<string>()
  for (const word of words) {
    if (word.start - span.start >= SPAN_CHARACTERS) {
      span.end = word.start
      spans.push(span)
      span = { start: word.start, end: text.length, scores: createScores() }
      seen = new Set()
    }
    const className = CLASS_OF_WORD.get(word.text)
    if (className === undefined || seen.has(word.text)) continue
    seen.add(word.text)
    span.scores[className] = Math.min(MAX_SCORE, span.scores[className] + 1)
  }
  spans.push(span)
  applyTestPhrases(text, spans)
  return spans
}

/** The highest test phrase of a class in a span sets its score, regardless of the words. */
function applyTestPhrases(text: string, spans: readonly ScoredSpan[]): void {
  const decided = new Map<ScoredSpan, Partial<ClassScores>>()
  for (const phrase of findTestPhrases(text)) {
    const span = spans.find((candidate) => phrase.start < candidate.end)
    if (span === undefined) continue
    const scores = decided.get(span) ?? {}
    scores[phrase.className] = Math.max(phrase.score, scores[phrase.className] ?? 0)
    decided.set(span, scores)
  }
  for (const [span, scores] of decided) Object.assign(span.scores, scores)
}

/** Finds test phrases such as `sandbox:violence:3`, or `sandbox-violence-3` where colons do not fit. */
export function findTestPhrases(text: string): { className: ContentClass; score: number; start: number }[] {
  return Array.from(text.matchAll(TEST_PHRASE), (match) => ({
    className: String(match[1]).toLowerCase() as ContentClass,
    score: Number(match[2]),
    start: match.index,
  }))
}

export function toHighestScores(spans: readonly ScoredSpan[]): ClassScores {
  const [first, ...rest] = spans
  if (first === undefined) return createScores()
  if (rest.length === 0) return first.scores
  const highest = { ...first.scores }
  for (const { scores } of rest) {
    for (const className of Object.keys(highest) as ContentClass[]) {
      highest[className] = Math.max(highest[className], scores[className])
    }
  }
  return highest
}

/** A sequence of letters, digits and marks in a text. */
export interface Word {
  /** Lower-cased. */
  text: string
  /** Position in the text, in UTF-16 code units; the end is exclusive. */
  start: number
  end: number
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu

export function findWords(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD)) {
    const [word] = match
    words.push({ text: word.toLowerCase(), start: match.index, end: match.index + word.length })
  }
  return words
}

/** The published list of mild words, each in one class; documented in `docs/sandbox.md`. */
export const WORD_LIST: Record<ContentClass, readonly string[]> = {
  sexual: splitList('sexy nude naked flirt seductive horny erotic xxx'),
  hate: splitList('hate hateful despise detest loathe vermin subhuman'),
  violence: splitList('attack fight punch kill stab shoot weapon gun knife bomb blood'),
  bullying: splitList('stupid loser idiot dumb pathetic moron useless ugly worthless'),
  spam: splitList(
    `free win winner won claim urgent prize cash txt awarded guaranteed congratulations selected ringtone lottery
     jackpot unsubscribe reward expires unclaimed landline ringtones polyphonic tones entry winning awaiting 150ppm`,
  ),
  promotions: splitList(
    'offer offers sale discount coupon voucher vouchers deal deals promo bonus subscribe order shop latest save',
  ),
}

function splitList(text: string): string[] {
  return text.split(/\s+/)
}

const CLASS_OF_WORD: ReadonlyMap<string, ContentClass> = new Map(
  Object.entries(WORD_LIST).flatMap(([className, words]) =>
    words.map((word): [string, ContentClass] => [word, className as ContentClass]),
  ),
)
