/** Joins sentences to one text, and adds missing full stops. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences.map((one) => (/[.!?:;]$/.test(one.trim()) ? one.trim() : `${one.trim()}.`)).join(' ')
}
