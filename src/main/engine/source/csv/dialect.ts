import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { getFormatTraits } from '../../../../shared/plan/source-formats.ts'
import { findLikelyHeader, HEAD_RECORDS } from '../likely-header.ts'
import type { Quoting, SourceReader } from '../source-reader.ts'
import { type ExactRecord, parseOpenRecord, parseRecord, type RecordSyntax } from './parse-exactly.ts'

/** How a source is split into cells, and how each part of that was determined. */
export interface Dialect extends RecordSyntax, Quoting {
  delimiterBy: SourceReader['delimiterBy']
}

/** In order of preference if two of them split the records equally well. */
const DELIMITERS = [',', ';', '\t', '|'] as const

const SAMPLE_RECORDS = 2_000

/**
 * Determines how a text is split into cells. What the person gave is used as it is; then comes what the
 * file's own first line `declared`, then the format's default.
 *
 * A guess never cuts text: a delimiter missing from the header is none, and if no candidate splits the
 * header, each record is one cell. Quotes other than `"`, and a backslash as their escape, are guessed only
 * if the usual reading breaks quotes or gives records too many cells and the other one does not, or if
 * escaped line breaks make more records as wide as the header. Throws `BAD_SOURCE` for a character that
 * cannot delimit or quote.
 */
export function chooseDialect(source: PlanSource, sample: Sample, declared: string | undefined): Dialect {
  const quotes = source.quote === undefined ? ['"', "'"] : [source.quote === 'none' ? '' : source.quote]
  const escapes = source.escape === undefined ? ['', '\\'] : [source.escape === 'none' ? '' : source.escape]
  const delimiters = listDelimiters(source, declared)
  const candidates = quotes
    .filter((_, index) => index === 0 || CELL_IN_APOSTROPHES.test(sample.text))
    .flatMap((quote) =>
      escapes
        .filter((character, index) => index === 0 || hasEscapes(sample.text, quote, character))
        // A quote that escapes itself is a doubled quote.
        .map((character) => ({ quote, escape: character === quote ? '' : character }))
        .map((characters) => readSample(source, sample, delimiters.characters, characters)),
    )
  const [usual, ...others] = candidates
  if (usual === undefined) throw new Error('no way to read the sample')
  let best = usual
  for (const other of others) {
    const isContinued =
      hasEscapedBreak(sample.text, other.syntax.escape) &&
      other.syntax.quote === best.syntax.quote &&
      other.broken <= best.broken &&
      other.tooWide <= best.tooWide &&
      other.share > best.share
    if (isContinued || (other.broken === 0 && other.isQuoted && isWorse(best, other))) best = other
  }
  refuseUnusable(source, best.syntax)
  return {
    ...best.syntax,
    delimiterBy: delimiters.by,
    quoteBy: source.quote !== undefined ? 'given' : best.syntax.quote === '"' ? 'default' : 'guess',
    escapeBy: source.escape !== undefined ? 'given' : best.syntax.escape === '' ? 'default' : 'guess',
  }
}

/** The beginning of a text. */
export interface Sample {
  text: string
  /** Whether the text continues after it. */
  isCut: boolean
}

const CELL_IN_APOSTROPHES = /(?:^|[,;\t|\r\n])'/

function listDelimiters(
  source: PlanSource,
  declared: string | undefined,
): { characters: readonly string[]; by: SourceReader['delimiterBy'] } {
  const given = source.delimiter === 'none' ? '' : (source.delimiter ?? declared)
  if (given !== undefined) return { characters: [given], by: 'given' }
  const fixed = getFormatTraits(source.format ?? 'csv').delimiter
  if (fixed !== undefined) return { characters: [fixed], by: 'ending' }
  return { characters: DELIMITERS, by: 'guess' }
}

/** Line ends delimit records, and no character can have two meanings. */
function refuseUnusable(source: PlanSource, { delimiter, quote, escape: escaping }: RecordSyntax): void {
  const isUnusable = (character: string) => /^[\r\n\uFEFF\p{Surrogate}]$/u.test(character)
  if (isUnusable(delimiter) || (delimiter !== '' && (delimiter === quote || delimiter === escaping))) {
    throw new SluiceError({ id: 'delimiter_unusable', source: source.path, delimiter })
  }
  if (/[“”„‟«»]/.test(quote)) {
    throw new SluiceError({ id: 'quote_is_curly', source: source.path, character: quote })
  }
  const wrong = [quote, escaping].find(isUnusable)
  if (wrong !== undefined) {
    throw new SluiceError({ id: 'quote_unusable', source: source.path, character: wrong })
  }
}

