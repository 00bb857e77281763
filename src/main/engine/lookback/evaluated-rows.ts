import type { Cell, Evaluation } from '../../../shared/lookback/evaluation.ts'
import type { LabelledKind } from '../../../shared/lookback/evaluator.ts'
import type { Labels } from '../../../shared/lookback/labels.ts'
import { toExportColumns } from '../../../shared/run/export-columns.ts'
import type { ExportRow } from '../../../shared/run/results.ts'
import { toWrittenRows } from '../../../shared/run/written-rows.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { toMembers, toTable } from '../run/export/csv-report.ts'
import { haveLetters, readRowsByNumber, readScoredClasses } from '../run/export/export-rows.ts'
import { findCutColumns } from '../run/export/row-columns.ts'
import { findReportFormat, writeReport } from '../run/export/write-report.ts'
import { hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { type AnsweredStep, readAnsweredSteps } from './answered-rows.ts'
import { toCell } from './matrix-cells.ts'

type JudgedRow = Pick<LabelledKind, 'expected' | 'triggered'> & { text: string }

/**
 * Writes the evaluated rows to a file as an export does, each with its label and its matrix cell for every
 * rule: all rows, or those in the chosen cells. Throws what an export throws.
 */
export async function writeEvaluatedRows(
  family: RunFamily,
  file: string,
  {
    labels,
    choices,
    columns: labelColumns,
    open,
  }: {
    labels: Labels
    choices: readonly { cell: Cell; target: number | null }[]
    columns: readonly number[]
    /** A function that judges the row at a place; null for one without a label. */
    open: (step: AnsweredStep) => (place: number) => JudgedRow | null
  },
): Promise<NonNullable<Evaluation['exported']>> {
  const { columns, header, plan } = family.record
  const format = findReportFormat(file)
  const judgedOf = new Map<number, JudgedRow>()
  const find = ({ row }: ExportRow) => judgedOf.get(row)

  function* listPages(): Generator<readonly ExportRow[]> {
    for (const step of readAnsweredSteps(family, { columns: labelColumns })) {
      judgedOf.clear()
      const read = open(step)
      for (let place = 0; place < step.width; place += 1) {
        const judged = step.answered[place] === 1 ? read(place) : null
        if (judged !== null && isChosen(judged)) judgedOf.set(step.rowAt(place), judged)
      }
      yield* readRowsByNumber(family, [...judgedOf.keys()], { withRequests: format === 'jsonl' })
    }
  }

  function isChosen(judged: JudgedRow): boolean {
    return choices.length === 0 || choices.some(({ cell, target }) => toCell(judged, target) === cell)
  }

  const added = [
    { name: 'sluice_label', read: (row: ExportRow) => find(row)?.text ?? '' },
    ...labels.targets.map(({ rule }, target) => ({
      name: `sluice_cell.${rule}`,
      read: (row: ExportRow) => {
        const judged = find(row)
        return judged === undefined ? '' : toCell(judged, target)
      },
    })),
  ]
  const classes = format === 'jsonl' ? [] : readScoredClasses(family)
  const table = toTable(columns, [
    ...added,
    ...toExportColumns(plan.operation.kind, { classes, hasFiles: hasSeveralFiles(family.db) }),
  ])
  const result = await writeReport({
    file,
    columns,
    header,
    members: toMembers(added),
    table,
    pages: listPages(),
    rowsHaveLetters: haveLetters(family),
  })
  return toWrittenRows({ ...result, ...findCutColumns(family, table) })
}
