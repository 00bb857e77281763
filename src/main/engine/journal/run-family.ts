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
  /** The reader; not to be kept, since the pool closes those that were used longest ago. */
  readonly db: DatabaseSync
  file: string
  record: RunRecord
  /** The folder the run is kept in. */
  workspace: string
  /** Some process, this one included, holds the run. */
  isHeld: boolean
  /** It was sending when its process died; what it had marked and not settled is unknown. */
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

/** Journals usually kept open for reading at most; an open reader without a statement under way holds nothing up. */
const READERS_MAX = 8

/** Readers of journals, the most recently used kept open. */
export class ReaderPool {
  readonly #readers = new Map<string, DatabaseSync>()
  #max = READERS_MAX

  /** Keeps that many open from now on where that is more than usual: a run and its retries are read together. */
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

  /** Closes every reader. */
  close(): void {
    for (const file of [...this.#readers.keys()]) this.forget(file)
  }
}

/** A run with its retries: to a person one table of rows, each with its newest answer. */
export interface RunFamily extends RunView {
  /** The run itself, then the retries below it, oldest first. A row is shown as the last of them that has it says. */
  members: readonly RunView[]
  /** The whole that the run belongs to, from the first run on: its members, and where it is a retry, what came before. */
  whole: readonly RunView[]
}

/** Reads a run with its retries; null if its journal holds no run yet. `isHeld` says whether any process holds one. */
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
  // A retry whose rows are still being copied stands for none of them yet.
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

/** The members that took rows of another member over, and stand for them. */
export function findTakersOf(member: RunView, members: readonly RunView[]): RunView[] {
  return findTakers(member.record, member.workspace)
    .map((runId) => findMember(members, runId))
    .filter((taker) => taker !== null)
}

function findMember(members: readonly RunView[], runId: string): RunView | null {
  return members.find(({ record }) => record.runId === runId) ?? null
}

/**
 * A run, its retries and theirs, the first run first, then oldest first: to a person they are one. `runId` may name any
 * of them; `read` gives null if a run does not exist. A retry whose parent was deleted begins a whole of its own.
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

/** Reads the record of a run without its lease; null if there is none, or not yet. Throws `WORKSPACE_UNUSABLE`. */
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

function compareAge(a: RunRecord, b: RunRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.runId < b.runId ? -1 : 1)
}

/** Behind the id of a child run that was deleted after it had sent rows of its parent. */
const DELETED = ' (deleted)'

/**
 * The child run that stands for rows of its parent, given what the parent's record names. Null if there is none, or
 * if it was deleted before it had sent anything: then the parent has its rows back.
 */
export function findSuccessor(named: string | null, workspace: string): string | null {
  if (named === null || isDeleted(named)) return named
  return isThere(toJournalFile(workspace, named)) ? named : null
}

/** What a record names from then on in place of a retry that is deleted after it had sent rows. */
export function toDeletedName(runId: string): string {
  return runId + DELETED
}

/** Whether what a record names is a retry that was deleted after it had sent rows. */
export function isDeleted(named: string): boolean {
  return named.endsWith(DELETED)
}

/**
 * States that a child run takes over, rows that were never sent having none, and those that it takes only if rows of
 * unknown outcome are resent. An index add whose callback is overdue was acknowledged: another may add it twice.
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
 * States of the rows that a child run stands for, whose callbacks are its own. A child that was deleted after it had
 * sent some stands for nothing any more, and a correction that is only looked at for nothing yet.
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

/** States of the rows that a deleted retry had taken over. It is unknown whether it sent them again. */
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

/** What a run names as the retries that took rows of it: what did not succeed, unknown rows, and invalid ones. */
export function listSuccessors({
  supersededBy,
  unknownTakenBy,
  invalidTakenBy,
}: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy' | 'invalidTakenBy'>): (string | null)[] {
  return [supersededBy, unknownTakenBy, invalidTakenBy]
}

/** The retries that stand for rows of a run and still exist. */
function findTakers(record: RunRecord, workspace: string): string[] {
  const takers = listSuccessors(record).map((named) => findSuccessor(named, workspace))
  return [...new Set(takers)].filter((taker) => taker !== null).filter((taker) => !isDeleted(taker))
}

/**
 * Whether a retry or a correction goes on in the journal of the run. It is a run of its own where earlier versions have
 * begun others.
 */
export function isRetriedInPlace({ whole, record, workspace }: RunFamily): boolean {
  if (whole.length > 1) return false
  return listSuccessors(record).every((named) => findSuccessor(named, workspace) === null)
}

/** A correction that was held and has sent nothing, and the run that it goes on in once it begins. */
export interface HeldCorrection {
  correctionId: string
  runId: string
}

/** The correction of the whole that a run belongs to that was held and has sent nothing; null if there is none. */
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
