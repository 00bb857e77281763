/** Where a text that a person wrote is wrong, and how. */
export interface TextMistake {
  /** 1-based character. */
  at: number
  expected: string
  found: string
}

const FOUND_MAX_CHARACTERS = 30

/** Thrown by parsers to leave their recursion; {@link catchMistake} makes a value of it. */
export class MistakeError extends Error {
  readonly mistake: TextMistake

  /** `index` counts from 0; `length` characters from there were found (default: the rest of the text). */
  constructor(text: string, index: number, expected: string, length = FOUND_MAX_CHARACTERS) {
    const found = text.slice(index, index + Math.min(length, FOUND_MAX_CHARACTERS)).trim()
    super(expected)
    this.mistake = { at: index + 1, expected, found: found === '' ? 'nothing' : `\`${found}\`` }
  }
}

/** What a parser returns, or the mistake that ended it. */
export function catchMistake<Result>(parse: () => Result): Result | { ok: false; mistake: TextMistake } {
  try {
    return parse()
  } catch (error) {
    if (error instanceof MistakeError) return { ok: false, mistake: error.mistake }
    throw error
  }
}

/** A sentence: ``threshold `p(99)<500ms`, character 10: expected …, found `ms` ``. */
export function formatTextMistake(what: string, text: string, { at, expected, found }: TextMistake): string {
  return `${what} \`${text}\`, character ${at}: expected ${expected}, found ${found}`
}

/** The index of the first character from `from` on that is not white space. */
export function skipSpace(text: string, from: number): number {
  return from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0)
}
