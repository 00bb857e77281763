import { SluiceError } from '../../../shared/messages/errors.ts'
import { mayAddTwice } from '../../../shared/operations/operations.ts'
import type { ItemState } from '../../../shared/run/item-state.ts'
import { isThere } from '../workspace/is-there.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { toJournalFile, toRunId, toWorkspace } from '../workspace/workspace-files.ts'
import { checkpointUnheld } from './checkpoint.ts'
import { hasSchema, openJournalReader } from './journal.ts'
import { type RunRecord, readRunRecord } from './run-record.ts'

/** A run's journal as a reader sees it. */
export interface RunView {
  /** The reader. Do not keep it: the pool closes the least recently used ones. */
  readonly db: DatabaseSync
  file: string
  record: RunRecord
  workspace: string
  /** Whether a process, this one included, holds the run. */
  isHeld: boolean
  /** Whether its process died while sending. Items marked as sent but not settled are then unknown. */
  isCutOff: boolean
}

/** Reads one run, without its retries; null if its journal holds no run yet. */
export function readRunView(pool: ReaderPool, file: string, isHeld: boolean): RunView | null {
  const db = pool.get(file)
  const record = hasSchema(db) ? readRunRecord(db) : null
  if (record === null) return null
  if (record.runId !== toRunId(file)) {
    throw new SluiceError({ id: 'journal_misnamed', file, runId: record.runId })
  }
  return {
    get db() {
      return pool.get(file)
    },
    file,
    record,
    workspace: toWorkspace(file),
    isHeld,
    isCutOff: record.state === 'running' && !isHeld,
  }
}

/** Most journals usually kept open for reading. An idle reader holds nothing up. */
const READERS_MAX = 8

/** Readers of journals, the most recently used kept open. */
export class ReaderPool {
  readonly #readers = new Map<string, DatabaseSync>()
  #max = READERS_MAX

  /** Raises the usual limit to `readers` if it is lower: a run and its retries are read together. */
  makeRoomFor(readers: number): void {
    this.#max = Math.max(READERS_MAX, readers)
  }

