/** A run of letters, digits and marks in a text. */
export interface Word {
  /** Lower-cased. */
  text: string
  /** Where it stands in the text, in UTF-16 code units; the end is exclusive. */
  start: number
  end: number
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu

/** The words of a text, in order. */
export function findWords(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD)) {
    const [word] = match
    words.push({ text: word.toLowerCase(), start: match.index, end: match.index + word.length })
  }
  return words
}
