import { formatCount } from '../../shared/messages/figure-text.ts'
import type { SourcePlace } from '../../shared/plan/source-place.ts'

/** A row's number as the spreadsheet shows it; its other numbers are told when it is pointed at. */
export function RowNumber({ row, place }: { row: number; place: SourcePlace | undefined }) {
  return <span title={describePlace(row, place)}>{formatCount(place?.row ?? row)}</span>
}

/** The line of the file where that is another number, and the record's number, by which exports and commands know it. */
export function describePlace(row: number, place: SourcePlace | undefined): string {
  const line = place?.line ?? null
  return `${line === null ? '' : `line ${formatCount(line)} of the file, `}record ${formatCount(row)}`
}
