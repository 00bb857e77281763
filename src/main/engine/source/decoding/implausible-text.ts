import { countForeignLetters } from './alphabets.ts'

/** Signs of text decoded in the wrong encoding, each with its weight; the sum counts. */
const SIGNS: readonly { pattern: RegExp; weight: number }[] = [
  // Never in text: control characters, private use, unassigned characters, broken bytes.
  { pattern: /(?![\t\n\r])[\p{Cc}\p{Co}\p{Cn}\p{Cs}\ufffd]/gu, weight: 4 },
  // A non-ASCII capital after a small letter, or an ASCII one after a non-ASCII small letter.
  { pattern: /(?<=\p{Ll})(?![A-Z])\p{Lu}|(?<=(?![a-z])\p{Ll})[A-Z]/gu, weight: 1 },
  // A non-ASCII small letter between capitals.
  { pattern: /(?<=\p{Lu}{2})(?![a-z])\p{Ll}(?=\p{Lu}|\b)/gu, weight: 1 },
  // Letters of two alphabets in one word.
  {
    pattern:
      /(?<=\p{Script=Latin})(?!\p{Script=Latin})[\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/gu,
    weight: 1.5,
  },
  {
    pattern:
      /(?<=[\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}])\p{Script=Latin}/gu,
    weight: 1.5,
  },
  // A single Chinese, Japanese or Korean character in a word of small Latin letters.
  {
    pattern:
      /(?<=[a-z])[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Hiragana}](?![\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Hiragana}ー])/gu,
    weight: 1.5,
  },
  // Halfwidth katakana, more for single ones than in words, and compatibility characters.
  { pattern: /(?<![\uff61-\uff9f])[\uff61-\uff9f](?![\uff61-\uff9f])|[\uf900-\ufaff]/gu, weight: 0.7 },
  { pattern: /[\uff61-\uff9f]{2}/gu, weight: 0.2 },
  { pattern: /(?<=[a-z])[\uff61-\uff9f]/gu, weight: 1.5 },
  // A stray letter before a number, and an opening mark that opens no sentence.
  { pattern: /(?<![\p{L}\p{M}])(?![a-zªº])[\p{Script=Latin}\p{Script=Greek}](?=\d)/giu, weight: 1 },
  { pattern: /[¡¿](?![\p{L}\d\s"'«“‘(…¡¿!?])/gu, weight: 1.5 },
  // Symbols, drawings, fractions and opening marks between letters.
  {
    pattern: /(?<=\p{L})(?![\0-\x7f·])[\p{S}\p{No}\p{Ps}\p{Pi}»›”¿¡¶§¦\u00ad\u00a0†‡•‰…‚„](?=\p{L})/gu,
    weight: 1,
  },
  // The same at the end of a word of small letters, except what often occurs there.
  { pattern: /(?<=\p{Ll})(?![\0-\x7f®©™°²³])[\p{S}\p{No}¿¡‡†](?![\p{L}\p{S}])/gu, weight: 0.8 },
  // Line and block drawings, and stand-alone letters used in formulas.
  { pattern: /[\u2500-\u259f]/gu, weight: 0.7 },
  { pattern: /[ƒ∂∆∏∑√∞∫≈≠≤≥◊Ωπµ⌠⌡∩≡\uf8ff]/gu, weight: 0.6 },
  // Marks without a letter of their own script.
  { pattern: /(?<![\p{L}\p{M}])\p{M}/gu, weight: 1 },
  {
    pattern: /(?<=\p{Script=Latin})[\u0591-\u05c7\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]/gu,
    weight: 1.5,
  },
  // A digit or capital look-alike among small letters.
  { pattern: /(?<=[a-z])[ªº](?=\p{L})/gu, weight: 1 },
  // A Hebrew or Greek final form within a word, or Arabic presentation forms.
  { pattern: /[ךםןףץ](?=[\u05d0-\u05ea])|ς(?=[α-ω])/gu, weight: 1 },
  { pattern: /[\ufb50-\ufdff\ufe70-\ufefe]/gu, weight: 0.7 },
  { pattern: /[\u05b0-\u05c7]/gu, weight: 0.3 },
  // Letters that hardly any of today's languages use.
  { pattern: /[ÿŸ¤¨´¸¬¯]/gu, weight: 0.5 },
]

/** How implausible decoded text is: weights of signs of a wrong encoding, and its non-ASCII characters. */
export function measureImplausibility(text: string): { weight: number; characters: number } {
  const characters = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  if (characters === 0) return { weight: 0, characters }
  let weight = FOREIGN_LETTER_WEIGHT * countForeignLetters(text) + countMissingCyrillic(text)
  for (const sign of SIGNS) weight += sign.weight * (text.match(sign.pattern)?.length ?? 0)
  return { weight, characters }
}

const FOREIGN_LETTER_WEIGHT = 1

/**
 * How many common letters Cyrillic text lacks. In the wrong encoding it has fewer: the capitals of one are
 * small and rarer letters of another.
 */
function countMissingCyrillic(text: string): number {
  const letters = text.match(/\p{Script=Cyrillic}/gu)?.length ?? 0
  const usual = text.match(/[оеаинтсрвлкмді]/giu)?.length ?? 0
  return Math.max(0, USUAL_CYRILLIC_SHARE * letters - usual)
}

/** Lower than the share of these letters in any Cyrillic language. */
const USUAL_CYRILLIC_SHARE = 0.6
