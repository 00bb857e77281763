import { InvalidArgumentError } from 'commander'

/** Parser of a text that must not be empty. */
export function parseFilledText(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('must not be empty.')
}
