/**
 * Something found in a text; offsets in UTF-16 code units, the end exclusive (docs/interface.md §2.3, pii_entities).
 */
export interface Entity {
  value: string
  start_index: number
  end_index: number
  type: string
}

const URL_IN_TEXT = /\b(?:https?:\/\/|www\.)[^\s<>"']+/gi

/** Every quantifier is bounded, so that no text makes it slow. */
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g

const PHONE = /(?<![\d-])\+?\d(?:[ -]?\d){7,14}(?![\d-])/g

/** Web addresses in a text: those that begin with http://, https:// or www. */
export function findUrls(text: string): string[] {
  return Array.from(text.matchAll(URL_IN_TEXT), ([url]) => url.replace(/[.,;:!?)\]]{1,8}$/, ''))
}

/** E-mail addresses and numbers that look like telephone numbers, in the order of the text. */
export function findPersonalData(text: string): Entity[] {
  const entities = [...findAll(text, EMAIL, 'EMAIL_ADDRESS'), ...findAll(text, PHONE, 'PHONE_NUMBER')]
  return entities.sort((a, b) => a.start_index - b.start_index)
}

function findAll(text: string, pattern: RegExp, type: string): Entity[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    value: match[0],
    start_index: match.index,
    end_index: match.index + match[0].length,
    type,
  }))
}
