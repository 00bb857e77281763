import type { JsonExpectation } from '../../../../shared/messages/json-expectations.ts'
import { BEGINNING_CHARACTERS, type ReadText, type TextLine } from '../decoding/text-reader.ts'

/** The text of one row of JSON, a whole element instead of a line, and where it begins. */
export interface JsonElement extends TextLine {
  /** UTF-16 code units before it on its line. */
  column: number
  isInArray?: boolean
  /** The part missing at the end of the file. */
  lacks?: JsonExpectation
}

/** Beginning of a file that is examined: enough to tell lines from documents. */
const LOOKED_AT_CHARACTERS = 1024

/**
 * Whether a text is a JSON array, or JSON documents over several lines, rather than one object per line: it
 * begins with [, or its first line ends with a bracket that it opens.
 */
export function hasJsonElements(readText: ReadText, readBytes: number): boolean {
  let begins = ''
  for (let piece = readText(readBytes); piece !== null; piece = readText(readBytes)) {
    begins = (begins + piece).trimStart()
    if (begins.includes('\n') || begins.length >= LOOKED_AT_CHARACTERS) break
  }
  return begins.startsWith('[') || opensAtEndOfLine(begins)
}

/** Whether the first line is an object so far and ends with a bracket outside strings. */
function opensAtEndOfLine(begins: string): boolean {
  const line = /^(\{.*[[{]|\{)[ \t\r]*\n/.exec(begins)?.[1]
  return line !== undefined && !/"/.test(line.replace(/"(?:[^"\\]|\\.)*"/g, ''))
}

/**
 * Yields the elements of a JSON array once and in order, as many at a time as a read holds; outside an array,
 * or after one, document by document. Holds one read and one element of at most `maxCharacters`, and only the
 * beginning of a longer one.
 */
export function* readJsonElements(
  readText: ReadText,
  maxCharacters: number,
  readBytes: number,
): Generator<JsonElement[], void, undefined> {
  const splitter = new ElementSplitter(maxCharacters)
  for (let piece = readText(readBytes); piece !== null; piece = readText(readBytes)) {
    splitter.read(piece)
    const elements = splitter.take()
    if (elements.length > 0) yield elements
  }
  splitter.end()
  const rest = splitter.take()
  if (rest.length > 0) yield rest
}

const [TAB, LF, CR, SPACE, QUOTE, COMMA] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c]
const [OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5c, 0x5d, 0x7b, 0x7d]

/** Splits JSON text at the commas of its array, piece by piece, without checking that elements are JSON. */
class ElementSplitter {
  readonly #maxCharacters: number
  #elements: JsonElement[] = []
  #place: 'before' | 'array' | 'documents' = 'before'
  #isBehindComma = false
  #element: JsonElement | null = null
  #held: string[] = []
  #depth = 0
  #isInString = false
  #isEscaped = false
  #line = 1
  /** UTF-16 code units of the present line in earlier pieces. */
  #before = 0

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  take(): JsonElement[] {
    const elements = this.#elements
    this.#elements = []
    return elements
  }

  read(piece: string): void {
    let lineFrom = -this.#before
    let from = 0
    for (let at = 0; at < piece.length; at += 1) {
      const unit = piece.charCodeAt(at)
      if (this.#isInString) this.#readString(unit)
      else {
        if (this.#element === null && this.#begin(unit, at - lineFrom)) from = at
        const end = this.#element === null ? null : this.#findEnd(unit, at)
        if (end !== null) {
          this.#hold(piece.slice(from, end))
          this.#finish()
        }
      }
      if (unit === LF) {
        this.#line += 1
        lineFrom = at + 1
      }
    }
    if (this.#element !== null) this.#hold(piece.slice(from))
    this.#before = piece.length - lineFrom
  }

  /** Ends the text; an unclosed array yields an element that lacks its bracket. */
  end(): void {
    if (this.#element !== null) this.#finish()
    if (this.#place === 'array') this.#addEmpty(this.#before, 'closing_bracket')
  }

  #readString(unit: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (unit === BACKSLASH) this.#isEscaped = true
    else if (unit === QUOTE) this.#isInString = false
  }

  /** Handles a character between elements; returns whether one begins here. */
  #begin(unit: number, column: number): boolean {
    if (unit === SPACE || unit === LF || unit === CR || unit === TAB) return false
    if (this.#place === 'before') {
      this.#place = unit === OPEN_BRACKET ? 'array' : 'documents'
      if (this.#place === 'array') return false
    }
    if (this.#place === 'array' && (unit === COMMA || unit === CLOSE_BRACKET)) {
      if (unit === COMMA || this.#isBehindComma) this.#addEmpty(column)
      this.#isBehindComma = unit === COMMA
      if (unit === CLOSE_BRACKET) this.#place = 'documents'
      return false
    }
    this.#isBehindComma = false
    this.#depth = 0
    const isInArray = this.#place === 'array'
    this.#element = { number: this.#line, column, text: '', characters: 0, isTooLong: false, isInArray }
    return true
  }

  /** The end of the element if this character, outside strings, ends it. */
  #findEnd(unit: number, at: number): number | null {
    if (unit === QUOTE) this.#isInString = true
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) this.#depth += 1
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (this.#depth === 0 && this.#place === 'array' && unit === CLOSE_BRACKET) {
        this.#place = 'documents'
        return at
      }
      this.#depth = Math.max(0, this.#depth - 1)
      if (this.#depth === 0 && this.#place === 'documents') return at + 1
    } else if (this.#depth === 0 && this.#place === 'array' && unit === COMMA) {
      this.#isBehindComma = true
      return at
    } else if (this.#depth === 0 && this.#place === 'documents' && unit === LF) return at
    return null
  }

  #hold(part: string): void {
    const element = this.#element
    if (element === null) return
    element.characters += part.length
    if (element.characters <= this.#maxCharacters) this.#held.push(part)
    else {
      element.isTooLong = true
      this.#held = [(this.#held.join('') || part).slice(0, BEGINNING_CHARACTERS)]
    }
  }

  #finish(): void {
    const element = this.#element
    if (element === null) return
    element.text = this.#held.join('').trimEnd()
    this.#held = []
    this.#element = null
    this.#isInString = false
    this.#isEscaped = false
    this.#elements.push(element)
  }

  #addEmpty(column: number, lacks?: JsonExpectation): void {
    const element = { number: this.#line, column, text: '', characters: 0, isTooLong: false }
    this.#elements.push(lacks === undefined ? element : { ...element, lacks })
  }
}
