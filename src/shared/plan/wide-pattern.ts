import { SluiceError } from '../messages/errors.ts'

/** Most patterns that the braces of one may expand to: each is matched separately. */
const ALTERNATIVES_MAX = 1_000

/** Throws `BAD_USAGE` for a path pattern whose braces expand to too many patterns, such as `{1..1000000}`. */
export function refuseWidePattern(pattern: string): void {
  if (countAlternatives(pattern) <= ALTERNATIVES_MAX) return
  throw new SluiceError({ id: 'pattern_too_wide', pattern: pattern.slice(0, 200), max: ALTERNATIVES_MAX })
}

/** How many patterns the braces of a pattern, such as `{a,b}` and `{1..9}`, expand to; rather too many. */
export function countAlternatives(pattern: string): number {
  let at = 0
  function countText(isInBraces: boolean): number {
    let product = 1
    // Total of the alternatives of the surrounding braces.
    let sum = 0
    let isList = false
    const from = at
    while (at < pattern.length) {
      const sign = pattern[at]
      at += 1
      if (sign === '\\') at += 1
      else if (sign === '{') product *= countText(true)
      else if (sign === ',' && isInBraces) {
        isList = true
        sum += product
        product = 1
      } else if (sign === '}' && isInBraces) {
        return isList ? sum + product : product * countRange(pattern.slice(from, at - 1))
      }
    }
    return sum + product
  }
  return countText(false)
}

function countRange(text: string): number {
  const [, from = '', to = '', step = '1'] =
    /^(-?\d+|[a-z])\.\.(-?\d+|[a-z])(?:\.\.(-?\d+))?$/i.exec(text) ?? []
  if (from === '') return 1
  const toPlace = (end: string) => (/\d/.test(end) ? Number(end) : (end.codePointAt(0) ?? 0))
  return Math.floor(Math.abs(toPlace(to) - toPlace(from)) / (Math.abs(Number(step)) || 1)) + 1
}
