import { LEDGER_COLUMNS } from '../run/export-columns.ts'
import type { AppealEntry, IndexEntry, LedgerEntry, LedgerKind, TermEntry } from './ledger.ts'

/** A column of an exported ledger; its value is null where there is nothing to say, and no text where it is JSON. */
interface LedgerColumn<Entry> {
  name: string
  read: (entry: Entry) => string | number | object | null
}

/** Behind the fields of the service: what every ledger says of an entry. */
const OWN_COLUMNS: readonly LedgerColumn<LedgerEntry>[] = [
  { name: LEDGER_COLUMNS.state, read: ({ state }) => state },
  { name: LEDGER_COLUMNS.outcome, read: ({ outcome }) => outcome },
  { name: 'sluice_first_at', read: ({ first_at: at }) => at },
  { name: 'sluice_changed_at', read: ({ changed_at: at }) => at },
  { name: 'sluice_run_id', read: ({ run_id: runId }) => runId },
  { name: 'sluice_run_row', read: ({ row }) => row },
  { name: 'sluice_run_record', read: ({ record }) => record },
]

/** Named like the fields of the operations that take them (docs/interface.md §4.3, §4.4). */
const INDEX_COLUMNS: readonly LedgerColumn<IndexEntry>[] = [
  { name: 'custom_index_item_id', read: (entry) => entry.custom_index_item_id },
  { name: 'url', read: ({ url }) => url },
  { name: 'media', read: ({ media }) => media },
  { name: 'metadata', read: ({ metadata }) => metadata },
  { name: 'content_variant', read: (entry) => entry.content_variant },
  ...OWN_COLUMNS,
  { name: 'sluice_items', read: ({ items }) => items },
]

const TERM_COLUMNS: readonly LedgerColumn<TermEntry>[] = [
  { name: 'term', read: ({ term }) => term },
  { name: 'notes', read: ({ notes }) => notes },
  ...OWN_COLUMNS,
  { name: 'sluice_notes_known', read: (entry) => String(entry.notes_known) },
  { name: 'sluice_failure', read: ({ failure }) => failure },
]

const APPEAL_COLUMNS: readonly LedgerColumn<AppealEntry>[] = [
  { name: 'appeal_id', read: (entry) => entry.appeal_id },
  ...OWN_COLUMNS,
  { name: 'sluice_appeal_action_id', read: (entry) => entry.action_id },
  { name: 'sluice_appeal_action_name', read: (entry) => entry.action_name },
  { name: 'sluice_appeal_reasons', read: ({ reasons }) => toList(reasons) },
  { name: 'sluice_original_action_id', read: (entry) => entry.original_action_id },
  { name: 'sluice_original_action_name', read: (entry) => entry.original_action_name },
  { name: 'sluice_original_reasons', read: (entry) => toList(entry.original_reasons) },
  { name: 'sluice_asked_at', read: (entry) => entry.asked_at },
  { name: 'sluice_answered_at', read: (entry) => entry.answered_at },
  { name: 'sluice_asked', read: ({ asked }) => asked },
  { name: 'sluice_unanswered', read: ({ unanswered }) => unanswered },
  { name: 'sluice_history', read: ({ history }) => toList(history) },
]

function toList(list: readonly unknown[]): readonly unknown[] | null {
  return list.length === 0 ? null : list
}

/** The columns of an exported ledger, those of the service's own fields first. */
export function listLedgerColumns(of: LedgerKind): string[] {
  const columns = { index: INDEX_COLUMNS, watchlist: TERM_COLUMNS, appeals: APPEAL_COLUMNS }
  return columns[of].map(({ name }) => name)
}

function readColumns(entry: LedgerEntry): { name: string; value: string | number | object | null }[] {
  const read = <Entry extends LedgerEntry>(columns: readonly LedgerColumn<Entry>[], one: Entry) =>
    columns.map(({ name, read: readOne }) => ({ name, value: readOne(one) }))
  if ('items' in entry) return read(INDEX_COLUMNS, entry)
  return 'term' in entry ? read(TERM_COLUMNS, entry) : read(APPEAL_COLUMNS, entry)
}

export function toLedgerCells(entry: LedgerEntry): string[] {
  return readColumns(entry).map(({ value }) =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
  )
}

/** An entry as a line of JSON, without the members that say nothing: a null would clear notes. */
export function toLedgerLine(entry: LedgerEntry): string {
  const members = readColumns(entry).filter(({ value }) => value !== null)
  return JSON.stringify(Object.fromEntries(members.map(({ name, value }) => [name, value])))
}
