export interface TextMistake {
  /** Position of the character, from 1. */
  at: number
  expected: string
  found: string
}

const FOUND_MAX_CHARACTERS = 30

/** Thrown by parsers to leave their recursion; {@link catchMistake} turns it into a value. */
export class MistakeError extends Error {
  readonly mistake: TextMistake

  /** `index` counts from 0; `length` is the number of wrong characters (default: the rest of the text). */
  constructor(text: string, index: number, expected: string, length = FOUND_MAX_CHARACTERS) {
    const found = text.slice(index, index + Math.min(length, FOUND_MAX_CHARACTERS)).trim()
    super(expected)
    this.mistake = { at: index + 1, expected, found: found === '' ? 'nothing' : `\`${found}\`` }
  }
}

/** The parser's result, or the mistake that ended it. */
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

/** The index of the first non-white-space character at or after `from`. */
export function skipSpace(text: string, from: number): number {
  return from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0)
}
