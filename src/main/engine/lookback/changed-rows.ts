import type {
  ChangedRow,
  ChangedRows,
  ChangeFilter,
  DecisionComparison,
} from '../../../shared/lookback/comparison.ts'
import { toStateName } from '../../../shared/messages/state-name.ts'
import { type SourcePlace, toRowAndRecord, toSourcePlace } from '../../../shared/plan/source-place.ts'
import { joinTexts, toExportColumns } from '../../../shared/run/export-columns.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import type { ExportRow, ResultRow } from '../../../shared/run/results.ts'
import { toWrittenRows } from '../../../shared/run/written-rows.ts'
import { toGroups } from '../../../shared/to-groups.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { toTable } from '../run/export/csv-report.ts'
import { haveLetters, readRowsByNumber, readScoredClasses } from '../run/export/export-rows.ts'
import { findCutColumns } from '../run/export/row-columns.ts'
import { findReportFormat, writeReport } from '../run/export/write-report.ts'
import { hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { findNewest, readFamilyRows } from '../run/results/family-rows.ts'
import { createNumberReader, readPlaces } from '../run/results/row-places.ts'
import type { JoinKey } from './join-key.ts'
import type { PairedRows, PairKind } from './paired-rows.ts'
import type { Standing } from './standings.ts'

/** The pairs that changed in the requested way; `rule` is a number of {@link PairedRows.rules}. */
export interface ChosenChanges {
  a: RunFamily
  b: RunFamily
  pairs: PairedRows
  filter: { kind: ChangeFilter['kind']; rule: number | null }
  key: JoinKey
}

/** Rows that are written at a time. */
const PAGE_ROWS = 500

/** An outcome of a pair for documents: `succeeded`, or the state as it is named elsewhere, with its error. */
export function formatOutcome(outcome: string): string {
  if (outcome === '') return 'succeeded'
  const [state = '', ...rest] = outcome.split(' ')
  return [toStateName(state as RowState), ...rest].join(' ')
}

function isChosen(
  { a, b, isDecided, isCached, isChanged }: PairKind,
  { kind, rule }: ChosenChanges['filter'],
): boolean {
  const has = (side: Standing) => rule !== null && side.rules.includes(rule)
  switch (kind) {
    case 'changed':
      return isChanged
    case 'outcome':
      return a.outcome !== b.outcome
    case 'from-cache':
      return isChanged && isCached
    case 'newly':
      return isDecided && has(b) && !has(a)
    case 'no-longer':
      return isDecided && has(a) && !has(b)
  }
}

interface Pair {
  bRow: number
  a: Omit<ChangedRow['a'], 'row' | 'place'>
  b: Omit<ChangedRow['b'], 'row' | 'place'>
  newly: string[]
  noLonger: string[]
}

/** A pair whose row of A has its number. */
type NumberedPair = Omit<Pair, 'a'> & { a: Omit<ChangedRow['a'], 'place'> }

/** The chosen pairs by row of B, from an offset on. */
function* readPairs({ pairs, filter }: ChosenChanges, offset: number): Generator<Pair, void, undefined> {
  const { rules, kinds, kindOf, partnerOf } = pairs
  const chosen = kinds.map((kind) => (isChosen(kind, filter) ? kind : undefined))
  const toNames = (numbers: readonly number[]) => numbers.map((number) => rules[number]?.rule ?? '')
  const toSide = (record: number, { outcome, rules: numbers }: Standing) => ({
    record,
    outcome: formatOutcome(outcome),
    triggered_rules: toNames(numbers),
  })
  let passed = 0
  for (let row = 1; row < kindOf.length; row += 1) {
    const kind = chosen[(kindOf[row] ?? 0) - 1]
    if (kind === undefined) continue
    passed += 1
    if (passed <= offset) continue
    const { a, b } = kind
    yield {
      bRow: row,
      a: toSide(partnerOf[row] ?? 0, a),
      b: toSide(row, b),
      newly: toNames(b.rules.filter((number) => !a.rules.includes(number))),
      noLonger: toNames(a.rules.filter((number) => !b.rules.includes(number))),
    }
  }
}

/** A page of the changed rows, by row of B, and how many there are in all. */
export function listChangedRows(
  changed: ChosenChanges,
  { offset, limit }: { offset: number; limit: number },
): ChangedRows {
  const { a: earlier, b, pairs, filter, key } = changed
  const total = pairs.kinds.reduce((sum, kind) => (isChosen(kind, filter) ? sum + kind.rows : sum), 0)
  const page = [...readPairs(changed, offset).take(limit)]
  const rows = findNewest(
    b,
    page.map(({ bRow }) => bRow),
  )
  const shown = new Map(readFamilyRows(b, rows).map(({ result }) => [result.row, result]))
  const places = readPlaces(
    earlier,
    page.map(({ a }) => a.record),
  )
  return {
    total,
    offset,
    rows: page.map(({ bRow, a, b: own, newly, noLonger }) => ({
      key: readKey(key, shown.get(bRow)),
      a: addPlace(a, places.get(a.record)),
      b: addPlace(own, shown.get(bRow)?.place),
      newly,
      no_longer: noLonger,
      cells: shown.get(bRow)?.cells ?? [],
    })),
  }
}

function addPlace(side: Pair['a'], found: SourcePlace | undefined): ChangedRow['a'] {
  const place = found ?? toSourcePlace(side.record, undefined)
  return { ...toRowAndRecord(side.record, place), ...side, place }
}

/** The key of a row of B for a person to read. */
function readKey({ name, b: key }: JoinKey, row: ResultRow | undefined): string | null {
  if (name === 'post_id') return row?.postId ?? null
  return key.kind === 'cell' ? (row?.cells[key.column] ?? null) : null
}

/** Writes the changed rows as an export of B, each with its outcome in A. Throws what an export throws. */
export async function writeChangedRows(
  changed: ChosenChanges,
  file: string,
): Promise<NonNullable<DecisionComparison['exported']>> {
  const { a, b } = changed
  const { columns, header, plan } = b.record
  const format = findReportFormat(file)
  const pairOf = new Map<number, NumberedPair>()

  function* listPages(): Generator<readonly ExportRow[]> {
    for (const pairs of toGroups(readPairs(changed, 0), PAGE_ROWS)) {
      pairOf.clear()
      const toNumbers = createNumberReader(
        a,
        pairs.map((pair) => pair.a.record),
      )
      for (const pair of pairs) {
        pairOf.set(pair.bRow, { ...pair, a: { ...toNumbers(pair.a.record), ...pair.a } })
      }
      yield* readRowsByNumber(b, [...pairOf.keys()], { withRequests: format === 'jsonl' })
    }
  }
  const toColumn = (name: string, read: (pair: NumberedPair) => string) => ({
    name,
    read({ row }: ExportRow) {
      const pair = pairOf.get(row)
      return pair === undefined ? '' : read(pair)
    },
  })
  const table = toTable(columns, [
    toColumn('sluice_newly_triggered', ({ newly }) => joinTexts(newly)),
    toColumn('sluice_no_longer_triggered', ({ noLonger }) => joinTexts(noLonger)),
    toColumn('sluice_a_row', ({ a: side }) => String(side.row)),
    toColumn('sluice_a_record', ({ a: side }) => String(side.record)),
    toColumn('sluice_a_outcome', ({ a: side }) => side.outcome),
    toColumn('sluice_a_triggered_rules', ({ a: side }) => joinTexts(side.triggered_rules)),
    ...toExportColumns(plan.operation.kind, {
      classes: format === 'jsonl' ? [] : readScoredClasses(b),
      hasFiles: hasSeveralFiles(b.db),
    }),
  ])
  const written = await writeReport({
    file,
    columns,
    header,
    pages: listPages(),
    rowsHaveLetters: haveLetters(b),
    table,
    members({ row }) {
      const pair = pairOf.get(row)
      return pair === undefined ? {} : { newly: pair.newly, no_longer: pair.noLonger, a: pair.a }
    },
  })
  return toWrittenRows({ ...written, ...findCutColumns(b, table) })
}
