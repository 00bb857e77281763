import { setImmediate } from 'node:timers/promises'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import { isOfEarlierVersion } from '../../journal/journal.ts'
import { explainFailure } from '../../journal/journal-damage.ts'
import { listWholeFiles, type ReaderPool, readRunFamily } from '../../journal/run-family.ts'
import { isThere } from '../../workspace/is-there.ts'
import { isLeaseHeld } from '../../workspace/lease.ts'
import { type DatabaseSync, readValues } from '../../workspace/sqlite.ts'
import {
  type RunFilesState,
  RunFolder,
  readRunFilesState,
  toJournalFile,
} from '../../workspace/workspace-files.ts'
import type { CatalogueStore } from './catalogue-file.ts'
import {
  type CataloguedRun,
  type CataloguedWhole,
  insertRun,
  insertWhole,
  readWhole,
  removeRuns,
  toUnreadRun,
} from './catalogued-run.ts'
import { ReadingMark } from './reading-mark.ts'

/** From this many changed runs on, a catalogue is being built: all runs are then read before any answer. */
const MAKING_FROM = 100

/** Most runs read again with a run that is kept, because they were written to while being read. */
const READ_AGAIN_MAX = 8

/** The runs whose files must be unchanged for an answer to be true; `all` if any run may belong to it. */
export type Needed = 'all' | ((db: DatabaseSync) => readonly string[])

export interface RefreshOptions {
  workspace: string
  store: CatalogueStore
  pool: ReaderPool
  /** Ids of the runs that this process holds. */
  held: readonly string[]
  /** The clock, Unix milliseconds. */
  nowMs: () => number
  /** How long journals are read before results are written and others get their turn, milliseconds. */
  sliceMs: number
  knownRuns: KnownRuns
}

/**
 * Brings the catalogue up to date with the journals, as far as answers need it. Names show which runs are new
 * or gone, sizes and times which have changed; runs that should not be changing are only checked if an answer
 * needs them. While many are read, `onSlice` is called now and then with how many are left, of which the
 * catalogue then has nothing.
 */
export async function refreshCatalogue(
  options: RefreshOptions,
  needs: readonly Needed[],
  onSlice: (unread: number) => void,
): Promise<void> {
  const { workspace, store } = options
  const folder = new RunFolder(workspace)
  const reading = new Reading(options, folder)
  const checked = new Set<string>()
  let known = options.knownRuns.read(store)
  const isChanged = (id: string): boolean => {
    checked.add(id)
    const run = known.get(id)
    return run === undefined || reading.isChanged(id, run)
  }
  const gone = [...known.keys()].filter((id) => !folder.hasRun(id))
  // Runs of which the catalogue knows nothing that could still be true.
  const changed = new Set(folder.ids.filter((id) => (known.get(id)?.fingerprint ?? null) === null))
  const needsAll = needs.includes('all') || changed.size >= MAKING_FROM
  const toRead = needsAll ? folder.ids.filter((id) => changed.has(id) || isChanged(id)) : changed
  for (let again = [...gone, ...toRead]; ; ) {
    if (again.length > 0) {
      const left = listAffected(known, again)
      const isMaking = left.size >= MAKING_FROM
      // Outdated lines must not be shown meanwhile.
      const old = isMaking ? [...left].filter((id) => known.has(id)) : []
      if (old.length > 0) store.write((db) => removeRuns(db, old))
      const mark = new ReadingMark(workspace)
      try {
        while (left.size > 0) {
          reading.readSome(left, mark)
          await setImmediate()
          if (isMaking && left.size > 0) onSlice(left.size)
        }
      } finally {
        mark.close()
      }
      known = options.knownRuns.read(store)
    }
    if (needsAll) break
    const needed = store.read((db) => needs.flatMap((need) => (need === 'all' ? [] : listNeeded(need, db))))
    again = needed.filter((id) => !changed.has(id) && !checked.has(id) && folder.hasRun(id)).filter(isChanged)
    if (again.length === 0) break
  }
  if (gone.length > 0) store.compact()
}

function listNeeded(need: Exclude<Needed, 'all'>, db: DatabaseSync): readonly string[] {
  try {
    return need(db)
  } catch (error) {
    // Its answer fails for the same reason; the others do not.
    if (error instanceof SluiceError) return []
    throw error
  }
}

/** Reads a run that has just changed, whatever else did, so that the next look has nothing left to do. */
export function keepRun(options: RefreshOptions, runId: string): void {
  const reading = new Reading(options, null)
  const recent = options.store.read((db) =>
    readValues<string>(
      db,
      'SELECT id FROM run WHERE fingerprint IS NULL ORDER BY id DESC LIMIT ?',
      READ_AGAIN_MAX,
    ),
  )
  const left = new Set([runId, ...recent].filter((id) => reading.isThere(id)))
  while (left.size > 0) reading.readSome(left, null)
}

/** What the catalogue knows of a run before it looks again. */
type KnownRun = Pick<CataloguedRun, 'first' | 'fingerprint' | 'isOpen' | 'isHeld'>

/** The journals read in one look. */
class Reading {
  readonly #options: RefreshOptions
  readonly #folder: RunFolder | null
  readonly #states = new Map<string, RunFilesState>()

  constructor(options: RefreshOptions, folder: RunFolder | null) {
    this.#options = options
    this.#folder = folder
  }

