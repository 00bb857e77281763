import { statSync } from 'node:fs'
import type { RunFamily } from '../journal/run-family.ts'
import { chooseJoinKey, type JoinKey } from './join-key.ts'
import { type PairedRows, pairRows } from './paired-rows.ts'

/** How long joined rows are kept after they were last used, milliseconds. */
const KEPT_MS = 120_000

interface Kept {
  /** What the pairs were made of; other journals or another key make other pairs. */
  of: string
  pairs: PairedRows
  key: JoinKey
  users: number
  isDropped: boolean
}

/**
 * Joins the rows of two runs and keeps the last two runs joined for a while, since a person looks through their changes
 * page by page and joining reads every row. Runs that changed since are joined anew.
 */
export class KeptPairs {
  #kept: Kept | null = null
  #timer: NodeJS.Timeout | null = null

  /** Works with the joined rows of two runs. Throws `BAD_USAGE` where a column to join by does not exist. */
  async use<Value>(
    a: RunFamily,
    b: RunFamily,
    by: string | null,
    work: (pairs: PairedRows, key: JoinKey) => Promise<Value>,
  ): Promise<Value> {
    const of = JSON.stringify([by, readStamp(a), readStamp(b)])
    const kept = this.#kept?.of === of ? this.#kept : this.#join(a, b, by, of)
    kept.users += 1
    try {
      return await work(kept.pairs, kept.key)
    } finally {
      kept.users -= 1
      if (kept.isDropped) closeUnused(kept)
      else this.#closeLater()
    }
  }

  /** Lets go of the joined rows, as soon as nothing works with them. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#kept === null) return
    this.#kept.isDropped = true
    closeUnused(this.#kept)
    this.#kept = null
  }

  #join(a: RunFamily, b: RunFamily, by: string | null, of: string): Kept {
    this.close()
    const key = chooseJoinKey(a.record, b.record, by)
    const kept = { of, pairs: pairRows(a, b, key), key, users: 0, isDropped: false }
    this.#kept = kept
    return kept
  }

  #closeLater(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.close(), KEPT_MS).unref()
  }
}

function closeUnused({ pairs, users }: Kept): void {
  if (users === 0) pairs.db.close()
}

/** What differs as soon as anything of a run may have changed. */
function readStamp({ members }: RunFamily): unknown {
  return members.map(({ file, isHeld, record }) => [
    file,
    isHeld,
    record.claimed,
    ...[file, `${file}-wal`].map((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      // A reader makes an empty log where there was none.
      return found === undefined || found.size === 0 ? null : [found.size, found.mtimeMs]
    }),
  ])
}
