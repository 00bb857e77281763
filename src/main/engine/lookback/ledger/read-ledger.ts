import {
  type AppealEntry,
  type IndexEntry,
  LEDGER_OPERATIONS,
  type Ledger,
  type LedgerKind,
  type LedgerQuery,
  type TermEntry,
} from '../../../../shared/lookback/ledger.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { ReaderPool } from '../../journal/run-family.ts'
import { readConnections } from '../../workspace/connections.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { OperationRun } from '../catalogue/listed-runs.ts'
import { APPEALS_LEDGER } from './appeals-ledger.ts'
import { INDEX_LEDGER } from './index-ledger.ts'
import { findLedgerRuns, type LedgerPlace, type LedgerRuns } from './ledger-runs.ts'
import { type LedgerReader, LedgerTables } from './ledger-tables.ts'
import { WATCHLIST_LEDGER } from './watchlist-ledger.ts'

const READERS: Record<LedgerKind, LedgerReader> = {
  index: INDEX_LEDGER,
  watchlist: WATCHLIST_LEDGER,
  appeals: APPEALS_LEDGER,
}

/** The workspace, and the ids of the runs that this process holds. */
export type AskedPlace = Omit<LedgerPlace, 'pool'>

interface OpenLedger {
  tables: LedgerTables
  found: LedgerRuns
}

/** How long an unused ledger is kept, milliseconds. */
const KEPT_MS = 60_000

/**
 * Ledgers of workspaces, built from runs on request. The last one is kept while its runs stay unchanged, so
 * its next page or another filter is read at once. Questions are answered one after the other.
 */
export class Ledgers {
  readonly #pool = new ReaderPool()
  readonly #openCatalogue: (workspace: string) => Catalogue
  #kept: { key: string; ledger: OpenLedger } | null = null
  #timer: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(openCatalogue: (workspace: string) => Catalogue) {
    this.#openCatalogue = openCatalogue
  }

  /**
   * Opens a ledger: what all runs of one service did to its indexes, watchlists or appeals. `list` is the
   * chosen index or watchlist, '' for appeals; null if one of several has yet to be chosen.
   *
   * Throws `BAD_USAGE` if no run did such a thing, several services remain, or the list does not exist.
   */
  use<Result>(
    asked: AskedPlace,
    { of, service, list }: Pick<LedgerQuery, 'of' | 'service' | 'list'>,
    work: (ledger: OpenLedger & { list: string | null }) => Promise<Result> | Result,
  ): Promise<Result> {
    const answer = this.#last.then(async () => {
      const { ledger, isKept } = await this.#open(asked, { of, service })
      try {
        return await work({ ...ledger, list: of === 'appeals' ? '' : chooseList(ledger.tables, of, list) })
      } finally {
        if (!isKept) ledger.tables.close()
      }
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  /** Drops the kept ledger: what it was built from may be deleted. */
  async forget(): Promise<void> {
    await this.#last
    this.#close()
  }

  async #open(
    place: AskedPlace,
    query: Pick<LedgerQuery, 'of' | 'service'>,
  ): Promise<{ ledger: OpenLedger; isKept: boolean }> {
    clearTimeout(this.#timer)
    const { workspace, held } = place
    const candidates = await this.#openCatalogue(workspace).listRunsOf(LEDGER_OPERATIONS[query.of], held)
    const key = JSON.stringify([workspace, query, readConnections(workspace), candidates])
    if (this.#kept?.key === key) {
      this.#closeLater()
      return { ledger: this.#kept.ledger, isKept: true }
    }
    this.#close()
    const ledger = this.#make(place, candidates, query)
    // Runs that may still be written to are read again.
    const isKept = candidates.every(({ fingerprint }) => fingerprint !== null)
    if (isKept) {
      this.#kept = { key, ledger }
      this.#closeLater()
    }
    return { ledger, isKept }
  }

  /**
   * Turns everything sent and answered into events. Events about the same item, term or appeal are ordered by
   * when they were answered, and give its state. Events and entries are in a temporary database, so that
   * memory does not grow with them. Rows resent by a retry or a resumed run share a key and count once.
   */
  #make(
    place: AskedPlace,
    candidates: readonly OperationRun[],
    query: Pick<LedgerQuery, 'of' | 'service'>,
  ): OpenLedger {
    const reader = READERS[query.of]
    const tables = new LedgerTables()
    try {
      const found = findLedgerRuns({ pool: this.#pool, ...place }, candidates, query)
      for (const openRun of found.runs) reader.collect(openRun(), tables)
      tables.fold(reader.fold)
      return { tables, found }
    } catch (error) {
      tables.close()
      throw error
    } finally {
      this.#pool.close()
    }
  }

  #closeLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.forget(), KEPT_MS)
    this.#timer.unref()
  }

  #close(): void {
    this.#kept?.ledger.tables.close()
    this.#kept = null
  }
}

/** Reads a page of a ledger. Throws what {@link Ledgers.use} throws. */
export function readLedger(
  ledgers: Ledgers,
  asked: AskedPlace,
  query: LedgerQuery,
  page: { offset: number; limit: number },
): Promise<Ledger> {
  return ledgers.use(asked, query, ({ tables, found, list }) => {
    const lists = tables.readLists()
    const filter = { list: list ?? '', states: query.states, search: query.search }
    const entries = list === null ? [] : [...tables.readEntries(filter, page)]
    const common = {
      service: found.service,
      services: found.services,
      runs: list === null ? found.runs.length : found.lists.filter((one) => one === list).length,
      lists: query.of === 'appeals' ? [] : lists,
      list: query.of === 'appeals' ? null : list,
      counts: list === null ? {} : (lists.find(({ name }) => name === list)?.counts ?? {}),
      total: list === null ? 0 : tables.countEntries(filter),
      offset: page.offset,
      warnings: found.warnings,
    }
    switch (query.of) {
      case 'index':
        return { ...common, of: 'index', entries: entries as IndexEntry[] }
      case 'watchlist':
        return { ...common, of: 'watchlist', entries: entries as TermEntry[] }
      case 'appeals':
        return { ...common, of: 'appeals', entries: entries as AppealEntry[] }
    }
  })
}

/** The list that was named, or the only one; null if there are several. */
function chooseList(
  tables: LedgerTables,
  of: Exclude<LedgerKind, 'appeals'>,
  name: string | null,
): string | null {
  const names = tables.readLists().map((list) => list.name)
  if (name === null) return names.length === 1 ? (names[0] ?? null) : null
  if (names.includes(name)) return name
  throw new SluiceError({ id: 'ledger_list_unknown', of, name, names: names.slice(0, NAMED_LISTS_MAX) })
}

const NAMED_LISTS_MAX = 20
