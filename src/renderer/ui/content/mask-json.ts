import { formatQuantity } from '../format-number.ts'
import { isContentField } from './content-rule.ts'

/** Keys of answers that repeat what was submitted (interface §2.3). */
const ECHOES: readonly string[] = ['text', 'value']

const STRING = String.raw`"(?:[^"\\]|\\.)*"`
/** Each string from its first quote to its last, with its value where it is a key whose value is a string. */
const STRINGS = new RegExp(`(${STRING})(\\s*:\\s*)?(${STRING})?`, 'gs')

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
      if (!isContentField(name) && !ECHOES.includes(name)) return whole
      return `${key}${colon}"${toMask((JSON.parse(value) as string).length)}"`
    },
  )
}

/** What stands in the place of user content until it is revealed. */
export function toMask(length: number): string {
  return `hidden, ${formatQuantity(length, 'character')}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