function hasEscapes(text: string, quote: string, escaping: string): boolean {
  return (
    (quote !== '' && text.includes(escaping + quote)) ||
    hasEscapedBreak(text, escaping) ||
    DELIMITERS.some((delimiter) => text.includes(escaping + delimiter))
  )
}

function hasEscapedBreak(text: string, escaping: string): boolean {
  return escaping !== '' && (text.includes(`${escaping}\n`) || text.includes(`${escaping}\r\n`))
}

interface SampleReading {
  syntax: RecordSyntax
  /** Records with a broken or stray quote. */
  broken: number
  /** Records with more cells than the header, or than is usual. */
  tooWide: number
  /** Share of the records with as many cells as the header, or as is usual. */
  share: number
  cells: number
  /** Whether this quote encloses cells of the first record, or what would otherwise be cut. */
  isQuoted: boolean
}

function isWorse(one: SampleReading, other: SampleReading): boolean {
  if (one.broken !== other.broken) return one.broken > other.broken
  if (one.tooWide !== other.tooWide) return one.tooWide > other.tooWide
  // A header in other quotes shows which quotes are used.
  return other.syntax.quote !== one.syntax.quote && other.share >= one.share
}

/** Reads a sample with the best of several delimiters, or without one if none splits it. */
function readSample(
  source: PlanSource,
  { text, isCut }: Sample,
  delimiters: readonly string[],
  quoting: Pick<RecordSyntax, 'quote' | 'escape'>,
): SampleReading {
  const newline = chooseNewline(text, quoting.quote)
  const whole = isCut || text.endsWith(newline) ? text : text + newline
  const read = (delimiter: string) =>
    measure(source, { text: whole, isCut }, { ...quoting, delimiter, newline })
  if (delimiters.length === 1) return read(delimiters[0] ?? '')
  let best: SampleReading | null = null
  for (const delimiter of delimiters) {
    const one = read(delimiter)
    if (one.cells < 2) continue
    if (best === null || one.share > best.share || (one.share === best.share && one.cells > best.cells)) {
      best = one
    }
  }
  return best ?? read('')
}

function measure(source: PlanSource, { text, isCut }: Sample, syntax: RecordSyntax): SampleReading {
  const { records, isOpen } = readRecords({ text, isCut }, syntax)
  const headerIndex = source.header ? findHeader(records, source.headerRow) : -1
  const header = records[headerIndex]
  const rows = records.slice(headerIndex + 1).filter((record) => !isEmptyRecord(record.cells))
  const usual = findUsualLength(rows.map((record) => record.cells))
  const isProse = header === undefined && isProseCut(rows, syntax.delimiter)
  // A record may be longer than the sample.
  const open = records.length === 0 ? parseOpenRecord(text, syntax).length : usual.cells
  const cells = header === undefined ? (isProse ? 1 : open) : header.cells.length
  const named = header === undefined ? cells : header.cells.findLastIndex((name) => name.trim() !== '') + 1
  const asMany = rows.filter((record) => record.cells.length === cells).length
  const inQuotes = (record: ExactRecord, of: 'every' | 'some') =>
    record.bounds.slice(0, -1)[of]((at) => text[at] === syntax.quote)
  return {
    syntax,
    broken:
      records.filter((record) => record.fault !== null || record.hasStrayQuote).length + (isOpen ? 1 : 0),
    tooWide: rows.filter((record) => record.cells.slice(named).some((cell) => cell !== '')).length,
    share: rows.length === 0 ? 1 : asMany / rows.length,
    cells,
    isQuoted:
      syntax.quote === '"' ||
      [...(header === undefined ? [] : [header]), ...rows].every((record, index) =>
        inQuotes(record, header === undefined || index === 0 ? 'every' : 'some'),
      ) ||
      (syntax.delimiter !== '' &&
        rows.some((record) => record.cells.some((cell) => cell.includes(syntax.delimiter)))),
  }
}

/** The record that names the columns: the one with the number the person gave, else the first not empty. */
function findHeader(records: readonly ExactRecord[], headerRow: number | undefined): number {
  if (headerRow !== undefined) return headerRow - 1
  return records.findIndex(({ cells }) => !isEmptyRecord(cells))
}

