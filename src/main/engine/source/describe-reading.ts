import type { PlanSource } from '../../../shared/plan/plan.ts'
import { getFormatTraits } from '../../../shared/plan/source-formats.ts'
import type { ReadAs } from '../../../shared/run/read-as.ts'
import type { SourceReader } from './source-reader.ts'

/** How each file of a source is read, as known so far; complete once every record was yielded. */
export function describeFiles(reader: SourceReader, source: PlanSource): readonly ReadAs[] {
  return reader.describeFiles?.() ?? [describeReading(reader, source)]
}

/** How one file is read, as known so far. */
export function describeReading(reader: SourceReader, source: PlanSource): ReadAs {
  const { format, encoding, encodingBy, delimiter, delimiterBy } = reader
  const { workbook, hidden, quoting, emptyRecords } = reader
  const { hasHeader, hasDelimiter } = getFormatTraits(format)
  return {
    format,
    ...(workbook !== null && {
      sheet: {
        name: workbook.sheet,
        of: workbook.sheets.length,
        by: source.sheet === undefined ? 'default' : 'given',
      },
    }),
    ...(encoding !== '' && { encoding: { name: encoding, by: encodingBy } }),
    ...(hasDelimiter && delimiter !== '' && { delimiter: { character: delimiter, by: delimiterBy } }),
    ...(hasHeader && toHeaderRow(source, hasDelimiter)),
    ...(quoting !== undefined && {
      quote: { character: quoting.quote, by: quoting.quoteBy },
      escape: { character: quoting.escape, by: quoting.escapeBy },
    }),
    ...(emptyRecords !== undefined && { empty: emptyRecords }),
    ...(source.rows !== undefined && { rows: source.rows }),
    ...(source.merged !== undefined && workbook !== null && { merged: source.merged }),
    ...(hidden !== undefined && { hidden: hidden.rows }),
    ...reader.describe?.(),
  }
}

/** The first row with cells in a sheet need not be row 1, so it is only known if it was named. */
function toHeaderRow({ header, headerRow }: PlanSource, isText: boolean): Pick<ReadAs, 'header_row'> {
  if (!header) return { header_row: null }
  const row = headerRow ?? (isText ? 1 : undefined)
  return row === undefined ? {} : { header_row: row }
}
