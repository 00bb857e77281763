import { isLinkColumn } from '../../../shared/mapping/link-columns.ts'
import { type LastMapping, toUsedMapping } from '../../../shared/mapping/saved-mappings.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunFamily } from '../journal/run-family.ts'

/** Most runs of an operation searched, newest first. */
export const LOOKED_THROUGH = 50

/**
 * The mapping of the newest of these runs that read a source with the same columns; null if none did. `open`
 * returns null for a run that cannot be read.
 */
export function findLastMapping(
  runs: readonly RunSummary[],
  asked: { operation: Operation; columns: readonly string[] },
  open: (runId: string) => RunFamily | null,
): LastMapping | null {
  const { operation, columns } = asked
  const wanted = toKey(columns)
  for (const { run_id: runId, name: runName, started_at: startedAt } of runs) {
    // Rows may only have been checked because the mapping was wrong.
    if (startedAt === null) continue
    const record = open(runId)?.record
    if (record === undefined || toKey(record.columns) !== wanted) continue
    return { runId, runName, startedAt, mapping: toUsedMapping(record.plan.mapping, columns, operation) }
  }
  return null
}

/** The columns, except nested fields and links behind cells: a run keeps only those of them that it sends. */
function toKey(columns: readonly string[]): string {
  const names = new Set(columns)
  const isNested = (name: string) =>
    [...name.matchAll(/\./g)].some(({ index }) => names.has(name.slice(0, index)))
  return JSON.stringify(columns.filter((name) => !isNested(name) && !isLinkColumn(name, names)))
}
