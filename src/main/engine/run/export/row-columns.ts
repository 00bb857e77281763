import {
  type ColumnEntry,
  chooseColumns,
  listAnswerPaths,
  listColumns,
  type TableColumn,
} from '../../../../shared/run/choose-columns.ts'
import type { ExportOptions, ExportRow } from '../../../../shared/run/results.ts'
import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import type { CutNames } from '../../../../shared/run/written-rows.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { hasTraces } from '../../journal/traces.ts'
import { hasSeveralFiles } from '../journal/intake-writer.ts'
import { hasVerdicts } from '../journal/verdict-store.ts'
import { listAllPages } from '../results/result-page.ts'
import {
  COLUMNS_MAX,
  listCutNames,
  readCorrectedFields,
  readFirstClasses,
  readPagesOfRows,
  readRowsByNumber,
  readScoredClasses,
  readTriggeredRules,
} from './export-rows.ts'

/** Rows whose answers are searched for members. */
const SAMPLED_ROWS = 50

/** Prefix of columns with the score of a class. */
const SCORE = 'score.'

/** Prefix of columns that say whether a rule was triggered. */
const RULE = 'rule.'

/** Every column that a table of a run's rows can have; further members of answers are named by path. */
export function listRowColumns(family: RunFamily): ColumnEntry[] {
  const bodies = sampleRows(family, { state: 'succeeded' }).map(({ content }) => content.body)
  return listColumns({ ...toChoice(family), classes: readFirstClasses(family) }, listAnswerPaths(bodies))
}

function sampleRows(family: RunFamily, filter: RowFilter): ExportRow[] {
  const [first = []] = listAllPages(family, filter)
  const parts = { withRequests: false, onDamaged() {} }
  return [...readPagesOfRows(family, [first.slice(0, SAMPLED_ROWS)], parts)].flat()
}

/** For each row, the text of each named column. Throws `BAD_USAGE` for a name that does not exist. */
export function readRowColumns(
  family: RunFamily,
  rows: readonly number[],
  names: readonly string[],
): string[][] {
  const classes = names.filter((name) => name.startsWith(SCORE)).map((name) => name.slice(SCORE.length))
  const choice = { ...toChoice(family), rulesAsColumns: false, classes }
  const columns = names.map((name) => chooseColumns({ ...choice, asked: [name] })[0])
  const toTexts = (row: ExportRow) =>
    columns.map((column) => {
      if (column === undefined) return ''
      return typeof column === 'number' ? (row.cells[column] ?? '') : String(column.read(row))
    })
  const textsOf = new Map<number, string[]>()
  for (const page of readRowsByNumber(family, rows, { withRequests: false })) {
    for (const row of page) textsOf.set(row.row, toTexts(row))
  }
  return rows.map((row) => textsOf.get(row) ?? names.map(() => ''))
}

/** The requested columns of a table (default: those of all exports). Throws `BAD_USAGE` for a missing one. */
export function chooseTable(
  family: RunFamily,
  { columns = ['default'], rulesAsColumns = false }: Pick<ExportOptions, 'columns' | 'rulesAsColumns'> = {},
): TableColumn[] {
  return chooseColumns({
    ...toChoice(family),
    asked: columns,
    rulesAsColumns,
    classes: readScoredClasses(family),
    corrected: readCorrectedFields(family),
    hasVerdicts: hasVerdicts(family),
  })
}

/** Of what a table has as many columns as it can have, though the run has more. */
export function findCutColumns(
  family: RunFamily,
  table: readonly TableColumn[],
): { cutColumns?: CutNames[] } {
  const has = (prefix: string) =>
    table.filter((column) => typeof column !== 'number' && column.name.startsWith(prefix)).length >=
    COLUMNS_MAX
  const cutColumns = listCutNames(family, [
    ...(has(SCORE) ? (['classes'] as const) : []),
    ...(has(RULE) ? (['rules'] as const) : []),
  ])
  return cutColumns.length === 0 ? {} : { cutColumns }
}

function toChoice(family: RunFamily) {
  const { columns, plan } = family.record
  return {
    operation: plan.operation.kind,
    columns,
    rules: readTriggeredRules(family),
    hasFiles: hasSeveralFiles(family.db),
    hasTraces: family.whole.some(({ db }) => hasTraces(db)),
  }
}
