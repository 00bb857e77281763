/** Words as a sentence of their own: a capital first, a full stop last. */
export function toSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