  /** The reader of a journal. Throws `WORKSPACE_UNUSABLE` if it cannot be opened. */
  get(file: string): DatabaseSync {
    const reader = this.#readers.get(file) ?? openJournalReader(file)
    this.#readers.delete(file)
    this.#readers.set(file, reader)
    for (const [oldest] of this.#readers) {
      if (this.#readers.size <= this.#max) break
      this.forget(oldest)
    }
    return reader
  }

  /** Closes the reader of a journal, if there is one. */
  forget(file: string): void {
    const reader = this.#readers.get(file)
    if (reader === undefined) return
    reader.close()
    this.#readers.delete(file)
    checkpointUnheld(file)
  }

  /** Makes the journals that were read whole in their files, if nobody holds them; called after each read. */
  checkpoint(): void {
    for (const file of this.#readers.keys()) checkpointUnheld(file)
  }

  close(): void {
    for (const file of [...this.#readers.keys()]) this.forget(file)
  }
}

/** A run with its retries: to a person one table of rows, each with its newest answer. */
export interface RunFamily extends RunView {
  /** The run and its retries, oldest first. The last member that has a row decides how it is shown. */
  members: readonly RunView[]
  /** Every run of the whole, from the first on; for a retry that includes the runs before it. */
  whole: readonly RunView[]
}

/** Reads a run and its retries; null if its journal has no run yet. `isHeld`: whether a process holds one. */
export function readRunFamily(
  pool: ReaderPool,
  file: string,
  isHeld: (runId: string, file: string) => boolean,
): RunFamily | null {
  const workspace = toWorkspace(file)
  const read = (runId: string): RunView | null => {
    const itsFile = toJournalFile(workspace, runId)
    if (!isThere(itsFile)) return null
    return readRunView(pool, itsFile, isHeld(runId, itsFile))
  }
  const runId = toRunId(file)
  // A retry whose rows are still being copied does not stand for any of them yet.
  const whole = readWholeRun(runId, workspace, read).filter(
    ({ record }) => record.runId === runId || record.parentRunId === null || record.state !== 'intake',
  )
  pool.makeRoomFor(whole.length)
  const run = whole.find(({ record }) => record.runId === runId)
  return run === undefined ? null : toFamily(run, whole)
}

/** The part of a whole that a run begins: itself and the retries below it. */
export function toFamily(run: RunView, whole: readonly RunView[]): RunFamily {
  const members = listBelow(run, run.workspace, (runId) => findMember(whole, runId))
  const { file, record, workspace, isHeld, isCutOff } = run
  return {
    get db() {
      return run.db
    },
    file,
    record,
    workspace,
    isHeld,
    isCutOff,
    members,
    whole,
  }
}

/** The members that took over rows of another member and now stand for them. */
export function findTakersOf(member: RunView, members: readonly RunView[]): RunView[] {
  return findTakers(member.record, member.workspace)
    .map((runId) => findMember(members, runId))
    .filter((taker) => taker !== null)
}

function findMember(members: readonly RunView[], runId: string): RunView | null {
  return members.find(({ record }) => record.runId === runId) ?? null
}

/**
 * A run, its retries and their retries: the first run first, then oldest first. To a person they are one run.
 * `runId` may name any of them; `read` returns null if a run does not exist. A retry whose parent was deleted
 * starts a whole of its own.
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
  // A retry that was cut off before its parent recorded it holds no rows yet.
  return members.includes(named) ? members : [...members, named]
}

/** A run and the retries below it, itself first, then oldest first. */
function listBelow<Member extends { record: RunRecord }>(
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

/** Reads a run's record without its lease; null if it does not exist yet. Throws `WORKSPACE_UNUSABLE`. */
export function readRecordOf(workspace: string, runId: string): { record: RunRecord } | null {
  const file = toJournalFile(workspace, runId)
  if (!isThere(file)) return null
  const db = openJournalReader(file)
  try {
    const record = hasSchema(db) ? readRunRecord(db) : null
    return record === null ? null : { record }
  } finally {
    db.close()
  }
}

/** The journals of the whole that a run belongs to; only its own if the others cannot be found. */
export function listWholeFiles(file: string): string[] {
  const workspace = toWorkspace(file)
  try {
    const whole = readWholeRun(toRunId(file), workspace, (runId) => readRecordOf(workspace, runId))
    return [...new Set([file, ...whole.map(({ record }) => toJournalFile(workspace, record.runId))])]
  } catch {
    return [file]
  }
}

/** Compares by when runs were made, the oldest first. */
export function compareAge(a: RunRecord, b: RunRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.runId < b.runId ? -1 : 1)
}

/** Suffix of the id of a child run that was deleted after it had sent rows of its parent. */
const DELETED = ' (deleted)'

/**
 * The child run that stands for rows of its parent, from the name in the parent's record. Null if there is
 * none, or if it was deleted before it sent anything: the parent then has its rows back.
 */
export function findSuccessor(named: string | null, workspace: string): string | null {
  if (named === null || isDeleted(named)) return named
  return isThere(toJournalFile(workspace, named)) ? named : null
}

/** The name that a record keeps for a retry deleted after it had sent rows. */
export function toDeletedName(runId: string): string {
  return runId + DELETED
}

/** Whether a name in a record marks a retry that was deleted after it had sent rows. */
export function isDeleted(named: string): boolean {
  return named.endsWith(DELETED)
}

/**
 * States that a child run takes over (`pending` includes rows never sent), and those it takes over only if
 * rows of unknown outcome are resent. An overdue index add was acknowledged, so sending it again may add it
 * twice.
 */
export function toRetriedStates({ plan }: Pick<RunRecord, 'plan'>): {
  certain: readonly ItemState[]
  unknown: readonly ItemState[]
} {
  return mayAddTwice(plan.operation.kind)
    ? { certain: ['rejected', 'failed', 'pending'], unknown: ['unknown', 'overdue'] }
    : { certain: ['rejected', 'failed', 'overdue', 'pending'], unknown: ['unknown'] }
}

/**
 * States of the rows that a child run stands for; their callbacks are the child's. A child that was deleted
 * after it sent some no longer counts, and a correction that is still being reviewed does not count yet.
 */
export function findTakenOver(
  record: Pick<RunRecord, 'parentRunId' | 'supersededBy' | 'unknownTakenBy' | 'plan'>,
  workspace: string,
): ReadonlySet<ItemState> {
  const isTaken = (named: string | null) => {
    const successor = findSuccessor(named, workspace)
    if (successor === null || isDeleted(successor)) return false
    if (record.parentRunId !== null) return true
    const child = readRecordOf(workspace, successor)?.record
    return child === undefined || !isLookedAt(child)
  }
  const states = toRetriedStates(record)
  return new Set([
    ...(isTaken(record.supersededBy) ? states.certain : []),
    ...(isTaken(record.unknownTakenBy) ? states.unknown : []),
  ])
}

/** States of the rows that a deleted retry had taken over and may have sent again. */
export function findDeletedStates(
  record: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy' | 'plan'>,
): ReadonlySet<ItemState> {
  const { supersededBy, unknownTakenBy } = record
  const states = toRetriedStates(record)
  return new Set([
    ...(supersededBy !== null && isDeleted(supersededBy) ? states.certain : []),
    ...(unknownTakenBy !== null && isDeleted(unknownTakenBy) ? states.unknown : []),
  ])
}

/** The retries that a run names as having taken its unsuccessful, unknown or invalid rows. */
export function listSuccessors({
  supersededBy,
  unknownTakenBy,
  invalidTakenBy,
}: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy' | 'invalidTakenBy'>): (string | null)[] {
  return [supersededBy, unknownTakenBy, invalidTakenBy]
}

/** The existing retries that stand for rows of a run. */
function findTakers(record: RunRecord, workspace: string): string[] {
  const takers = listSuccessors(record).map((named) => findSuccessor(named, workspace))
  return [...new Set(takers)].filter((taker) => taker !== null).filter((taker) => !isDeleted(taker))
}

/** Whether a retry or correction continues in the run's journal; not if earlier versions began child runs. */
export function isRetriedInPlace({ whole, record, workspace }: RunFamily): boolean {
  if (whole.length > 1) return false
  return listSuccessors(record).every((named) => findSuccessor(named, workspace) === null)
}

/** A held correction that has sent nothing, and the run in which it continues once it begins. */
export interface HeldCorrection {
  correctionId: string
  runId: string
}

/** The held correction that has sent nothing, in the whole of a run; null if there is none. */
export function findHeldCorrection({ whole }: RunFamily): HeldCorrection | null {
  const [first, second, ...others] = whole
  if (first === undefined || second === undefined || others.length > 0) return null
  if (!isLookedAt(second.record)) return null
  return { correctionId: second.record.runId, runId: first.record.runId }
}

/** Whether a child run is a correction that was held and has sent nothing. */
function isLookedAt({ corrects, startedAtMs }: RunRecord): boolean {
  return corrects && startedAtMs === null
}

/** The run that a record names as its successor, and whether it was deleted. */
export function describeSuccessor(named: string): { by: string; isDeleted: boolean } {
  return { by: named.replace(DELETED, ''), isDeleted: isDeleted(named) }
}
