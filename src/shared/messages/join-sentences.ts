/** Sentences as one text: those without a sign at their end get a full stop. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences.map((one) => (/[.!?:;]$/.test(one.trim()) ? one.trim() : `${one.trim()}.`)).join(' ')
}
