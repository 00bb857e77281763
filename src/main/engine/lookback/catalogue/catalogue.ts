import { setImmediate } from 'node:timers/promises'
import { choosePrunable, type PrunableRuns, type Retention } from '../../../../shared/lookback/retention.ts'
import type { FoundRuns, RunListQuery, RunPage } from '../../../../shared/lookback/run-list.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import type { OperationKind } from '../../../../shared/operations/operations.ts'
import { explainFailure } from '../../journal/journal-damage.ts'
import { listWholeFiles, ReaderPool, readRunFamily } from '../../journal/run-family.ts'
import { InboxReader } from '../../receiver/inbox.ts'
import { isThere } from '../../workspace/is-there.ts'
import { isLeaseHeld } from '../../workspace/lease.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { type RunFilesState, readRunFileStates, toJournalFile } from '../../workspace/workspace-files.ts'
import { listBaselineRuns } from '../baseline-store.ts'
import {
  type CatalogueStore,
  isWorthless,
  openCatalogueFile,
  openMemoryCatalogue,
  removeCatalogue,
} from './catalogue-file.ts'
import {
  type CataloguedRun,
  type CataloguedWhole,
  insertRun,
  insertWhole,
  readWhole,
  removeRuns,
  toUnreadRun,
} from './catalogued-run.ts'
import {
  type CallbackRun,
  findRuns,
  listRunsOf,
  type OperationRun,
  readCallbackRuns,
  readRetainedRuns,
  readRunPage,
} from './listed-runs.ts'

/** How long journals are read until what they say is written, and others get their turn, milliseconds. */
const SLICE_MS = 100

/** What is asked once the catalogue is as the journals are, with the ids of the runs that this process holds. */
interface Question {
  held: readonly string[]
  answer: (db: DatabaseSync) => void
  reject: (error: unknown) => void
}

/** What the catalogue knows of a run before it looks again. */
interface KnownRun {
  first: string | null
  fingerprint: string | null
  isOpen: boolean
  isHeld: boolean
}

/**
 * The catalogue of a workspace's runs: what the list shows of each, in one file that is searched instead of the
 * journals. The journals stay the truth. Before each answer, whatever was added, changed or removed since is read
 * again, whoever did it, so that the file can be lost at any time (docs/history.md).
 */
export class Catalogue {
  readonly #workspace: string
  readonly #nowMs: () => number
  /** Readers of its own, closed after each look: a journal may be replaced by another file meanwhile. */
  readonly #pool = new ReaderPool()
  #memory: CatalogueStore | null = null
  /** Looks come one after the other: two would read the same journals. */
  #last: Promise<void> = Promise.resolve()
  /** Questions for the next look. */
  #waiting: Question[] = []

  /** `nowMs` is the clock, Unix milliseconds. */
  constructor(workspace: string, nowMs: () => number = Date.now) {
    this.#workspace = workspace
    this.#nowMs = nowMs
  }

  /** A page of the runs that are asked for; `held` are the ids of the runs that this process holds. */
  list(query: RunListQuery, held: readonly string[]): Promise<RunPage> {
    return this.#ask(held, (db) => readRunPage(db, query))
  }

  /** The runs that a reference means: an id, the beginning of one, or `latest`. */
  find(reference: string, held: readonly string[]): Promise<FoundRuns> {
    return this.#ask(held, (db) => findRuns(db, reference))
  }

  /** The runs and retries that did one of these operations, oldest first, and those that cannot be read. */
  listRunsOf(operations: readonly OperationKind[], held: readonly string[]): Promise<OperationRun[]> {
    return this.#ask(held, (db) => listRunsOf(db, operations))
  }

  /** The runs that exceed the limits of retention; none that a process holds, and none that is needed. */
  findPrunable(retention: Retention, held: readonly string[]): Promise<PrunableRuns> {
    return this.#ask(held, (db) =>
      choosePrunable(readRetainedRuns(db, listBaselineRuns(this.#workspace)), retention, this.#nowMs()),
    )
  }

  /** What callbacks of runs carry, of all that there are; null where a journal cannot be read, and its token not be known. */
  listTokens(held: readonly string[]): Promise<string[] | null> {
    return this.#ask(held, (db) => {
      if (db.prepare('SELECT 1 FROM run WHERE error IS NOT NULL').get() !== undefined) return null
      // A run that is being created has its own id for a token.
      const rows = db.prepare('SELECT id, run_token FROM run').all()
      return rows.flatMap(({ id, run_token: token }) => [String(id), String(token)])
    })
  }

  /** The runs and retries that callbacks come for, and those of the tokens. */
  listCallbackRuns(tokens: readonly string[], held: readonly string[]): Promise<CallbackRun[]> {
    return this.#ask(held, (db) => readCallbackRuns(db, tokens))
  }

  /** Ids of the runs and retries that have callbacks which nobody has processed, or rows that have become overdue. */
  listLate(held: readonly string[]): Promise<string[]> {
    return this.#ask(held, (db) => {
      const awaiting = db
        .prepare(
          'SELECT id, run_token, inbox_read, overdue_at FROM run WHERE inbox_read IS NOT NULL AND is_held = 0',
        )
        .all()
      if (awaiting.length === 0) return []
      const inbox = new InboxReader(this.#workspace)
      try {
        const lastIds = inbox.readLastIds()
        return awaiting
          .filter(
            ({ run_token: token, inbox_read: read, overdue_at: overdueAt }) =>
              (lastIds.get(String(token)) ?? 0) > Number(read) ||
              (overdueAt !== null && Number(overdueAt) <= this.#nowMs()),
          )
          .map(({ id }) => String(id))
      } finally {
        inbox.close()
      }
    })
  }

