/** What posts may have in common, such as those of a day. */
export const GROUPING_FIELDS = ['group_id', 'conversation_id'] as const

/** Fields whose value names something; two values that only look alike name different things. */
export const ID_TEXT_FIELDS = [
  'user_id',
  'post_id',
  'parent_id',
  ...GROUPING_FIELDS,
  'custom_index_item_id',
  'appeal_id',
] as const

/** {@link ID_TEXT_FIELDS}, and the term of a watchlist, which is compared as a whole, too. */
export const COMPARED_FIELDS = [...ID_TEXT_FIELDS, 'term'] as const

const IGNORED = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`
const REMOVED = new RegExp(`[${IGNORED}]`, 'gu')
const ENDS = /^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu
const UNSEEN = new RegExp(String.raw`[${IGNORED}\p{Cc}]|[^\S ]|^ +| +$`, 'u')
const UNSEEN_EACH = new RegExp(UNSEEN, 'gu')
/** What emoji and words of some scripts are written with: joiners, and selectors of a form. */
const JOINED = String.raw`(?<=[^\p{ASCII}\s])[\u200c\u200d](?=[^\p{ASCII}\s])|(?<=\S)[\ufe00-\ufe0f]`
const JOINERS = new RegExp(JOINED, 'gu')
const JOINER_OR_REMOVED = new RegExp(`(${JOINED})|[${IGNORED}]`, 'gu')

/** Whether an id has white space at its ends, other than plain spaces inside, or anything that nobody sees. */
export function hasUnseen(id: string): boolean {
  return UNSEEN.test(id)
}

/** {@link hasUnseen} of a term, whose emoji and words may be written with joiners. */
export function hasUnseenInTerm(term: string): boolean {
  return UNSEEN.test(term) && UNSEEN.test(term.replaceAll(JOINERS, ''))
}

/** A text with what nobody sees of it as escapes: `a\u200B`. */
export function showUnseen(text: string): string {
  return text.replaceAll(UNSEEN_EACH, (found) =>
    Array.from({ length: found.length }, (_, at) => toEscape(found.charCodeAt(at))).join(''),
  )
}

function toEscape(unit: number): string {
  return `\\u${unit.toString(16).toUpperCase().padStart(4, '0')}`
}

/** An id without white space and control characters at its ends, and without characters that nobody sees. */
export function trimId(id: string): string {
  return id.replaceAll(REMOVED, '').replaceAll(ENDS, '')
}

const LATIN = /\p{Script=Latin}/u
const CYRILLIC_OR_GREEK = /[\p{Script=Cyrillic}\p{Script=Greek}]/u

const DIGITS = /^\p{Nd}+$/u

/**
 * Whether another id may look the same: one with accents as characters of their own, with characters of another width or
 * form, a number in digits of another script, or with Latin letters among those of an alphabet that has some like them.
 */
export function mayLookAlike(id: string): boolean {
  if (!/[^\0-\x7f]/.test(id)) return false
  return id !== id.normalize('NFKC') || DIGITS.test(id) || (LATIN.test(id) && CYRILLIC_OR_GREEK.test(id))
}

const CURLY = '[“”„‟«»]'
const CURLY_ENDS = new RegExp(`^${CURLY}+|${CURLY}+$`, 'gu')

/** Whether an id has a curly quote at an end, which word processors and phones write for a straight one, or is in straight ones. */
export function hasQuotes(id: string): boolean {
  return id.length > 1 && (id.search(CURLY_ENDS) !== -1 || /^(["'`]).*\1$/s.test(id))
}

/** The name of a column without what nobody sees of it, and without curly quotes around it. */
export function trimName(name: string): string {
  return trimId(trimId(name).replaceAll(CURLY_ENDS, ''))
}

/** {@link trimId} of a term, which keeps the joiners of its emoji and words. */
export function trimTerm(term: string): string {
  return term
    .replaceAll(JOINER_OR_REMOVED, (_, joiner: string | undefined) => joiner ?? '')
    .replaceAll(ENDS, '')
}

/** What a text looks like: without case, width, form of composition, and what nobody sees of it. */
export function toLookAlike(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(REMOVED, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

const BLANK = new RegExp(String.raw`^[\s\p{Cc}${IGNORED}\u2800]*$`, 'u')

/** Whether a text has nothing to see. */
export function isBlank(text: string): boolean {
  // Most texts begin with a sign of ASCII that is seen.
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && BLANK.test(text)
}
