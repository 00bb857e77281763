import { setImmediate } from 'node:timers/promises'
import { choosePrunable, type PrunableRuns, type Retention } from '../../../../shared/lookback/retention.ts'
import type { FoundRuns, RunListQuery, RunPage } from '../../../../shared/lookback/run-list.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { OperationKind } from '../../../../shared/operations/operations.ts'
import { ReaderPool } from '../../journal/run-family.ts'
import { InboxReader } from '../../receiver/inbox.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { listBaselineRuns } from '../baseline-store.ts'
import {
  type CatalogueStore,
  isWorthless,
  openCatalogueFile,
  openMemoryCatalogue,
  removeCatalogue,
} from './catalogue-file.ts'
import {
  type CallbackRun,
  findRuns,
  listRunsOf,
  listShown,
  type OperationRun,
  readCallbackRuns,
  readRetainedRuns,
  readRunPage,
} from './listed-runs.ts'
import { KnownRuns, keepRun, type Needed, refreshCatalogue } from './refresh-catalogue.ts'

/**
 * How long a question waits for unread journals if it accepts an answer without them, and how long journals
 * are read before results are written and others get their turn, milliseconds.
 */
const TIMES = { patienceMs: 200, sliceMs: 100 }

/** A question for once the catalogue matches the journals, with the ids of the runs this process holds. */
interface Question {
  held: readonly string[]
  needs: Needed
  /** Since when it waits, if its answer may leave out journals still unread; null if not. */
  hastySinceMs: number | null
  answer: (db: DatabaseSync, unread: number) => void
  reject: (error: unknown) => void
}

/**
 * The catalogue of a workspace's runs: what the list shows of each, in one file that is searched instead of
 * the journals, which stay the truth. A run writes its line when it ends. Before each answer, everything
 * added, changed or removed since is read again, whoever did it, so that the file can be lost at any time
 * (docs/history.md).
 */
export class Catalogue {
  readonly #workspace: string
  readonly #nowMs: () => number
  readonly #times: typeof TIMES
  /** Its own readers, closed after each look: a journal may be replaced by another file meanwhile. */
  readonly #pool = new ReaderPool()
  #memory: CatalogueStore | null = null
  readonly #knownRuns = new KnownRuns()
  /** Looks run one after the other: two at once would read the same journals. */
  #last: Promise<void> = Promise.resolve()
  /** Questions for the next look. */
  #waiting: Question[] = []

  /** `nowMs` is the clock, Unix milliseconds. */
  constructor(workspace: string, nowMs: () => number = Date.now, times = TIMES) {
    this.#workspace = workspace
    this.#nowMs = nowMs
    this.#times = times
  }

  /** A page of the requested runs; `held` are the ids of the runs that this process holds. */
  list(query: RunListQuery, held: readonly string[]): Promise<RunPage> {
    return this.#ask(held, (db, unread) => readRunPage(db, query, unread), toNeeded(query))
  }

  /** The same from the journals that could be read within a moment; the page says how many are left. */
  listSoFar(query: RunListQuery, held: readonly string[]): Promise<RunPage> {
    return this.#ask(held, (db, unread) => readRunPage(db, query, unread), toNeeded(query), performance.now())
  }

