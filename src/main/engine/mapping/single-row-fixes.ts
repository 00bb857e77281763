import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { type Fix, getFixedRecord, isOfOneRow, type OneRowFix } from '../../../shared/plan/fixes.ts'
import { toFound } from '../../../shared/run/problem.ts'
import type { UnfitCell } from './row-fixer.ts'
import { createRowHash, type ToRowHash } from './row-hash.ts'
import { toHalf } from './split-row.ts'

/** A row as intake has read it. */
interface NotedRow {
  row: number
  cells: readonly string[]
  kinds?: string | null
  /** Cell fixes of the row that were not applied. */
  unfit?: readonly UnfitCell[] | undefined
}

/** Why a fix of one row is in doubt; `unmarked` ones are applied, the others are not. */
type Doubt = 'other_row' | 'other_text' | 'no_row' | 'unmarked'

/** A fix in doubt, and the row that the source has instead. */
interface DoubtfulFix {
  fix: OneRowFix
  why: Doubt
  found?: string
  hash?: string
}

/**
 * Compares the fixes of single rows with the source's rows of the same numbers: after an edit these may be
 * other rows. Every row of the source must be noted.
 */
export class SingleRowFixes {
  readonly #toHash: ToRowHash
  readonly #ofRecord: Map<number, OneRowFix[]>
  /** Hashes of the rows with fixes, each with the first row that has it. */
  readonly #places: Map<string, number | null>
  readonly #doubtful: DoubtfulFix[] = []

  constructor(fixes: readonly Fix[], columns: readonly string[]) {
    const ofOneRow = fixes.filter(isOfOneRow)
    this.#toHash = createRowHash(columns)
    this.#ofRecord = Map.groupBy(ofOneRow, (fix) => getFixedRecord(fix) ?? 0)
    this.#places = new Map(
      ofOneRow.flatMap(({ rowHash }) => (rowHash === undefined ? [] : [[rowHash, null]])),
    )
  }

  note(noted: NotedRow): void {
    if (this.#ofRecord.size > 0 || this.#places.size > 0) this.#noteRow(noted)
  }

  #noteRow({ row, cells, kinds = null, unfit = [] }: NotedRow): void {
    const fixes = this.#ofRecord.get(row)
    if (fixes === undefined && this.#places.size === 0) return
    const half = toHalf(row, kinds)
    const isSecondHalf = half !== null && half.of !== row
    const hash = this.#toHash(cells, kinds)
    if (this.#places.get(hash) === null && !isSecondHalf) this.#places.set(hash, row)
    if (fixes === undefined) return
    // Cells of a second half are corrected under the number of its record.
    const known = fixes.filter(({ kind }) => kind !== 'cell' || !isSecondHalf)
    if (known.length === fixes.length) this.#ofRecord.delete(row)
    else
      this.#ofRecord.set(
        row,
        fixes.filter((fix) => !known.includes(fix)),
      )
    for (const fix of known) {
      const notApplied = unfit.find((one) => one.fix === fix)
      const why = notApplied?.why ?? findDoubt(fix, hash)
      if (why === null) continue
      const found = toFound(notApplied?.found ?? cells.filter((cell) => cell !== '').join(', '))
      this.#doubtful.push({ fix, why, hash, found })
    }
  }

  /** A warning for each fix that does not fit and each without a hash, which might not fit, in row order. */
  findWarnings(): FoundProblem[] {
    const without = [...this.#ofRecord.values()].flat().map((fix) => ({ fix, why: 'no_row' }) as const)
    return [...this.#doubtful, ...without]
      .map((doubtful) => this.#toWarning(doubtful))
      .sort((a, b) => a.row - b.row)
  }

  #toWarning({ fix, why, hash, found }: DoubtfulFix): FoundProblem {
    const place = fix.rowHash === undefined || why === 'other_text' ? null : this.#places.get(fix.rowHash)
    const was = why === 'other_text' && fix.kind === 'cell' ? fix.was : undefined
    return {
      row: getFixedRecord(fix) ?? 0,
      severity: 'warning',
      code: 'unfit_fix',
      args: { fix: fix.kind, why },
      details: {
        ...(fix.rowHash !== undefined && { expected: fix.rowHash }),
        ...(was !== undefined && { was: toFound(was) }),
        ...(hash !== undefined && { rowHash: hash }),
        ...(typeof place === 'number' && { row: place, record: place }),
      },
      ...(fix.kind === 'cell' && { field: fix.field }),
      ...(found !== undefined && { found }),
    }
  }
}

function findDoubt(fix: OneRowFix, hash: string): Doubt | null {
  if (fix.rowHash === undefined) return 'unmarked'
  return fix.rowHash === hash ? null : 'other_row'
}
