const toBytes = (letters: string) => new Set(Buffer.from(letters, 'latin1'))
/** Where Windows-1254 differs from Windows-1252: Ğ İ Ş ğ ı ş instead of these. */
const TURKISH_ONLY = toBytes('ÐÝÞðýþ')
const TURKISH_LETTERS = toBytes('ÐÝÞðýþÇÖÜçöüÂÎÛâîû')
/** Frequent in Turkish next to ğ and ş; of these, Icelandic only has ý, which is rare next to ð and þ. */
const USUAL_IN_TURKISH = toBytes('ÝýÇçÜü')
const G_OR_S = toBytes('ÐÞðþ')

/**
 * Whether bytes that could be Windows-1252 are Turkish in Windows-1254. Only their letters beyond ASCII are counted,
 * because the detector cannot tell the two apart in text that is mostly English.
 */
export function isTurkish(bytes: Buffer): boolean {
  const letters = bytes.filter((byte) => byte >= 0xc0)
  const count = (known: ReadonlySet<number>) => letters.filter((byte) => known.has(byte)).length
  return (
    letters.length >= 4 &&
    count(TURKISH_LETTERS) >= 0.9 * letters.length &&
    count(TURKISH_ONLY) >= letters.length / 4 &&
    count(USUAL_IN_TURKISH) >= count(G_OR_S) / 3
  )
}