  #ask<Answer>(held: readonly string[], work: (db: DatabaseSync) => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ held, answer: (db) => resolve(work(db)), reject })
      if (this.#waiting.length === 1) this.#last = this.#last.then(() => this.#answerWaiting())
    })
  }

  /** One look serves all questions that wait for it, as several do when a window is opened. */
  async #answerWaiting(): Promise<void> {
    // Those that came during the last look have not arrived yet.
    await setImmediate()
    const questions = this.#waiting
    this.#waiting = []
    const held = [...new Set(questions.flatMap((question) => question.held))]
    try {
      await this.#answer(held, (db) => {
        const failures: unknown[] = []
        for (const { answer } of questions) {
          try {
            answer(db)
          } catch (error) {
            failures.push(error)
          }
        }
        if (failures.length > 0) throw failures[0]
      })
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  async #answer<Answer>(held: readonly string[], work: (db: DatabaseSync) => Answer): Promise<Answer> {
    const answerFrom = async (store: CatalogueStore) => {
      try {
        await this.#refresh(store, held)
      } finally {
        this.#pool.close()
      }
      return store.read(work)
    }
    const file = openCatalogueFile(this.#workspace)
    try {
      return await answerFrom(file).catch((error: unknown) => {
        if (!isWorthless(error)) throw error
        removeCatalogue(this.#workspace)
        return answerFrom(file)
      })
    } catch {
      // A full or read-only disk must not hide the runs: they are listed from memory.
      this.#memory ??= openMemoryCatalogue()
      return answerFrom(this.#memory)
    }
  }

  /** Brings the catalogue up to the journals as they are now. */
  async #refresh(store: CatalogueStore, held: readonly string[]): Promise<void> {
    const states = readRunFileStates(this.#workspace, this.#nowMs())
    const known = store.read(readKnownRuns)
    const isHeld = (id: string) => held.includes(id) || this.#isLeaseHeld(id)
    const gone = [...known.keys()].filter((id) => !states.has(id))
    const changed = [...states].filter(([id, { fingerprint }]) => {
      const run = known.get(id)
      if (run === undefined || run.fingerprint === null || run.fingerprint !== fingerprint) return true
      return run.isOpen && run.isHeld !== isHeld(id)
    })
    if (gone.length + changed.length === 0) return
    const left = listAffected(known, [...gone, ...changed.map(([id]) => id)])
    const isAnyGone = gone.length > 0
    while (left.size > 0) {
      const found = this.#readSome(left, states, isHeld)
      store.write((db) => {
        removeRuns(db, found.ids)
        for (const whole of found.wholes) insertWhole(db, whole)
        for (const run of found.unread) insertRun(db, run)
      })
      await setImmediate()
    }
    if (isAnyGone) store.compact()
  }

  /** Reads for a while, and takes what was read off the list. */
  #readSome(
    left: Set<string>,
    states: ReadonlyMap<string, RunFilesState>,
    isHeld: (id: string) => boolean,
  ): { ids: string[]; wholes: CataloguedWhole[]; unread: CataloguedRun[] } {
    const found = { ids: [] as string[], wholes: [] as CataloguedWhole[], unread: [] as CataloguedRun[] }
    const endMs = performance.now() + SLICE_MS
    for (const id of left) {
      left.delete(id)
      found.ids.push(id)
      const state = states.get(id)
      if (state !== undefined) {
        const read = this.#read(id, states, isHeld)
        if ('members' in read) found.wholes.push(read)
        else found.unread.push(read)
        if ('members' in read) {
          for (const member of read.members) {
            left.delete(member.id)
            found.ids.push(member.id)
          }
        }
      }
      if (performance.now() > endMs) break
    }
    return found
  }

  #read(
    id: string,
    states: ReadonlyMap<string, RunFilesState>,
    isHeld: (id: string) => boolean,
  ): CataloguedWhole | CataloguedRun {
    try {
      const readFamily = (runId: string) =>
        readRunFamily(this.#pool, toJournalFile(this.#workspace, runId), isHeld)
      return readWhole(id, readFamily, states) ?? toUnreadRun(id, null, states.get(id))
    } catch (error) {
      // A damaged journal must not hide the others, and one that was deleted meanwhile is not damaged.
      if (this.#isGone(id)) return toUnreadRun(id, null, states.get(id))
      const told = explainFailure(error, listWholeFiles(toJournalFile(this.#workspace, id)))
      return toUnreadRun(id, toThrownText(told), states.get(id))
    }
  }

  #isGone(id: string): boolean {
    try {
      return !isThere(toJournalFile(this.#workspace, id))
    } catch {
      return false
    }
  }

  #isLeaseHeld(id: string): boolean {
    try {
      return isLeaseHeld(toJournalFile(this.#workspace, id))
    } catch (error) {
      if (error instanceof SluiceError) return false
      throw error
    }
  }
}

function readKnownRuns(db: DatabaseSync): Map<string, KnownRun> {
  const known = new Map<string, KnownRun>()
  for (const row of db.prepare('SELECT id, first, fingerprint, is_open, is_held FROM run').iterate()) {
    known.set(String(row['id']), {
      first: row['first'] === null ? null : String(row['first']),
      fingerprint: row['fingerprint'] === null ? null : String(row['fingerprint']),
      isOpen: row['is_open'] === 1,
      isHeld: row['is_held'] === 1,
    })
  }
  return known
}

/** Those runs and everything that was part of a whole with them: it may stand apart now. */
function listAffected(known: ReadonlyMap<string, KnownRun>, ids: readonly string[]): Set<string> {
  const affected = new Set(ids)
  const wholes = new Set(ids.map((id) => known.get(id)?.first).filter((first) => first != null))
  if (wholes.size === 0) return affected
  for (const [id, { first }] of known) if (first !== null && wholes.has(first)) affected.add(id)
  return affected
}
