const toBytes = (letters: string) => new Set(Buffer.from(letters, 'latin1'))
/** Where Windows-1254 differs from Windows-1252: Ğ İ Ş ğ ı ş instead of these. */
const TURKISH_ONLY = toBytes('ÐÝÞðýþ')
const TURKISH_LETTERS = toBytes('ÐÝÞðýþÇÖÜçöüÂÎÛâîû')
/** Frequent in Turkish next to ğ and ş; Icelandic only has ý of these, which is rare next to ð and þ. */
const USUAL_IN_TURKISH = toBytes('ÝýÇçÜü')
const G_OR_S = toBytes('ÐÞðþ')

/**
 * Whether bytes that could be Windows-1252 are Turkish in Windows-1254. Only letters beyond ASCII count,
 * since the detector cannot tell the two apart in mostly English text.
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
