/** How text was damaged before it came into the source: characters were replaced, or read in a wrong encoding. */
export type TextDamage = 'replaced' | 'decoded_wrongly'

/** What the bytes 80 to BF of UTF-8 are in Windows-1252. */
const CONTINUED = '[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]'
const SEQUENCE = `(?:[\\u00c2-\\u00df]${CONTINUED}|[\\u00e0-\\u00ef]${CONTINUED}{2}|ð${CONTINUED}{3})`

/**
 * U+FFFD; control characters that only a wrong encoding makes; and UTF-8 that was read as Windows-1252: two of its
 * sequences, or one that no text has otherwise.
 */
const DAMAGE = new RegExp(
  `\\ufffd|[\\u0080-\\u0084\\u0086-\\u009f]|${SEQUENCE}{2}|[ÂÃ][\\u00a1-\\u00aa\\u00ac-\\u00b6\\u00b8-\\u00ba\\u00bc-\\u00bf†‡ˆ‰ŠŒŽšœžŸƒ]|ðŸ|â€${CONTINUED}`,
)

/** Where all damage begins: most texts have nothing there, which is found out faster. */
const BEYOND_ASCII = /[^\0-\x7f]/

/** Finds how a text was damaged, and where; null if nothing shows that it was. */
export function findDamage(text: string): { as: TextDamage; at: number } | null {
  const found = BEYOND_ASCII.test(text) ? DAMAGE.exec(text) : null
  if (found === null) return null
  return { as: found[0] === '\ufffd' ? 'replaced' : 'decoded_wrongly', at: found.index }
}
