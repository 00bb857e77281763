import { existsSync } from 'node:fs'
import { toJournalFile, toRunId, toWorkspace } from '../workspace/workspace-files.ts'
import type { ReaderPool } from './reader-pool.ts'
import { type RunView, readRunView } from './run-view.ts'
import { findTakers } from './successor.ts'
import { listBelow, readWholeRun } from './whole-run.ts'

/** A run with its retries: to a person one table of rows, each with its newest answer. */
export interface RunFamily extends RunView {
  /** The run itself, then the retries below it, oldest first. A row is shown as the last of them that has it says. */
  members: readonly RunView[]
  /** The whole that the run belongs to, from the first run on: its members, and where it is a retry, what came before. */
  whole: readonly RunView[]
}

/** Reads a run with its retries; null where its journal holds no run yet. `isHeld` says whether any process holds one. */
export function readRunFamily(
  pool: ReaderPool,
  file: string,
  isHeld: (runId: string, file: string) => boolean,
): RunFamily | null {
  const workspace = toWorkspace(file)
  const read = (runId: string): RunView | null => {
    const itsFile = toJournalFile(workspace, runId)
    if (!existsSync(itsFile)) return null
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
    ...{ file, record, workspace, isHeld, isCutOff, members, whole },
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
