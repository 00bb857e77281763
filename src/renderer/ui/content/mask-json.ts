import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { isContentField } from './content-rule.ts'

/** Keys of answers that repeat what was submitted (docs/interface.md §2.3). */
const ECHOES: readonly string[] = ['text', 'value']

/** Lists of terms, which a service may give separately (docs/interface.md §4.5, §4.6). */
const TERM_LISTS = /^(.+_)?terms$/

const STRING = String.raw`"(?:[^"\\]|\\.)*"`
const STRING_LIST = String.raw`\[\s*${STRING}(?:\s*,\s*${STRING})*\s*\]`
/** Each string from its first quote to its last, with its value where it is a key of a string or of a list of strings. */
const STRINGS = new RegExp(`(${STRING})(\\s*:\\s*)?(${STRING}|${STRING_LIST})?`, 'gs')
const EACH_STRING = new RegExp(STRING, 'gs')

/**
 * JSON text with the user content in it masked: `"text_data": "hidden, 52 characters"`. Everything else stays as it is,
 * digit for digit. Text that is not JSON is masked as a whole.
 */
export function maskJson(text: string): string {
  if (!isJson(text)) return toMask(text.length)
  return text.replaceAll(
    STRINGS,
    (whole, key: string, colon: string | undefined, value: string | undefined) => {
      if (colon === undefined || value === undefined) return whole
      const name = JSON.parse(key) as string
      if (!isContentField(name) && !ECHOES.includes(name) && !TERM_LISTS.test(name)) return whole
      const masked = value.replaceAll(
        EACH_STRING,
        (string) => `"${toMask((JSON.parse(string) as string).length)}"`,
      )
      return key + colon + masked
    },
  )
}

/** What stands in the place of user content until it is revealed. */
export function toMask(length: number): string {
  return `hidden, ${formatCounted(length, 'character')}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
