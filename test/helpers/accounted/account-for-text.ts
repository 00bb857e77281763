import type { ReadSource } from '../../main/engine/source/read-source.ts'

/** The parts of a read text from which every character can be found again. */
export type AccountedSource = Pick<ReadSource, 'header' | 'rows' | 'told' | 'delimiter' | 'quoting'>

/**
 * Finds every character of a delimited text again: in a cell at its place, as a delimiter, a line end, or a
 * quote or escape where these are allowed, or in the reported problems. Returns what is unaccounted for, ''
 * if nothing. It follows the cells along the text without knowing how they were read.
 */
export function findUnaccounted(text: string, source: AccountedSource): string {
  const findings = (['\n', '\r'] as const).map((newline) => new Account(text, source, newline).findFault())
  return findings.includes('') ? '' : (findings[0] ?? '')
}

/** How far a record's reported problems allow its cells to deviate from the syntax. */
interface Told {
  /**
   * Quotes may be literal text, and stay open to the end of the text or, if the row is not sent, of a line.
   */
  quotes: boolean
  /** Unquoted cells may contain line ends. */
  lineEnds: boolean
  /** The row is not sent; its cells may be literal text. */
  error: boolean
}

class Account {
  readonly #text: string
  readonly #source: AccountedSource
  readonly #newline: '\n' | '\r'
  readonly #quote: string
  readonly #escape: string

  constructor(text: string, source: AccountedSource, newline: '\n' | '\r') {
    const padding = source.told.find((warning) => warning.code === 'zero_padding')
    const { characters = 0 } = (padding as { args?: { characters?: number } } | undefined)?.args ?? {}
    this.#text = text.slice(0, text.length - characters)
    this.#source = source
    this.#newline = newline
    this.#quote = source.quoting?.quote ?? '"'
    this.#escape = source.quoting?.escape ?? ''
  }

