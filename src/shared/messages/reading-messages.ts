import { getFormatTraits } from '../plan/source-formats.ts'
import type { ReadAs } from '../run/read-as.ts'
import type { Surface } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'

export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
}

/** Whether a guess about a file's reading could be wrong; a comma does not count, as CSV usually has one. */
export function hasGuess({
  format_by: formatBy,
  encoding,
  encodings = [],
  delimiter,
  quote,
  escape: escaping,
  sheet,
}: ReadAs): boolean {
  const guessed = [encoding, ...encodings, quote, escaping, sheet].some((part) => part?.by === 'guess')
  return guessed || formatBy === 'guess' || (delimiter?.by === 'guess' && delimiter.character !== ',')
}

/**
 * How a file is read, on one line without a full stop: `CSV: UTF-8, comma, header in row 1`. Guesses include
 * the option that states them.
 */
export function sayReadAs(readAs: ReadAs, surface: Surface): string {
  const {
    format,
    encoding,
    encodings = [],
    delimiter,
    quote,
    escape: escaping,
    header_row: headerRow,
    sheet,
    empty,
    hidden,
    split_lines: splitLines,
  } = readAs
  const toGuess = (isGuess: boolean, option: string) =>
    !isGuess ? '' : surface === 'terminal' ? ` (guessed; to state it, add ${option})` : ' (guessed)'
  const parts = [
    ...(sheet === undefined
      ? []
      : [
          `sheet "${sheet.name}"${sheet.of > 1 ? ` of ${sheet.of}` : ''}${toGuess(sheet.by === 'guess', '--sheet NAME')}`,
        ]),
    ...(encoding === undefined
      ? []
      : [nameEncoding(encoding.name) + toGuess(encoding.by === 'guess', '--encoding NAME')]),
    ...joinAlike(encodings).map(({ name, by, files, first }) => {
      const of = files === 1 ? first : formatCounted(files, 'file')
      return `${nameEncoding(name)} (${of})${toGuess(by === 'guess', '--encoding NAME')}`
    }),
    ...(delimiter === undefined || delimiter.character === ''
      ? []
      : [
          (DELIMITER_NAMES[delimiter.character] ?? `\`${delimiter.character}\``) +
            toGuess(delimiter.by === 'guess' && delimiter.character !== ',', '--delimiter CHARACTER'),
        ]),
    ...(quote === undefined || quote.by === 'default'
      ? []
      : [
          (quote.character === '' ? 'cells without quotes' : `quotes ${quote.character}`) +
            toGuess(quote.by === 'guess', '--quote CHARACTER'),
        ]),
    ...(escaping === undefined || escaping.by === 'default'
      ? []
      : [
          (escaping.character === '' ? 'doubled quotes' : `quotes escaped by ${escaping.character}`) +
            toGuess(escaping.by === 'guess', '--escape CHARACTER'),
        ]),
    ...(headerRow === undefined ? [] : [headerRow === null ? 'no header' : `header in row ${headerRow}`]),
    ...(readAs.rows === 'visible' ? ['visible rows only'] : []),
    ...(readAs.merged === 'fill' ? ['merged cells filled'] : []),
    ...(readAs.merged === 'empty' ? ['merged cells left empty'] : []),
    ...(readAs.links === undefined ? [] : [`links of ${readAs.links.join(', ')}`]),
    ...(splitLines === undefined
      ? []
      : [`${formatCounted(splitLines, 'line')} with several inputs, a row for each`]),
    ...(empty === undefined || empty === 0 ? [] : [`${formatCounted(empty, 'empty record')} skipped`]),
    ...(hidden === undefined || hidden === 0 ? [] : [formatCounted(hidden, 'hidden row')]),
  ]
  // Also reads an array, or a single object over several lines.
  const named = format === 'jsonl' ? 'JSON' : getFormatTraits(format).name
  const name = named + toGuess(readAs.format_by === 'guess', `--format ${format}`)
  return parts.length === 0 ? name : `${name}: ${parts.join(', ')}`
}

/** Counts files together whose encoding is told alike: a byte-order mark makes no difference to a reader. */
function joinAlike(encodings: NonNullable<ReadAs['encodings']>): NonNullable<ReadAs['encodings']> {
  const alike = Map.groupBy(encodings, ({ name, by }) => `${name} ${by === 'guess'}`)
  return [...alike.values()].flatMap(([one, ...others]) => {
    if (one === undefined) return []
    const files = others.reduce((sum, other) => sum + other.files, one.files)
    return [{ ...one, files }]
  })
}

/**
 * How each file of a source is read, in the words of {@link sayReadAs}; with its name if there are several.
 */
export function listReadAs(files: readonly ReadAs[], surface: Surface): string[] {
  return files.map(
    (readAs) => `${readAs.file === undefined ? '' : `${readAs.file}: `}${sayReadAs(readAs, surface)}`,
  )
}

/** An encoding as people write it: `UTF-8`, `UTF-16LE`, `windows-1252`. */
export function nameEncoding(name: string): string {
  return name.replace(/^utf-/, 'UTF-').replace(/(?<=^UTF-16)(le|be)$/, (end) => end.toUpperCase())
}
