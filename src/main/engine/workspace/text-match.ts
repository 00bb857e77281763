/** A condition that holds where a text contains another, for a statement. */
export interface TextMatch {
  /** The condition on a column or expression; it takes {@link params} in their order. */
  sql: (column: string) => string
  params: readonly string[]
}

/**
 * A condition that holds where a text contains `search`, in whichever case: Unicode's simple case folding, in which `Ä` is
 * `ä` and `ß` is not `ss`. ASCII letters only stand for themselves.
 */
export function toTextMatch(search: string): TextMatch {
  const characters = [...search]
  const cases = characters.map(listCases)
  // If a letter has other cases, any character will do at first: LIKE is fast and folds ASCII letters alone.
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

/** The letters that a letter beyond ASCII is the same as but for its case, itself among them. */
function listCases(character: string): readonly string[] {
  if (!/[^\p{ASCII}]/u.test(character) || !CASED.test(character)) return [character]
  return readCased().match(new RegExp(character, 'giu')) ?? [character]
}

const CASED = /\p{Changes_When_Casemapped}/u

/** Code points above this have no cases, in Unicode 17. */
const LAST_CASED = 0x1_e9_43

let cased: string | null = null

/** All letters that have cases, collected at the first search for one beyond ASCII: about 10 ms. */
function readCased(): string {
  if (cased !== null) return cased
  cased = ''
  for (let code = 0; code <= LAST_CASED; code += 1) {
    const character = String.fromCodePoint(code)
    if (CASED.test(character)) cased += character
  }
  return cased
}
