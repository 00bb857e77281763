import { existsSync } from 'node:fs'
import { toJournalFile } from '../workspace/workspace-files.ts'
import { hasSchema, openJournalReader } from './open-journal.ts'
import { type RunRecord, readRunRecord } from './run-record.ts'
import { findTakers } from './successor.ts'

/**
 * A run, its retries and theirs, the first run first, then oldest first: to a person they are one. `runId` may name any
 * of them; `read` gives null where a run does not exist. A retry whose parent was deleted begins a whole of its own.
 */
export function readWholeRun<Member extends { record: RunRecord }>(
  runId: string,
  workspace: string,
  read: (runId: string) => Member | null,
): Member[] {
  const known = new Map<string, Member | null>()
  const get = (id: string) => {
    const member = known.get(id) ?? read(id)
    known.set(id, member)
    return member
  }
  const named = get(runId)
  if (named === null) return []
  let first = named
  for (const seen = new Set<string>(); ; ) {
    const { parentRunId } = first.record
    const parent = parentRunId === null || seen.has(parentRunId) ? null : get(parentRunId)
    if (parent === null) break
    seen.add(first.record.runId)
    first = parent
  }
  const members = listBelow(first, workspace, get)
  // A retry that was cut off before its parent knew of it holds no rows yet.
  return members.includes(named) ? members : [...members, named]
}

/** A run and the retries below it, itself first, then oldest first. */
export function listBelow<Member extends { record: RunRecord }>(
  first: Member,
  workspace: string,
  get: (runId: string) => Member | null,
): Member[] {
  const found = new Map([[first.record.runId, first]])
  for (const { record } of found.values()) {
    for (const taker of findTakers(record, workspace)) {
      const member = found.has(taker) ? null : get(taker)
      if (member !== null) found.set(taker, member)
    }
  }
  const [, ...retries] = found.values()
  return [first, ...retries.sort((a, b) => compareAge(a.record, b.record))]
}

/** Reads the record of a run without its lease; null where there is none, or not yet. Throws `WORKSPACE_UNUSABLE`. */
export function readRecordOf(workspace: string, runId: string): { record: RunRecord } | null {
  const file = toJournalFile(workspace, runId)
  if (!existsSync(file)) return null
  const db = openJournalReader(file)
  try {
    const record = hasSchema(db) ? readRunRecord(db) : null
    return record === null ? null : { record }
  } finally {
    db.close()
  }
}

function compareAge(a: RunRecord, b: RunRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.runId < b.runId ? -1 : 1)
}
