import { READ_BYTES, type ReadText } from './text-reader.ts'

/** One line of a text, without its line end. */
export interface TextLine {
  /** 1-based. */
  number: number
  /** The whole line, or of one that is too long its beginning. */
  text: string
  /** UTF-16 code units of the whole line. */
  characters: number
  isTooLong: boolean
}

/** Kept of a line that is too long, for a person to know it by. */
const BEGINNING_CHARACTERS = 200

/**
 * Yields the lines of a text once and in order, as many at a time as a read holds; LF and CRLF end a line. Holds one
 * read and one line of at most `maxCharacters`: of a longer one only the beginning is kept.
 */
export function* readLines(
  readText: ReadText,
  maxCharacters: number,
  readBytes = READ_BYTES,
): Generator<TextLine[], void, undefined> {
  let number = 0
  let held: string[] = []
  let heldCharacters = 0

  const hold = (part: string): void => {
    heldCharacters += part.length
    if (heldCharacters <= maxCharacters) held.push(part)
    else held = [held.join('').slice(0, BEGINNING_CHARACTERS) || part.slice(0, BEGINNING_CHARACTERS)]
  }
  const finish = (): TextLine => {
    const joined = held.length === 1 ? (held[0] ?? '') : held.join('')
    const isTooLong = heldCharacters > maxCharacters
    const text = !isTooLong && joined.endsWith('\r') ? joined.slice(0, -1) : joined
    number += 1
    const line = { number, text, characters: isTooLong ? heldCharacters : text.length, isTooLong }
    held = []
    heldCharacters = 0
    return line
  }

  for (let piece = readText(readBytes); piece !== null; piece = readText(readBytes)) {
    const lines: TextLine[] = []
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      hold(piece.slice(from, end))
      lines.push(finish())
      from = end + 1
    }
    if (from < piece.length) hold(piece.slice(from))
    if (lines.length > 0) yield lines
  }
  if (heldCharacters > 0) yield [finish()]
}
