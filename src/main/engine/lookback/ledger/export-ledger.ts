import type {
  AppealEntry,
  IndexEntry,
  LedgerEntry,
  LedgerKind,
  LedgerQuery,
  TermEntry,
} from '../../../../shared/lookback/ledger.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { LEDGER_COLUMNS } from '../../../../shared/run/export-columns.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { toGroups } from '../../../../shared/to-groups.ts'
import { JsonText, toValueText } from '../../mapping/json-text.ts'
import { refuseSource } from '../../results/export-run.ts'
import { toTable } from '../../run/export/csv-report.ts'
import { toUnsentRow } from '../../run/export/export-rows.ts'
import { toOneLine } from '../../run/export/jsonl-report.ts'
import { findReportFormat, writeReport } from '../../run/export/write-report.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { toRecheckFile } from '../../workspace/workspace-files.ts'
import type { AskedPlace, Ledgers } from './read-ledger.ts'

/** Entries that are written at a time. */
const PAGE_ENTRIES = 500

/**
 * Writes the matching entries of a ledger to a CSV, XLSX or JSON Lines file whose columns are the service's
 * fields, so that it can be the source of the next run. Throws `BAD_USAGE` if no list is chosen, and what
 * exporting and opening a ledger throw.
 */
export function exportLedger(
  ledgers: Ledgers,
  asked: AskedPlace,
  query: LedgerQuery,
  file: string,
): Promise<ExportResult> {
  const format = findReportFormat(file)
  return ledgers.use(asked, query, ({ tables, found, list }) => {
    // The list of appeals to recheck is our own file, which replaces the last one.
    const isOurs = file === toRecheckFile(asked.workspace)
    if (!isOurs) for (const openRun of found.runs) refuseSource(openRun(), file)
    if (list === null) {
      const names = tables.readLists().map(({ name }) => name)
      throw new SluiceError({ id: 'ledger_list_open', of: query.of, names })
    }
    const entries = tables.readEntries({ list, states: query.states, search: query.search })
    if (format === 'jsonl') return writeLines(file, entries)
    const columns = listLedgerColumns(query.of)
    return writeReport({
      file,
      format,
      columns,
      header: columns,
      table: toTable(columns, []),
      pages: toGroups(toRows(entries), PAGE_ENTRIES),
    })
  })
}

function* toRows(entries: Iterable<LedgerEntry>): Generator<ExportRow> {
  let row = 0
  for (const entry of entries) {
    row += 1
    yield toUnsentRow(row, toLedgerCells(entry))
  }
}

async function writeLines(file: string, entries: Iterable<LedgerEntry>): Promise<ExportResult> {
  let rows = 0
  try {
    const sizeBytes = await replaceFile(file, async (append) => {
      let text = ''
      for (const entry of entries) {
        rows += 1
        text += `${toLedgerLine(entry)}\n`
        if (rows % PAGE_ENTRIES !== 0) continue
        await append(text)
        text = ''
      }
      await append(text)
    })
    return { file, rows, sizeBytes }
  } catch (error) {
    throw toFileError(file, error)
  }
}

/** A column of an exported ledger; its value is null if there is nothing to say, and an object for JSON. */
interface LedgerColumn<Entry> {
  name: string
  read: (entry: Entry) => string | number | object | null
}

/** Columns after the service's fields: what every ledger says about an entry. */
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
  { name: 'metadata', read: ({ metadata_text: text }) => (text === null ? null : new JsonText(text)) },
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

/** The columns of an exported ledger, the service's own fields first. */
function listLedgerColumns(of: LedgerKind): string[] {
  const columns = { index: INDEX_COLUMNS, watchlist: TERM_COLUMNS, appeals: APPEAL_COLUMNS }
  return columns[of].map(({ name }) => name)
}

function readColumns(entry: LedgerEntry): { name: string; value: string | number | object | null }[] {
  const read = <Entry extends LedgerEntry>(columns: readonly LedgerColumn<Entry>[], one: Entry) =>
    columns.map(({ name, read: readOne }) => ({ name, value: readOne(one) }))
  if ('items' in entry) return read(INDEX_COLUMNS, entry)
  return 'term' in entry ? read(TERM_COLUMNS, entry) : read(APPEAL_COLUMNS, entry)
}

function toLedgerCells(entry: LedgerEntry): string[] {
  return readColumns(entry).map(({ value }) =>
    typeof value === 'object' && value !== null ? toValueText(value) : String(value ?? ''),
  )
}

/** An entry as a line of JSON without null members: a null would clear notes. */
function toLedgerLine(entry: LedgerEntry): string {
  const members = readColumns(entry).filter(({ value }) => value !== null)
  const toJson = (value: unknown) =>
    value instanceof JsonText ? toOneLine(value.text) : JSON.stringify(value)
  return `{${members.map(({ name, value }) => `${JSON.stringify(name)}:${toJson(value)}`).join(',')}}`
}
