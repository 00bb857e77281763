import type { RunFamily } from '../journal/run-family.ts'
import { createContentReader } from './join-key.ts'
import type { PairedRows } from './paired-rows.ts'

/** Rows whose contents are read in one statement. */
const STEP_ROWS = 1_000

/** Most rows compared, since each is mapped again in both runs; out of more, these are drawn evenly. */
const LOOKED_AT_MAX = 5_000

/** Rows that were answered in both runs and trigger other rules in B, and what was sent for them. */
export interface EditedRows {
  /** All of them. */
  changed: number
  /** Those whose contents were compared. */
  lookedAt: number
  /** Of these, the rows whose text or address differs in B. */
  edited: number
}

/** Among the rows that trigger other rules in B, counts those sent with other content. */
export function countEdited(
  a: RunFamily,
  b: RunFamily,
  { kinds, kindOf, partnerOf }: PairedRows,
): EditedRows {
  const changed: number[] = []
  for (let row = 1; row < kindOf.length; row += 1) {
    const kind = kinds[(kindOf[row] ?? 0) - 1]
    if (kind?.isDecided === true && kind.isChanged) changed.push(row)
  }
  const every = Math.ceil(changed.length / LOOKED_AT_MAX)
  const rows = changed.filter((_, index) => index % every === 0)
  const readA = createFamilyReader(a)
  const readB = createFamilyReader(b)
  let edited = 0
  for (let from = 0; from < rows.length; from += STEP_ROWS) {
    const step = rows.slice(from, from + STEP_ROWS)
    const inA = readA(step.map((row) => partnerOf[row] ?? 0))
    const inB = readB(step)
    edited += step.filter((row) => inA.get(partnerOf[row] ?? 0) !== inB.get(row)).length
  }
  return { changed: changed.length, lookedAt: rows.length, edited }
}

/** Creates a reader of the content that a run's rows were sent with; the newest correcting retry counts. */
function createFamilyReader({ members }: RunFamily): (rows: readonly number[]) => Map<number, string | null> {
  const readers = members.map((member) => ({ member, read: createContentReader(member.record) }))
  return (rows) => {
    const contents = new Map<number, string | null>()
    const ids = JSON.stringify(rows)
    for (const { member, read } of readers) {
      const found = member.db
        .prepare('SELECT id, cells, kinds FROM row WHERE id IN (SELECT value FROM json_each(?))')
        .all(ids)
      for (const { id, cells, kinds } of found) {
        const texts = JSON.parse(String(cells)) as string[]
        contents.set(Number(id), read(Number(id), texts, kinds === null ? null : String(kinds)))
      }
    }
    return contents
  }
}
