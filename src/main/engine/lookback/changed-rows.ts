import type {
  ChangedRow,
  ChangedRows,
  ChangeFilter,
  DecisionComparison,
} from '../../../shared/lookback/comparison.ts'
import { toStateName } from '../../../shared/messages/state-name.ts'
import { toExportColumns } from '../../../shared/run/export-columns.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import type { ExportRow, ResultRow } from '../../../shared/run/results.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { refuseSource } from '../results/export-run.ts'
import { toTable } from '../run/export/csv-report.ts'
import { readPagesOfRows, readScoredClasses } from '../run/export/export-rows.ts'
import { findReportFormat, writeReport } from '../run/export/write-report.ts'
import { findNewest, readFamilyRows } from '../run/results/family-rows.ts'
import type { JoinKey } from './join-key.ts'
import type { PairedRows } from './paired-rows.ts'

/** The pairs that changed in the way asked for; `rule` is a number of {@link PairedRows.rules}. */
export interface ChosenChanges {
  b: RunFamily
  pairs: PairedRows
  filter: { kind: ChangeFilter['kind']; rule: number | null }
  key: JoinKey
}

/** Rows that are written at a time. */
const PAGE_ROWS = 500

/** The numbers of the rules in a list of `pair`. */
export function parseRules(list: string): number[] {
  return list === '' ? [] : list.slice(1, -1).split(',').map(Number)
}

/** An outcome of `pair` for documents: `succeeded`, or the state as it is named elsewhere, with its error. */
export function formatOutcome(outcome: string): string {
  if (outcome === '') return 'succeeded'
  const [state = '', ...rest] = outcome.split(' ')
  return [toStateName(state as RowState), ...rest].join(' ')
}

const IS_CHANGED = '(a_outcome <> b_outcome OR (is_decided AND a_rules <> b_rules))'

function toCondition({ kind, rule }: ChosenChanges['filter']): string {
  const has = (side: string) => `instr(${side}_rules, ',${rule},') > 0`
  switch (kind) {
    case 'changed':
      return IS_CHANGED
    case 'outcome':
      return 'a_outcome <> b_outcome'
    case 'from-cache':
      return `${IS_CHANGED} AND is_cached`
    case 'newly':
      return `${has('b')} AND NOT ${has('a')} AND is_decided`
    case 'no-longer':
      return `${has('a')} AND NOT ${has('b')} AND is_decided`
  }
}

interface Pair {
  bRow: number
  a: ChangedRow['a']
  b: ChangedRow['b']
  newly: string[]
  noLonger: string[]
}

/** Some changed pairs by row of B, after a row or from an offset on. */
function readPairs(
  { pairs: { db, rules }, filter }: ChosenChanges,
  { after, offset, limit }: { after: number; offset: number; limit: number },
): Pair[] {
  const found = db
    .prepare(
      `SELECT a_row, b_row, a_outcome, b_outcome, a_rules, b_rules FROM pair
       WHERE b_row > ? AND ${toCondition(filter)} ORDER BY b_row LIMIT ? OFFSET ?`,
    )
    .all(after, limit, offset)
  const toNames = (numbers: readonly number[]) => numbers.map((number) => rules[number]?.rule ?? '')
  return found.map((pair) => {
    const [inA, inB] = [parseRules(String(pair['a_rules'])), parseRules(String(pair['b_rules']))]
    const toSide = (side: 'a' | 'b', numbers: readonly number[]) => ({
      row: Number(pair[`${side}_row`]),
      outcome: formatOutcome(String(pair[`${side}_outcome`])),
      triggered_rules: toNames(numbers),
    })
    return {
      bRow: Number(pair['b_row']),
      a: toSide('a', inA),
      b: toSide('b', inB),
      newly: toNames(inB.filter((number) => !inA.includes(number))),
      noLonger: toNames(inA.filter((number) => !inB.includes(number))),
    }
  })
}

/** A page of the changed rows, by row of B, and how many there are in all. */
export function listChangedRows(
  changed: ChosenChanges,
  { offset, limit }: { offset: number; limit: number },
): ChangedRows {
  const { b, pairs, filter, key } = changed
  const total = pairs.db.prepare(`SELECT count(*) AS n FROM pair WHERE ${toCondition(filter)}`).get()
  const page = readPairs(changed, { after: 0, offset, limit })
  const rows = findNewest(
    b,
    page.map(({ bRow }) => bRow),
  )
  const shown = new Map(readFamilyRows(b, rows).map(({ result }) => [result.row, result]))
  return {
    total: Number(total?.['n']),
    offset,
    rows: page.map(({ bRow, a, b: own, newly, noLonger }) => ({
      key: readKey(key, shown.get(bRow)),
      a,
      b: own,
      newly,
      no_longer: noLonger,
      cells: shown.get(bRow)?.cells ?? [],
    })),
  }
}

/** The key of a row of B for a person to read. */
function readKey({ name, b: key }: JoinKey, row: ResultRow | undefined): string | null {
  if (name === 'post_id') return row?.postId ?? null
  return key.kind === 'cell' ? (row?.cells[key.column] ?? null) : null
}

/** Writes the changed rows to a file as an export of B, each with what became of it in A. Throws what an export throws. */
export async function writeChangedRows(
  a: RunFamily,
  changed: ChosenChanges,
  file: string,
): Promise<NonNullable<DecisionComparison['exported']>> {
  const { b } = changed
  for (const run of [a, b]) refuseSource(run, file)
  const { columns, header, plan } = b.record
  const format = findReportFormat(file)
  const pairOf = new Map<number, Pair>()

  function* listPages(): Generator<readonly ExportRow[]> {
    for (let after = 0; ; ) {
      const page = readPairs(changed, { after, offset: 0, limit: PAGE_ROWS })
      const last = page.at(-1)
      if (last === undefined) return
      after = last.bRow
      pairOf.clear()
      for (const pair of page) pairOf.set(pair.bRow, pair)
      yield* readPagesOfRows(b, [findNewest(b, [...pairOf.keys()])], { withRequests: format === 'jsonl' })
    }
  }
  const toColumn = (name: string, read: (pair: Pair) => string) => ({
    name,
    read({ row }: ExportRow) {
      const pair = pairOf.get(row)
      return pair === undefined ? '' : read(pair)
    },
  })
  const written = await writeReport({
    ...{ file, format, columns, header, lossless: false, pages: listPages() },
    table: toTable(columns, [
      toColumn('sluice_newly_triggered', ({ newly }) => newly.join('; ')),
      toColumn('sluice_no_longer_triggered', ({ noLonger }) => noLonger.join('; ')),
      toColumn('sluice_a_row', ({ a }) => String(a.row)),
      toColumn('sluice_a_outcome', ({ a }) => a.outcome),
      toColumn('sluice_a_triggered_rules', ({ a }) => a.triggered_rules.join('; ')),
      ...toExportColumns(plan.operation.kind, { classes: format === 'jsonl' ? [] : readScoredClasses(b) }),
    ]),
    members({ row }) {
      const pair = pairOf.get(row)
      return pair === undefined ? {} : { newly: pair.newly, no_longer: pair.noLonger, a: pair.a }
    },
  })
  return { file: written.file, rows: written.rows, bytes: written.sizeBytes }
}
