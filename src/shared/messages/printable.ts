/**
 * Characters that control a terminal or disguise what is shown: control codes, format characters (including
 * direction marks, zero-width characters and soft hyphens), tags, line separators and lone surrogates.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Makes text of a source or of the service safe to show on one line: characters that could control a terminal
 * become escapes such as `\u{1b}`; everything else is unchanged.
 */
export function toPrintable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => NAMED[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
