import type { RunFamily } from '../journal/run-family.ts'
import { createContentReader } from './join-key.ts'
import type { PairedRows } from './paired-rows.ts'

/** Rows whose contents are read in one statement. */
const STEP_ROWS = 1_000

/** Most rows that are looked at: each is mapped again, in both runs. */
const LOOKED_AT_MAX = 50_000

/** Rows that were answered in both runs and trigger other rules in B, and what was sent for them. */
export interface EditedRows {
  /** Those that were looked at. */
  rows: number
  /** Whose text or address is another in B. */
  edited: number
}

/** Counts the rows that trigger other rules in B by whether they were sent with the same content. */
export function countEdited(a: RunFamily, b: RunFamily, pairs: PairedRows): EditedRows {
  const { kinds, kindOf, partnerOf } = pairs
  const readA = createFamilyReader(a)
  const readB = createFamilyReader(b)
  const counted: EditedRows = { rows: 0, edited: 0 }
  let step: number[] = []
  const count = () => {
    const inA = readA(step.map((row) => partnerOf[row] ?? 0))
    const inB = readB(step)
    counted.rows += step.length
    counted.edited += step.filter((row) => inA.get(partnerOf[row] ?? 0) !== inB.get(row)).length
    step = []
  }
  for (let row = 1; row < kindOf.length && counted.rows < LOOKED_AT_MAX; row += 1) {
    const kind = kinds[(kindOf[row] ?? 0) - 1]
    if (kind?.isDecided !== true || !kind.isChanged) continue
    step.push(row)
    if (step.length === STEP_ROWS) count()
  }
  if (step.length > 0) count()
  return counted
}

/** A function that reads what rows of a run were sent with: the newest try that was sent again with corrections counts. */
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
