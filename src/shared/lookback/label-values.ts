import { z } from 'zod'

/** How programs write a missing cell, case-sensitive: `none` is a label, `None` is Python's. */
const MISSING = new Set(['', 'nan', 'NaN', 'NAN', 'None', 'null', 'NULL', 'Null', '<NA>', 'NaT', '#N/A'])

/** Whether a cell says that there is no label. */
export function isMissing(cell: string): boolean {
  return MISSING.has(cell.trim())
}

/** The label of a row whose cell is empty, where that means that nothing is wrong. */
export const EMPTY_LABEL = '(empty)'

/** Label values that say that nothing is wrong. */
export const NEGATIVES: ReadonlySet<string> = new Set([
  ...'ham none no n false 0 ok okay clean safe negative normal benign good allowed allow approved nothing neutral'.split(
    ' ',
  ),
  EMPTY_LABEL,
])

/** Label values that only say that something is wrong. */
export const AFFIRMATIVES: ReadonlySet<string> = new Set(
  'yes true 1 y x positive bad unsafe violating violation flagged flag reject rejected block blocked'.split(
    ' ',
  ),
)

export const shareSchema = z.object({ operator: z.enum(['>=', '>', '<=', '<']), limit: z.number() })

/** A condition on a number, such as `>=0.5`. */
export type Share = z.infer<typeof shareSchema>

const SHARE = /^\s*(>=|<=|>|<|≥|≤)\s*(-?(?:\d+(?:\.\d*)?|\.\d+))\s*(%?)\s*$/

/** Reads a condition; null for any other text. */
export function parseShare(text: string): Share | null {
  const [, operator = '', digits = '', percent] = SHARE.exec(text) ?? []
  if (operator === '') return null
  const written = { '≥': '>=', '≤': '<=' }[operator] ?? operator
  return {
    operator: written as Share['operator'],
    limit: percent === '%' ? Number(digits) / 100 : Number(digits),
  }
}

/** A label as a number, `60 %` as 0.6; null if it is not a number. */
export function toNumber(value: string): number | null {
  const [, digits = '', percent] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(%?)$/i.exec(value.trim()) ?? []
  if (digits === '') return null
  return percent === '%' ? Number(digits) / 100 : Number(digits)
}

export function isInShare(number: number, { operator, limit }: Share): boolean {
  if (operator === '>=') return number >= limit
  if (operator === '<=') return number <= limit
  return operator === '>' ? number > limit : number < limit
}

/** The texts of a list in JSON or Python syntax, `["a", "b"]` or `['a', 'b']`; null if it is not a list. */
export function parseList(cell: string): string[] | null {
  const text = cell.trim()
  if (!text.startsWith('[') || !text.endsWith(']')) return null
  const inner = text.slice(1, -1)
  const items: string[] = []
  let at = 0
  while (at < inner.length) {
    ITEM.lastIndex = at
    const found = ITEM.exec(inner)
    if (found === null) return inner.trim() === '' ? [] : null
    const [whole, , quoted, single, plain] = found
    if (quoted !== undefined) items.push(withoutEscapes(quoted))
    else if (single !== undefined) items.push(withoutEscapes(single))
    else if (plain !== undefined) items.push(plain.trim())
    at += whole.length
  }
  return items
}

// One item and what precedes it. NumPy writes lists of texts without commas.
const ITEM =
  /(\s*,?\s*)(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([+-]?[\d.]+(?:e[+-]?\d+)?|true|false|none|null|nan)(?=[\s,]|$))\s*,?\s*/isy

function withoutEscapes(text: string): string {
  return text.replace(/\\(?:u([\dA-Fa-f]{4})|x([\dA-Fa-f]{2})|(.))/gs, (_, four, two, one) =>
    one === undefined
      ? String.fromCharCode(Number.parseInt(four ?? two, 16))
      : ({ n: '\n', t: '\t', r: '\r' }[one as string] ?? String(one)),
  )
}
