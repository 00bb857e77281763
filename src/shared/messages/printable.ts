/**
 * Characters that a terminal would act on or that would disguise what is shown: control codes, format characters (the
 * direction marks, zero-width characters and soft hyphens among them), tags, line separators and halves of pairs.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu

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