  /** Writes the line of a run that has just changed, so that no look has to find it. Fails silently. */
  keep(runId: string, held: readonly string[]): void {
    const store = openCatalogueFile(this.#workspace)
    try {
      keepRun(this.#toOptions(store, held), runId)
    } catch {
      // The next look reads the run and reports what is wrong.
    } finally {
      this.#pool.close()
    }
  }

  /** The runs that a reference means: an id, the beginning of one, a name, `latest` or `latest:NAME`. */
  find(reference: string, held: readonly string[]): Promise<FoundRuns> {
    const find = (db: DatabaseSync) => findRuns(db, reference)
    return this.#ask(held, find, (db) => find(db).ids)
  }

  /** The runs and retries of these operations, oldest first, and those that cannot be read. */
  listRunsOf(operations: readonly OperationKind[], held: readonly string[]): Promise<OperationRun[]> {
    return this.#ask(held, (db) => listRunsOf(db, operations))
  }

  /** The runs beyond the limits of retention, except those that a process holds or that are needed. */
  findPrunable(retention: Retention, held: readonly string[]): Promise<PrunableRuns> {
    return this.#ask(held, (db) =>
      choosePrunable(readRetainedRuns(db, listBaselineRuns(this.#workspace)), retention, this.#nowMs()),
    )
  }

  /** Ids and tokens of all runs, as callbacks carry them; null if a journal, and its token, is unreadable. */
  listTokens(held: readonly string[]): Promise<string[] | null> {
    return this.#ask(held, (db) => {
      if (db.prepare('SELECT 1 FROM run WHERE error IS NOT NULL').get() !== undefined) return null
      // A run that is being created uses its own id as its token.
      const rows = db.prepare('SELECT id, run_token FROM run').all()
      return rows.flatMap(({ id, run_token: token }) => [String(id), String(token)])
    })
  }

  /** The runs and retries that get callbacks, and those of the tokens. */
  listCallbackRuns(tokens: readonly string[], held: readonly string[]): Promise<CallbackRun[]> {
    return this.#ask(held, (db) => readCallbackRuns(db, tokens))
  }

  /** Ids of the runs and retries with unprocessed callbacks or rows that have become overdue. */
  listLate(held: readonly string[]): Promise<string[]> {
    const list = (db: DatabaseSync) => {
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
    }
    // A run that another process has settled since is still late in its old line.
    return this.#ask(held, list, list)
  }

  #ask<Answer>(
    held: readonly string[],
    work: (db: DatabaseSync, unread: number) => Answer,
    needs: Needed = 'all',
    hastySinceMs: number | null = null,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = (db: DatabaseSync, unread: number) => resolve(work(db, unread))
      this.#waiting.push({ held, needs, hastySinceMs, answer, reject })
      if (this.#waiting.length === 1) this.#last = this.#last.then(() => this.#answerWaiting())
    })
  }

  /** One look answers all waiting questions; opening a window asks several. */
  async #answerWaiting(): Promise<void> {
    // Let questions that came during the last look arrive.
    await setImmediate()
    const questions = this.#waiting
    this.#waiting = []
    if (questions.length === 0) return
    try {
      await this.#answer(questions)
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  async #answer(questions: Question[]): Promise<void> {
    const answerFrom = async (store: CatalogueStore) => {
      const held = [...new Set(questions.flatMap((question) => question.held))]
      const needs = questions.map((question) => question.needs)
      try {
        await refreshCatalogue(this.#toOptions(store, held), needs, (unread) =>
          this.#answerHasty(store, questions, unread),
        )
      } finally {
        this.#pool.close()
      }
      answerAll(store, questions, 0)
    }
    const file = openCatalogueFile(this.#workspace)
    try {
      await answerFrom(file).catch((error: unknown) => {
        if (!isWorthless(error)) throw error
        removeCatalogue(this.#workspace)
        return answerFrom(file)
      })
    } catch {
      // A full or read-only disk must not hide the runs: they are listed from memory.
      this.#memory ??= openMemoryCatalogue()
      await answerFrom(this.#memory)
    }
  }

  /** Answers questions that have waited long enough, even those newer than this look. */
  #answerHasty(store: CatalogueStore, questions: Question[], unread: number): void {
    const isDue = ({ hastySinceMs }: Question) =>
      hastySinceMs !== null && performance.now() - hastySinceMs >= this.#times.patienceMs
    for (const asked of [questions, this.#waiting]) {
      const due = asked.filter(isDue)
      if (due.length === 0) continue
      answerAll(store, due, unread)
      asked.splice(0, asked.length, ...asked.filter((question) => !due.includes(question)))
    }
  }

  #toOptions(store: CatalogueStore, held: readonly string[]) {
    const { sliceMs } = this.#times
    const [workspace, pool, nowMs, knownRuns] = [this.#workspace, this.#pool, this.#nowMs, this.#knownRuns]
    return { workspace, store, pool, held, nowMs, sliceMs, knownRuns }
  }
}

/** A page ordered by id changes only with its own runs; in other orders any run may belong on it. */
function toNeeded(query: RunListQuery): Needed {
  const { order = 'newest', offset: _offset, limit, ...filters } = query
  const isPlain = (order === 'newest' || order === 'oldest') && Object.keys(filters).length === 0
  return isPlain && limit !== undefined ? (db) => listShown(db, query) : 'all'
}

/** Answers each question; a failure does not affect the others. Throws the catalogue's own error. */
function answerAll(store: CatalogueStore, questions: readonly Question[], unread: number): void {
  store.read((db) => {
    for (const { answer, reject } of questions) {
      try {
        answer(db, unread)
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error
        reject(error)
      }
    }
  })
}
