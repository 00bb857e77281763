/** What posts may have in common, such as those of a day. */
export const GROUPING_FIELDS = ['group_id', 'conversation_id'] as const

/** Fields whose value identifies something; values that merely look alike identify different things. */
export const ID_TEXT_FIELDS = [
  'user_id',
  'post_id',
  'parent_id',
  ...GROUPING_FIELDS,
  'custom_index_item_id',
  'appeal_id',
] as const

/** {@link ID_TEXT_FIELDS}, and the term of a watchlist, which is also compared as a whole. */
export const COMPARED_FIELDS = [...ID_TEXT_FIELDS, 'term'] as const

const IGNORED = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`
const REMOVED = new RegExp(`[${IGNORED}]`, 'gu')
const ENDS = /^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu
const UNSEEN = new RegExp(String.raw`[${IGNORED}\p{Cc}]|[^\S ]|^ +| +$`, 'u')
const UNSEEN_EACH = new RegExp(UNSEEN, 'gu')
/** Joiners and variation selectors, which emoji and words of some scripts contain. */
const JOINED = String.raw`(?<=[^\p{ASCII}\s])[\u200c\u200d](?=[^\p{ASCII}\s])|(?<=\S)[\ufe00-\ufe0f]`
const JOINERS = new RegExp(JOINED, 'gu')
const JOINER_OR_REMOVED = new RegExp(`(${JOINED})|[${IGNORED}]`, 'gu')

/** Whether an id has outer white space, inner white space except plain spaces, or invisible characters. */
export function hasUnseen(id: string): boolean {
  return UNSEEN.test(id)
}

/** {@link hasUnseen} for a term, whose emoji and words may contain joiners. */
export function hasUnseenInTerm(term: string): boolean {
  return UNSEEN.test(term) && UNSEEN.test(term.replaceAll(JOINERS, ''))
}

/** A text with its invisible characters as escapes: `a\u200B`. */
export function showUnseen(text: string): string {
  return text.replaceAll(UNSEEN_EACH, (found) =>
    Array.from({ length: found.length }, (_, at) => toEscape(found.charCodeAt(at))).join(''),
  )
}

function toEscape(unit: number): string {
  return `\\u${unit.toString(16).toUpperCase().padStart(4, '0')}`
}

/** An id without white space and control characters at its ends, and without invisible characters. */
export function trimId(id: string): string {
  return id.replaceAll(REMOVED, '').replaceAll(ENDS, '')
}

const LATIN = /\p{Script=Latin}/u
const CYRILLIC_OR_GREEK = /[\p{Script=Cyrillic}\p{Script=Greek}]/u

const DIGITS = /^\p{Nd}+$/u

/**
 * Whether another id may look the same: it has accents as separate characters, characters of another width or
 * form, a number in another script's digits, or Latin letters mixed with those of an alphabet with similar
 * ones.
 */
export function mayLookAlike(id: string): boolean {
  if (!/[^\0-\x7f]/.test(id)) return false
  return id !== id.normalize('NFKC') || DIGITS.test(id) || (LATIN.test(id) && CYRILLIC_OR_GREEK.test(id))
}

const CURLY = '[“”„‟«»]'
const CURLY_ENDS = new RegExp(`^${CURLY}+|${CURLY}+$`, 'gu')

/**
 * Whether an id begins or ends with a curly quote, which word processors and phones write instead of a
 * straight one, or is in straight quotes.
 */
export function hasQuotes(id: string): boolean {
  return id.length > 1 && (id.search(CURLY_ENDS) !== -1 || /^(["'`]).*\1$/s.test(id))
}

/** A column's name without invisible characters, and without curly quotes around it. */
export function trimName(name: string): string {
  return trimId(trimId(name).replaceAll(CURLY_ENDS, ''))
}

/** {@link trimId} for a term, which keeps the joiners of its emoji and words. */
export function trimTerm(term: string): string {
  return term
    .replaceAll(JOINER_OR_REMOVED, (_, joiner: string | undefined) => joiner ?? '')
    .replaceAll(ENDS, '')
}

/** A form that is equal for texts that look alike: ignores case, width, composition, invisible characters. */
export function toLookAlike(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(REMOVED, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

const BLANK = new RegExp(String.raw`^[\s\p{Cc}${IGNORED}\u2800]*$`, 'u')

/** Whether a text has no visible character. */
export function isBlank(text: string): boolean {
  // Most texts begin with a visible ASCII character.
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && BLANK.test(text)
}
