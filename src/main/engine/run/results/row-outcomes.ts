import type { RowState } from '../../../../shared/run/item-state.ts'
import { type DatabaseSync, readTuple, readTuples, toPlaces } from '../../workspace/sqlite.ts'

/** Above the first row number, up to the second, at most 50,000 rows: each fits in one character. */
type Range = readonly [above: number, upTo: number]

type Outcome = [
  row: number,
  state: RowState,
  errorCode: string | null,
  answer: string | null,
  attempts: number,
  durationUs: number | null,
  callbackUs: number | null,
]

/** Most rows: answered at the first try, with nothing else to note. */
const IS_PLAIN = `state = 'succeeded' AND error_code IS NULL AND answer IS NULL AND attempts = 1
  AND duration_us IS NOT NULL AND callback_us IS NULL`

// Handing a row over takes longer than finding it, so places of rows are encoded as characters, from 1.
const RESULTS = `SELECT count(*), group_concat(char(row - ?1), '') FILTER (WHERE NOT (${IS_PLAIN})),
  '[' || group_concat(duration_us) FILTER (WHERE ${IS_PLAIN}) || ']'
  FROM result NOT INDEXED WHERE row > ?1 AND row <= ?2`

/**
 * Outcomes of a stretch of rows: the microseconds of each plain row, by place (NaN for others), and the
 * outcome of the others, by row.
 */
export function readOutcomes(
  db: DatabaseSync,
  range: Range,
): { durations: Float64Array; others: ReadonlyMap<number, Outcome> } {
  const [above, upTo] = range
  const width = upTo - above
  const durations = new Float64Array(width)
  const [count, unplain, plain] = readTuple<[number, string | null, string | null]>(db, RESULTS, range)
  const isFull = count === width
  if (isFull) {
    for (const place of toPlaces(unplain)) durations[place] = Number.NaN
    const took = JSON.parse(plain ?? '[]') as number[]
    let at = 0
    for (let place = 0; place < width; place += 1) {
      if (!Number.isNaN(durations[place])) durations[place] = took[at++] ?? Number.NaN
    }
    if (unplain === null) return { durations, others: new Map() }
  } else durations.fill(Number.NaN)
  const others = readTuples<Outcome>(
    db,
    `SELECT row, state, error_code, answer, attempts, duration_us, callback_us FROM result NOT INDEXED
     WHERE row > ? AND row <= ? ${isFull ? `AND NOT (${IS_PLAIN})` : ''}`,
    range,
  )
  return { durations, others: new Map(others.map((outcome) => [outcome[0], outcome])) }
}

const ROWS = `SELECT group_concat(char(id - ?1), '') FROM row WHERE id > ?1 AND id <= ?2`

/** The existing rows in a stretch, ascending. */
export function listRows(db: DatabaseSync, range: Range): number[] {
  const [above, upTo] = range
  const [count] = readTuple<[number]>(db, 'SELECT count(*) FROM row WHERE id > ? AND id <= ?', range)
  if (count === upTo - above) return Array.from({ length: count }, (_, place) => above + place + 1)
  const places = toPlaces(readTuple<[string | null]>(db, ROWS, range)[0]).sort()
  return Array.from(places, (place) => above + place + 1)
}
