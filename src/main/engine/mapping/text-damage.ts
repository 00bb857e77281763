/** How text was damaged before it reached the source: replaced characters, or a wrong encoding. */
export type TextDamage = 'replaced' | 'decoded_wrongly'

/** The bytes 80 to BF of UTF-8 as characters of Windows-1252. */
const CONTINUED = '[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]'
const SEQUENCE = `(?:[\\u00c2-\\u00df]${CONTINUED}|[\\u00e0-\\u00ef]${CONTINUED}{2}|ð${CONTINUED}{3})`

/**
 * U+FFFD; control characters that only a wrong encoding produces; and UTF-8 read as Windows-1252: two of its
 * sequences, or one that occurs in no other text.
 */
const DAMAGE = new RegExp(
  `\\ufffd|[\\u0080-\\u0084\\u0086-\\u009f]|${SEQUENCE}{2}|[ÂÃ][\\u00a1-\\u00a8\\u00aa\\u00ac\\u00ad\\u00af-\\u00b6\\u00b8-\\u00ba\\u00bc-\\u00bf†‡ˆ‰ŠŒŽšœžŸƒ]|ðŸ|â€${CONTINUED}|${toMarked('ÂÃ', '©®')}`,
  'u',
)

/** A letter and a sign that may also be a trade mark after a word in capitals, such as `MARCĂ®`. */
function toMarked(letters: string, signs: string): string {
  return `[${letters}](?<!\\p{Lu}[${letters}])[${signs}]|[${letters}][${signs}](?=\\p{Ll})`
}

/** UTF-8's bytes 80 to BF in Windows-1251: those that are not Russian or Ukrainian letters, then all. */
const CYRILLIC_ODD = '[ЂЃѓЉЊЌЋЏђљњќћџЎўЈЅѕј‚„†‡€‰‹›™‘’“”•–—¤¦§©«¬®°±µ¶·№»]'
const CYRILLIC = '[\\u00a0ЂЃѓЉЊЌЋЏђљњќћџЎўЈЅѕј‚„…†‡€‰‹›™‘’“”•–—¤¦§©«¬®°±µ¶·№»ҐЁЄЇІіґёєї]'

/** Of these the bytes 80 to 9F: Р stands in front of letters with any, С only of archaic ones with others. */
const C1_CYRILLIC = '[ЂЃѓЉЊЌЋЏђљњќћџ‚„†‡€‰‹›™‘’“”•–—…]'
const ODD_1251 = `(?:Р${CYRILLIC_ODD}|С(?=${C1_CYRILLIC})${CYRILLIC_ODD})`
const SEQUENCE_1251 = `(?:Р${CYRILLIC}|С(?=${C1_CYRILLIC})${CYRILLIC})`
/** Signs that may surround one letter in sound text: two of them are damage only with a third sequence. */
const QUOTES = '[‘’“”‚„«»‹›–—…•]'

/** UTF-8 that was read in an encoding other than Windows-1252, by sequences its language does not have. */
const OTHER_DAMAGE = new RegExp(
  [
    `(?!(?:[РС]${QUOTES}){2}(?!${SEQUENCE_1251}))(?:${ODD_1251}${SEQUENCE_1251}|${SEQUENCE_1251}${ODD_1251})`,
    // KOI8-R
    '(?:[пя][\\u2500-\\u25a0∙√≈≤≥⌠⌡©°²·÷]){2}',
    // Windows-1253, 1255 and 1256
    '(?:[ΞΟ][€‚ƒ„…†‡‰‹‘’“”•–—™›΅Ά£¤¥¦§¨©«¬®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏ]){2}',
    '(?:׳[\\u00a0-\\u00bf‘’“”•–—…„†‡]){2}',
    '(?:[طظ][\\u00a0-\\u00bf€‚„…†‡ˆ‰‹‘’“”•–—™›]){2}',
    // Windows-1250
    `Ă[ˇłş¤¶ĽźŻ‡˘˛]|Ĺ[‚›Ľş±‘]|Ä[‡›Ť]|${toMarked('Ă', '©®')}|${toMarked('ĹÄ', '™')}`,
    // DOS and Mac OS
    '├[\\u00a1-\\u00ffƒı]|ÔÇ[ÖÿªØ£¥ô£]|[A-Za-z]√[©®∂±º≥§†¢¥£]|‚Ä[ôúùìî¶]',
    // GBK and Shift-JIS
    '锟斤拷|鈥|縺.?[縺繧繝]|[繧繝][\\uff61-\\uff9f]',
  ].join('|'),
  'u',
)

/**
 * Where {@link OTHER_DAMAGE} can begin: with signs that few texts have, or with letters that neither another
 * letter nor white space follows.
 */
const MAY_BE_OTHER = /[РСпяΞΟ][^а-яА-ЯёЁα-ωΑ-Ωά-ώ\s]|[׳طظĂĹÄ├Ô√锟鈥縺繧繝]/

/** All damage contains such a character; most texts have none, which is faster to check. */
const BEYOND_ASCII = /[^\0-\x7f]/

/** Finds how a text was damaged, and where; null if nothing shows that it was. */
export function findDamage(text: string): { as: TextDamage; at: number } | null {
  const found = BEYOND_ASCII.test(text) ? (DAMAGE.exec(text) ?? findOther(text)) : null
  if (found === null) return null
  return { as: found[0] === '\ufffd' ? 'replaced' : 'decoded_wrongly', at: found.index }
}

function findOther(text: string): RegExpExecArray | null {
  return MAY_BE_OTHER.test(text) ? OTHER_DAMAGE.exec(text) : null
}
