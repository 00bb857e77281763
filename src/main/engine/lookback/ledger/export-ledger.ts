import type { LedgerEntry, LedgerQuery } from '../../../../shared/lookback/ledger.ts'
import { listLedgerColumns, toLedgerCells, toLedgerLine } from '../../../../shared/lookback/ledger-columns.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ExportResult, ExportRow } from '../../../../shared/run/results.ts'
import { toTable } from '../../run/export/csv-report.ts'
import { toUnsentRow } from '../../run/export/export-rows.ts'
import { findReportFormat, writeReport } from '../../run/export/write-report.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import type { AskedPlace, Ledgers } from './read-ledger.ts'

/** Entries that are written at a time. */
const PAGE_ENTRIES = 500

/**
 * Writes the entries of a ledger that match to a CSV, XLSX or JSON Lines file whose columns are the fields of the
 * service, so that it can be the source of the next run. Throws `BAD_USAGE` where no list is chosen, and what an export
 * and opening a ledger throw.
 */
export function exportLedger(
  ledgers: Ledgers,
  asked: AskedPlace,
  query: LedgerQuery,
  file: string,
): Promise<ExportResult> {
  const format = findReportFormat(file)
  return ledgers.use(asked, query, ({ tables, list }) => {
    if (list === null) {
      const names = tables.readLists().map(({ name }) => name)
      throw new SluiceError({ id: 'ledger_list_open', of: query.of, names })
    }
    const entries = tables.readEntries({ list, states: query.states, search: query.search })
    if (format === 'jsonl') return writeLines(file, entries)
    const columns = listLedgerColumns(query.of)
    return writeReport({
      ...{ file, format, columns, header: columns, lossless: false },
      table: toTable(columns, []),
      pages: toPages(entries),
    })
  })
}

function* toPages(entries: Iterable<LedgerEntry>): Generator<ExportRow[]> {
  let page: ExportRow[] = []
  let row = 0
  for (const entry of entries) {
    row += 1
    page.push(toUnsentRow(row, toLedgerCells(entry)))
    if (page.length < PAGE_ENTRIES) continue
    yield page
    page = []
  }
  yield page
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
