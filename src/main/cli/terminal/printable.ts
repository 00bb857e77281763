/**
 * Characters that a terminal would act on or that would disguise what is shown: control codes, the Unicode
 * direction overrides and isolates, zero-width characters and line separators.
 */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Makes text of a source or of the service safe to show on one line: what a terminal would obey is written as an
 * escape such as `\u{1b}`, everything else stays as it is.
 */
export function toPrintable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => NAMED[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
