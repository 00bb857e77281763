import type {
  AppealEntry,
  IndexEntry,
  Ledger,
  LedgerKind,
  LedgerQuery,
  TermEntry,
} from '../../../../shared/lookback/ledger.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ReaderPool } from '../../journal/run-family.ts'
import { APPEALS_LEDGER } from './appeals-ledger.ts'
import { INDEX_LEDGER } from './index-ledger.ts'
import { findLedgerRuns, type LedgerRuns } from './ledger-runs.ts'
import { type LedgerReader, LedgerTables } from './ledger-tables.ts'
import { WATCHLIST_LEDGER } from './watchlist-ledger.ts'

/** Where runs are found: the workspace, and the ids of the runs that this process holds. */
export interface AskedWorkspace {
  workspace: string
  held: readonly string[]
}

const READERS: Record<LedgerKind, LedgerReader> = {
  index: INDEX_LEDGER,
  watchlist: WATCHLIST_LEDGER,
  appeals: APPEALS_LEDGER,
}

/** A ledger that is open to be read. */
export interface OpenLedger {
  tables: LedgerTables
  found: LedgerRuns
  /** The index or watchlist that was chosen, '' for appeals; null where one of several has yet to be chosen. */
  list: string | null
}

/**
 * Opens a ledger: what all runs of one service made of its indexes, watchlists or appeals. Everything that was sent and
 * everything that was answered becomes an event. Events about the same item, term or appeal are put in the order of the
 * answers and give its state. Both stand in a temporary database, so that memory does not grow with them. Rows that a
 * retry or a resumed run sent again are about the same thing, so they count once.
 *
 * Throws `BAD_USAGE` where no run has done such a thing, several services are left, or the list does not exist.
 */
export async function withLedger<Result>(
  pool: ReaderPool,
  { workspace, held }: AskedWorkspace,
  { of, service, list }: Pick<LedgerQuery, 'of' | 'service' | 'list'>,
  use: (ledger: OpenLedger) => Promise<Result> | Result,
): Promise<Result> {
  const reader = READERS[of]
  const found = findLedgerRuns({ pool, workspace, held, of, service, operations: reader.operations })
  const tables = new LedgerTables()
  try {
    for (const openRun of found.runs) reader.collect(openRun(), tables)
    tables.fold(reader.fold)
    return await use({ tables, found, list: of === 'appeals' ? '' : chooseList(tables, of, list) })
  } finally {
    tables.close()
  }
}

/** Reads a page of a ledger. Throws what {@link withLedger} throws. */
export function readLedger(
  pool: ReaderPool,
  asked: AskedWorkspace,
  query: LedgerQuery,
  page: { offset: number; limit: number },
): Promise<Ledger> {
  return withLedger(pool, asked, query, ({ tables, found, list }) => {
    const lists = tables.readLists()
    const filter = { list: list ?? '', states: query.states, search: query.search }
    const entries = list === null ? [] : [...tables.readEntries(filter, page)]
    const common = {
      service: found.service,
      runs: found.runs.length,
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

/** The list that was named, or the only one; null where there are several. */
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
