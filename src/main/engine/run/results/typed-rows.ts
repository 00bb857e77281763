import { SluiceError } from '../../../../shared/messages/errors.ts'
import { nameRow, parseRowNumber, type TypedRow, toRowNumber } from '../../../../shared/plan/source-place.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { readPlaces } from './row-places.ts'

/** The record of a row that a person named. Throws `BAD_USAGE` if the run does not have exactly one. */
export function findTypedRow(family: RunFamily, text: string): number {
  const { record } = family
  const typed = parseRowNumber(text)
  const records = typed === null ? [] : findRecords(family, [typed])[0]?.records
  const [found, other] = records ?? []
  if (found === undefined) {
    const { source } = record.plan
    throw new SluiceError({
      id: 'row_not_found',
      runId: record.runId,
      row: text,
      source: source.path,
      rows: record.rowsRead,
    })
  }
  if (other !== undefined) throw toSeveral(family, text, records ?? [])
  return found
}

/** The error of a number that several rows of a run have. */
export function toSeveral(family: RunFamily, row: string, records: readonly number[]): SluiceError {
  const candidates = [...readPlaces(family, records).values()].map(({ file, ...place }) =>
    nameRow({ row: toRowNumber(place), file }),
  )
  return new SluiceError({ id: 'row_not_single', runId: family.record.runId, row, candidates })
}

/** For each row that a person named, the records it can be: none, one or several. */
export function findRecords<Typed extends TypedRow>(
  family: RunFamily,
  typed: readonly Typed[],
): { typed: Typed; records: number[] }[] {
  const chains = family.members.flatMap(readChains)
  const candidates = typed.map((one) => ({
    typed: one,
    records: [...new Set(chains.flatMap((chain) => findIn(chain, one.row)))],
  }))
  const places = readPlaces(family, [...new Set(candidates.flatMap(({ records }) => records))])
  return candidates.map(({ typed: one, records }) => ({
    typed: one,
    records: records
      .filter((record) => {
        const place = places.get(record)
        if (place?.row !== one.row || (one.half !== null && place.half !== one.half)) return false
        return one.file === null || place.file === one.file
      })
      .sort((a, b) => a - b),
  }))
}

/** Records whose rows ascend without overlap: each entry applies from its record to the next one's. */
interface Chain {
  records: readonly number[]
  rows: readonly number[]
  /** The first record after the chain. */
  end: number
}

/** The noted places of a run as chains: one per file, and one for the second halves of split records. */
function readChains({ db }: RunView): Chain[] {
  const notes = db
    .prepare('SELECT row, sheet_row FROM row_place ORDER BY row')
    .all()
    .map((note) => [Number(note['row']), Number(note['sheet_row'])] as const)
  // Records before the first note are their own number.
  const chains: { records: number[]; rows: number[]; end: number }[] = []
  for (const [record, row] of [[1, 1] as const, ...notes]) {
    const last = chains.at(-1)
    const [from = 0, first = 0] = [last?.records.at(-1), last?.rows.at(-1)]
    if (last !== undefined && first + record - from <= row) {
      last.records.push(record)
      last.rows.push(row)
      continue
    }
    if (last !== undefined) last.end = record
    chains.push({ records: [record], rows: [row], end: Number.POSITIVE_INFINITY })
  }
  return chains
}

function findIn({ records, rows, end }: Chain, row: number): number[] {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle] ?? 0) <= row) low = middle + 1
    else high = middle
  }
  const at = low - 1
  const [from, first] = [records[at], rows[at]]
  if (from === undefined || first === undefined) return []
  const record = from + row - first
  return record < (records[at + 1] ?? end) ? [record] : []
}