/**
 * The record that looks like the header below titles, with the text's delimiter; if none was found because
 * the titles have none, with one that splits the records below them evenly.
 */
export function findLikelyHeaderRow(sampleText: string, dialect: Dialect): number | null {
  const isOpen = dialect.delimiter === '' && dialect.delimiterBy === 'guess'
  for (const delimiter of isOpen ? DELIMITERS : [dialect.delimiter]) {
    const { records } = readRecords(
      { text: sampleText, isCut: true },
      { ...dialect, delimiter },
      HEAD_RECORDS,
    )
    const head = records.map(({ cells }, index) => ({ number: index + 1, cells }))
    const likely = findLikelyHeader(head)
    if (likely === null) continue
    const below = head.slice(likely - 1).filter(({ cells }) => !isEmptyRecord(cells))
    // Prose that a comma happens to split is not a table.
    if (!isOpen || below.every(({ cells }) => cells.length === below[0]?.cells.length)) return likely
  }
  return null
}

/** Whether what follows the delimiter mostly begins with a space, like words after a comma. */
function isProseCut(rows: readonly ExactRecord[], delimiter: string): boolean {
  if (delimiter === '\t' || delimiter === '|') return false
  const behind = rows.flatMap(({ cells }) => cells.slice(1))
  return behind.length > 0 && behind.filter((cell) => cell.startsWith(' ')).length > behind.length / 2
}

/** First whole records of a text, and whether a quote stays open to its end, or for long in a cut text. */
function readRecords(
  { text, isCut }: Sample,
  syntax: RecordSyntax,
  limit = SAMPLE_RECORDS,
): { records: ExactRecord[]; isOpen: boolean } {
  const records: ExactRecord[] = []
  let at = 0
  while (at < text.length && records.length < limit) {
    const record = parseRecord(text, at, syntax)
    if (record === null) break
    records.push(record)
    at = record.end
  }
  const rest = text.slice(at)
  const isOpen =
    records.length < limit && (isCut ? rest.split(syntax.newline).length > OPEN_LINES : rest !== '')
  return { records, isOpen }
}

/** In a cut sample, a record with more lines than this is considered one whose quote is never closed. */
const OPEN_LINES = 50

/** The number of cells in most records, and the share of these; of two equally usual lengths, the first. */
export function findUsualLength(records: readonly (readonly string[])[]): { cells: number; share: number } {
  const lengths = new Map<number, number>()
  let counted = 0
  for (const record of records) {
    if (isEmptyRecord(record)) continue
    counted += 1
    lengths.set(record.length, (lengths.get(record.length) ?? 0) + 1)
  }
  let usual = { cells: 0, share: 0 }
  for (const [cells, count] of lengths) {
    if (count / counted > usual.share) usual = { cells, share: count / counted }
  }
  return usual
}

/** Whether all cells of a record are empty, as in a blank line or one of only delimiters. */
export function isEmptyRecord(record: readonly string[]): boolean {
  for (const cell of record) if (cell !== '') return false
  return true
}

/** The meaning of a first line such as `sep=;` to a spreadsheet; it is neither header nor row. */
export interface SeparatorLine {
  delimiter: string
  /** Characters up to the next line. */
  characters: number
}

const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i

/** Reads the line that tells spreadsheets the delimiter; null if a text has none. */
export function findSeparatorLine(text: string): SeparatorLine | null {
  const found = SEPARATOR_LINE.exec(text)
  return found === null ? null : { delimiter: found[1] ?? ',', characters: found[0].length }
}

/**
 * The end of a line. `\n` covers CRLF, and files that mix both: the record parser removes the `\r`. A lone
 * `\r` is a line end only if the sample has no other outside quotes, as old Macintosh programs wrote.
 */
function chooseNewline(sampleText: string, quote: string): '\n' | '\r' {
  if (!sampleText.includes('\r')) return '\n'
  // Apostrophes also occur in words, where they open nothing.
  if (quote !== '"') return sampleText.includes('\n') ? '\n' : '\r'
  let inQuotes = false
  let hasLoneReturn = false
  for (let index = 0; index < sampleText.length; index += 1) {
    const character = sampleText.charCodeAt(index)
    if (character === 0x22) inQuotes = !inQuotes
    else if (inQuotes) continue
    else if (character === 0x0a) return '\n'
    else if (character === 0x0d) hasLoneReturn = true
  }
  return hasLoneReturn ? '\r' : '\n'
}
