import { InvalidArgumentError } from 'commander'

/** Parser of `--delimiter`: one character, or `tab` or `\t` for a tab. */
export function parseDelimiter(text: string): string {
  if (text === '\\t' || text.toLowerCase() === 'tab') return '\t'
  if (text.length !== 1 || text === '"' || text === '\n' || text === '\r') {
    throw new InvalidArgumentError(
      `expected one character, such as \`;\`, or \`tab\`; not a quote or a line break; found \`${text}\`.`,
    )
  }
  return text
}
