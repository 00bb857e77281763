import { statSync } from 'node:fs'
import type { RunFamily } from '../journal/run-family.ts'
import { chooseJoinKey, type JoinKey } from './join-key.ts'
import { agreeByRow, type PairedRows, pairRows } from './paired-rows.ts'

/** How long joined rows are kept after they were last used, milliseconds. */
const KEPT_MS = 120_000

interface Kept {
  /** What the pairs were made from; other journals or another key give other pairs. */
  of: string
  pairs: PairedRows
  key: JoinKey
}

/**
 * Joins the rows of two runs and keeps the last two runs joined for a while: a person pages through their
 * changes, and joining reads every row. Runs that changed since are joined again.
 */
export class KeptPairs {
  #kept: Kept | null = null
  #timer: NodeJS.Timeout | null = null

  /** The joined rows of two runs. Throws `BAD_USAGE` if a column to join by does not exist. */
  join(a: RunFamily, b: RunFamily, by: string | null): Pick<Kept, 'pairs' | 'key'> {
    const of = JSON.stringify([by, readStamp(a), readStamp(b)])
    if (this.#kept?.of !== of) {
      this.close()
      const key = chooseJoinKey(a.record, b.record, by, () => agreeByRow(a, b))
      this.#kept = { of, pairs: pairRows(a, b, key), key }
    }
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.close(), KEPT_MS).unref()
    return this.#kept
  }

  /** Releases the joined rows. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#kept = null
  }
}

/** A value that changes as soon as anything of a run may have changed. */
function readStamp({ members }: RunFamily): unknown {
  return members.map(({ file, isHeld, record }) => [
    file,
    isHeld,
    record.claimed,
    ...[file, `${file}-wal`].map((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      // A reader creates an empty WAL if there was none.
      return found === undefined || found.size === 0 ? null : [found.size, found.mtimeMs]
    }),
  ])
}