  findFault(): string {
    const { header, rows, told } = this.#source
    const empty = told.find(({ code }) => code === 'empty_records')?.rows ?? 0
    let places = [{ at: 0, empty: 0 }]
    if (header !== null) {
      // Records above the header have no text, and do not count.
      places = this.#skipEmpty(places).map(({ at }) => ({ at, empty: 0 }))
      places = this.#follow(places, header, {
        quotes: !header.some(hasLineEnd),
        lineEnds: true,
        error: false,
      })
      if (places.length === 0) return `header ${JSON.stringify(header)}`
    }
    for (const { row, cells, problems } of rows) {
      const codes = new Set(problems.map(({ code }) => code))
      const error = problems.some(({ severity }) => severity === 'error')
      const surplus = header === null ? [] : cells.slice(header.length)
      if (!error && surplus.some((cell) => cell !== '')) return `row ${row} has text where no column is`
      const said = {
        quotes: codes.has('broken_quotes'),
        lineEnds: error || codes.has('stray_line_break'),
        error,
      }
      places = this.#follow(this.#skipEmpty(places), cells, said)
      if (places.length === 0) return `row ${row} ${JSON.stringify(cells)}`
    }
    const ends = this.#skipEmpty(places)
    if (ends.some((end) => end.at === this.#text.length && end.empty === empty)) return ''
    const last = ends.map(
      ({ at, empty: found }) => `${found} empty, then ${JSON.stringify(this.#text.slice(at))}`,
    )
    return `the end, ${empty} empty told: ${last.join(' or ')}`
  }

  /** The same places, and the places after empty records. */
  #skipEmpty(places: readonly { at: number; empty: number }[]): { at: number; empty: number }[] {
    const found = [...places]
    for (const { at, empty } of found) {
      if (at === this.#text.length) continue
      for (const end of this.#findEmptyEnds(at)) found.push({ at: end, empty: empty + 1 })
    }
    return found
  }

  #findEmptyEnds(from: number): number[] {
    const cell = this.#quote === '' ? '' : this.#quote + this.#quote
    let at = from
    for (;;) {
      if (cell !== '' && this.#text.startsWith(cell, at)) at += cell.length
      const { delimiter } = this.#source
      if (delimiter === '' || !this.#text.startsWith(delimiter, at)) break
      at += delimiter.length
    }
    return this.#findLineEnds(at)
  }

  /** Where the next line begins, if the one before ends here. */
  #findLineEnds(at: number): number[] {
    if (at === this.#text.length) return [at]
    if (this.#text[at] === this.#newline) return [at + 1]
    // A CR at the very end is the beginning of a CRLF.
    const isReturn = this.#newline === '\n' && /^\r(?:\n|$)/.test(this.#text.slice(at, at + 2))
    return isReturn ? [Math.min(at + 2, this.#text.length)] : []
  }

  /** Where the next record may begin if a record with these cells begins at one of the places. */
  #follow(
    places: readonly { at: number; empty: number }[],
    cells: readonly string[],
    told: Told,
  ): { at: number; empty: number }[] {
    const { delimiter } = this.#source
    return places.flatMap(({ at, empty }) => {
      let starts = new Set([at])
      let ends = new Set<number>()
      for (const [index, cell] of cells.entries()) {
        ends = new Set([...starts].flatMap((start) => this.#findCellEnds(start, cell, told)))
        if (index === cells.length - 1) break
        starts = new Set()
        for (const end of ends) if (this.#text.startsWith(delimiter, end)) starts.add(end + delimiter.length)
      }
      const next = new Set([...ends].flatMap((end) => this.#findLineEnds(end)))
      return [...next].map((end) => ({ at: end, empty }))
    })
  }

  #findCellEnds(from: number, cell: string, told: Told): number[] {
    const ends = new Set<number>()
    if (told.error && this.#text.startsWith(cell, from)) ends.add(from + cell.length)
    if (this.#quote !== '' && this.#text[from] === this.#quote) {
      this.#followQuoted(from + 1, cell, 0, false, told, ends)
    } else {
      const end = this.#followPlain(from, cell, told)
      if (end !== null) ends.add(end)
    }
    return [...ends]
  }

  /** Outside of quotes a cell is literal text, except for escapes; it ends before a delimiter or line end. */
  #followPlain(from: number, cell: string, told: Told): number | null {
    const { delimiter } = this.#source
    let at = from
    let escapedUntil = from
    for (const character of cell.split('')) {
      const escapable = [delimiter, this.#newline, this.#quote, this.#escape]
      if (at >= escapedUntil && this.#text[at] === this.#escape) {
        const isCrlf = this.#newline === '\n' && this.#text.startsWith('\r\n', at + 1)
        if (isCrlf || isOneOf(this.#text[at + 1], escapable)) {
          at += 1
          escapedUntil = at + (isCrlf ? 2 : 1)
        }
      }
      if (at < escapedUntil) {
        // Any character may be escaped.
      } else if (character === delimiter || (isLineEnd(character) && !told.lineEnds)) return null
      if (this.#text[at] !== character) return null
      at += 1
    }
    return at
  }

  #followQuoted(
    at: number,
    cell: string,
    done: number,
    isClosed: boolean,
    told: Told,
    ends: Set<number>,
  ): void {
    const [quote, escaping] = [this.#quote, this.#escape]
    const [one, next, character] = [this.#text[at], this.#text[at + 1], cell[done]]
    const isAll = done === cell.length
    const mayStayOpen =
      told.quotes && (at === this.#text.length || (told.error && this.#findLineEnds(at).length > 0))
    if (isAll && (isClosed || mayStayOpen)) ends.add(at)
    if (one === undefined) return
    if (isClosed) {
      // Only white space may follow the quote.
      if (one === character && one.trim() === '' && (told.lineEnds || !isLineEnd(one))) {
        this.#followQuoted(at + 1, cell, done + 1, true, told, ends)
      }
      return
    }
    const isEscaped = isOneOf(one, [escaping]) && isOneOf(next, [quote, escaping])
    if (isEscaped) {
      if (next === character) this.#followQuoted(at + 2, cell, done + 1, false, told, ends)
      if (!told.quotes) return
    }
    if (one === quote) {
      if (next === quote && character === quote) this.#followQuoted(at + 2, cell, done + 1, false, told, ends)
      if (told.quotes && character === quote) this.#followQuoted(at + 1, cell, done + 1, false, told, ends)
      if (next !== quote || told.quotes || isAll) this.#followQuoted(at + 1, cell, done, true, told, ends)
    } else if (one === character) this.#followQuoted(at + 1, cell, done + 1, false, told, ends)
  }
}

function isOneOf(character: string | undefined, characters: readonly string[]): boolean {
  return character !== undefined && character !== '' && characters.includes(character)
}

function isLineEnd(character: string): boolean {
  return character === '\n' || character === '\r'
}

function hasLineEnd(text: string): boolean {
  return /[\r\n]/.test(text)
}