  isChanged(id: string, run: KnownRun): boolean {
    if (run.fingerprint === null || run.fingerprint !== this.#readState(id).fingerprint) return true
    return run.isOpen && run.isHeld !== this.#isHeld(id)
  }

  /** Reads for a while, writes the results and takes those runs off the list. */
  readSome(left: Set<string>, mark: ReadingMark | null): void {
    const ids: string[] = []
    const wholes: CataloguedWhole[] = []
    const unread: CataloguedRun[] = []
    const endMs = performance.now() + this.#options.sliceMs
    for (const id of left) {
      left.delete(id)
      ids.push(id)
      if (this.isThere(id)) {
        const read = this.#read(id, mark)
        if ('members' in read) wholes.push(read)
        else unread.push(read)
        for (const member of 'members' in read ? read.members : []) {
          left.delete(member.id)
          ids.push(member.id)
        }
      }
      if (performance.now() > endMs) break
    }
    this.#options.store.write((db) => {
      removeRuns(db, ids)
      for (const whole of wholes) insertWhole(db, whole)
      for (const run of unread) insertRun(db, run)
    })
  }

  #read(id: string, mark: ReadingMark | null): CataloguedWhole | CataloguedRun {
    const { workspace } = this.#options
    const file = toJournalFile(workspace, id)
    const state = this.#readState(id)
    // A journal of an earlier version is upgraded first, which may take seconds, in which a person may give
    // up.
    const isMarked = mark !== null && !isOfEarlierVersion(file)
    if (isMarked && mark.isEndless(id)) {
      const reason = 'twice, reading it did not end before its process did'
      const { message } = new SluiceError({ id: 'journal_damaged', file, runId: id, reason })
      return toUnreadRun(id, message, state, true)
    }
    const read = () => this.#readWhole(id, file, state)
    return isMarked ? mark.during(id, read) : read()
  }

  #readWhole(id: string, file: string, state: RunFilesState): CataloguedWhole | CataloguedRun {
    const { workspace, pool } = this.#options
    try {
      const isHeld = (runId: string) => {
        // Read this before the journal, so that later writes show.
        this.#readState(runId)
        return this.#isHeld(runId)
      }
      const readFamily = (runId: string) => readRunFamily(pool, toJournalFile(workspace, runId), isHeld)
      return readWhole(id, readFamily, this.#states) ?? toUnreadRun(id, null, state)
    } catch (error) {
      // One that was deleted meanwhile is not damaged.
      if (this.#isGone(id)) return toUnreadRun(id, null, state)
      const told = explainFailure(error, listWholeFiles(file))
      return toUnreadRun(id, toThrownText(told), state, isOfContent(told, file))
    }
  }

  #readState(id: string): RunFilesState {
    const { workspace, nowMs } = this.#options
    const folder = this.#folder
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const state = readRunFilesState(workspace, id, nowMs(), folder ?? undefined)
    this.#states.set(id, state)
    return state
  }

  /** Whether the run has a journal. */
  isThere(id: string): boolean {
    return this.#folder === null ? !this.#isGone(id) : this.#folder.hasRun(id)
  }

  #isGone(id: string): boolean {
    try {
      return !isThere(toJournalFile(this.#options.workspace, id))
    } catch {
      return false
    }
  }

  #isHeld(id: string): boolean {
    const { workspace, held } = this.#options
    if (held.includes(id)) return true
    try {
      return isLeaseHeld(toJournalFile(workspace, id))
    } catch (error) {
      if (error instanceof SluiceError) return false
      throw error
    }
  }
}

/** Whether a journal is unreadable because of its content, so that it need not be read until it changes. */
function isOfContent(error: unknown, file: string): boolean {
  if (!(error instanceof SluiceError)) return false
  const { said } = error
  switch (said.id) {
    case 'foreign_schema':
    case 'journal_damaged':
    case 'journal_misnamed':
    case 'journal_too_new':
      return said.file === file
    default:
      return false
  }
}

/** What the catalogue knows, which is read again only when its file has changed. */
export class KnownRuns {
  #version: string | null = null
  #runs: ReadonlyMap<string, KnownRun> = new Map()

  read(store: CatalogueStore): ReadonlyMap<string, KnownRun> {
    const version = store.readVersion()
    if (version === null || version !== this.#version) this.#runs = store.read(readKnownRuns)
    // What was written since then has another version.
    this.#version = version
    return this.#runs
  }
}

function readKnownRuns(db: DatabaseSync): Map<string, KnownRun> {
  const statement = db.prepare('SELECT id, first, fingerprint, is_open, is_held FROM run')
  statement.setReturnArrays(true)
  const rows = statement.all() as unknown as [string, string | null, string | null, number, number][]
  return new Map(
    rows.map(([id, first, fingerprint, isOpen, isHeld]) => [
      id,
      { first, fingerprint, isOpen: isOpen === 1, isHeld: isHeld === 1 },
    ]),
  )
}

/** These runs and everything in a whole with them, which may stand apart now. */
function listAffected(known: ReadonlyMap<string, KnownRun>, ids: readonly string[]): Set<string> {
  const affected = new Set(ids)
  const wholes = new Set(ids.map((id) => known.get(id)?.first).filter((first) => first != null))
  if (wholes.size === 0) return affected
  for (const [id, { first }] of known) if (first !== null && wholes.has(first)) affected.add(id)
  return affected
}
