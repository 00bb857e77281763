import Papa from 'papaparse'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { getFormatTraits } from '../../../../shared/plan/source-formats.ts'
import type { SourceReader } from '../source-reader.ts'

/** The delimiter of a source and how it was found. */
export interface ChosenDelimiter {
  delimiter: string
  delimiterBy: SourceReader['delimiterBy']
}

/** In order of preference where two of them split the rows equally well. */
const CANDIDATES = [',', ';', '\t', '|'] as const

const SAMPLE_RECORDS = 500

/**
 * The delimiter that the person gave, else the one that the file's own first line declares, else the format's own,
 * else the one that splits the sample's records most evenly. Throws `BAD_SOURCE` for a character that cannot delimit.
 */
export function chooseDelimiter(
  source: PlanSource,
  sampleText: string,
  newline: '\n' | '\r',
  declared: string | undefined,
): ChosenDelimiter {
  const given = source.delimiter ?? declared
  if (given !== undefined) {
    if (Papa.BAD_DELIMITERS.includes(given)) {
      throw new SluiceError({ id: 'delimiter_unusable', source: source.path, delimiter: given })
    }
    return { delimiter: given, delimiterBy: 'given' }
  }
  const fixed = getFormatTraits(source.format ?? 'csv').delimiter
  if (fixed !== undefined) return { delimiter: fixed, delimiterBy: 'ending' }
  return { delimiter: guessDelimiter(sampleText, newline), delimiterBy: 'guess' }
}

function guessDelimiter(sampleText: string, newline: '\n' | '\r'): string {
  let best = { delimiter: ',', evenness: 0, cells: 1 }
  for (const delimiter of CANDIDATES) {
    const config = { delimiter, newline, preview: SAMPLE_RECORDS }
    const records: string[][] = new Papa.Parser(config).parse(sampleText, 0, false).data
    const { cells, share } = findUsualLength(records)
    if (cells < 2) continue
    if (share > best.evenness || (share === best.evenness && cells > best.cells)) {
      best = { delimiter, evenness: share, cells }
    }
  }
  return best.delimiter
}

/**
 * How many cells most records have, blank lines aside, and which share of them has that many; where two lengths are
 * equally usual, the one met first.
 */
export function findUsualLength(records: readonly (readonly string[])[]): { cells: number; share: number } {
  const lengths = new Map<number, number>()
  let counted = 0
  for (const record of records) {
    if (isBlank(record)) continue
    counted += 1
    lengths.set(record.length, (lengths.get(record.length) ?? 0) + 1)
  }
  let usual = { cells: 0, share: 0 }
  for (const [cells, count] of lengths) {
    if (count / counted > usual.share) usual = { cells, share: count / counted }
  }
  return usual
}

/** Whether a record is a line without a character in it, or one empty cell in quotes. */
export function isBlank(record: readonly string[]): boolean {
  return record.length === 1 && record[0] === ''
}

/** What a first line such as `sep=;` says to a spreadsheet; it is neither header nor row. */
export interface SeparatorLine {
  delimiter: string
  /** Characters up to the line that follows. */
  characters: number
}

const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i

/** Reads the line with which spreadsheets are told the delimiter, or returns null where a text has none. */
export function findSeparatorLine(text: string): SeparatorLine | null {
  const found = SEPARATOR_LINE.exec(text)
  return found === null ? null : { delimiter: found[1] ?? ',', characters: found[0].length }
}

/**
 * What ends a line. `\n` serves CRLF as well, and files that mix both: the record parser takes the `\r` off. A lone
 * `\r` is taken for a line end only where the sample has no other outside quotes, as old Macintosh programs wrote.
 */
export function chooseNewline(sampleText: string): '\n' | '\r' {
  if (!sampleText.includes('\r')) return '\n'
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
