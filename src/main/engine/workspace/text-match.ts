/** An SQL condition: a text contains another. */
export interface TextMatch {
  /** Applies the condition to a column or expression; it binds {@link params} in order. */
  sql: (column: string) => string
  params: readonly string[]
}

/**
 * An SQL condition: a text contains `search`, ignoring case by Unicode's simple case folding, in which `Ä`
 * equals `ä` but `ß` does not equal `ss`. ASCII letters match only ASCII letters.
 */
export function toTextMatch(search: string): TextMatch {
  const characters = [...search]
  const cases = characters.map(listCases)
  // First LIKE with a wildcard for every letter with several cases: it is fast, and folds ASCII letters only.
  const like = `%${characters.map((one, at) => (cases[at]?.length === 1 ? escapeLike(one) : '_')).join('')}%`
  const likeSql = (column: string) => `${column} LIKE ? ESCAPE '\\'`
  if (cases.every(({ length }) => length === 1)) return { sql: likeSql, params: [like] }
  const glob = `*${characters.map((one, at) => toGlob(one, cases[at] ?? [])).join('')}*`
  return { sql: (column) => `${likeSql(column)} AND ${column} GLOB ?`, params: [like, glob] }
}

function escapeLike(character: string): string {
  return /[\\%_]/.test(character) ? `\\${character}` : character
}

function toGlob(character: string, cases: readonly string[]): string {
  if (cases.length > 1) return `[${cases.join('')}]`
  if (/[A-Za-z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`
  return /[*?[]/.test(character) ? `[${character}]` : character
}

/** All case variants of a non-ASCII letter, including itself. */
function listCases(character: string): readonly string[] {
  if (!/[^\p{ASCII}]/u.test(character) || !CASED.test(character)) return [character]
  return readCased().match(new RegExp(character, 'giu')) ?? [character]
}

const CASED = /\p{Changes_When_Casemapped}/u

/** The last code point with case variants in Unicode 17. */
const LAST_CASED = 0x1_e9_43

let cased: string | null = null

/** All letters with case variants, collected at the first search for a non-ASCII letter (about 10 ms). */
function readCased(): string {
  if (cased !== null) return cased
  cased = ''
  for (let code = 0; code <= LAST_CASED; code += 1) {
    const character = String.fromCodePoint(code)
    if (CASED.test(character)) cased += character
  }
  return cased
}
