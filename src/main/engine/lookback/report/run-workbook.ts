import { listLatencies } from '../../../../shared/load/load-view.ts'
import type { Evaluation, Judged, Metric } from '../../../../shared/lookback/evaluation.ts'
import type { RunReport } from '../../../../shared/lookback/run-report.ts'
import { listReadAs } from '../../../../shared/messages/reading-messages.ts'
import { nameRow } from '../../../../shared/plan/source-place.ts'
import { type Table, toTitle } from '../../../../shared/report/report.ts'
import { toCounts, toLatencyTable } from '../../../../shared/report/summary-report.ts'
import { chooseColumns, type TableColumn } from '../../../../shared/run/choose-columns.ts'
import { quotesContent } from '../../../../shared/run/export-columns.ts'
import { listRowWarnings, toServiceUrl } from '../../../../shared/run/run.ts'
import { describeOperation, listAnswers, listOutcomes } from '../../../../shared/run/run-view.ts'
import { formatStop } from '../../../../shared/run/snapshot.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { readExportPages, readScoredClasses } from '../../run/export/export-rows.ts'
import {
  cutToCell,
  type Sheet,
  type SheetCell,
  type SheetRow,
  writeWorkbook,
} from '../../run/export/workbook.ts'
import { toResultsSheet } from '../../run/export/xlsx-report.ts'
import { hasSeveralFiles } from '../../run/journal/intake-writer.ts'
import { hasVerdicts } from '../../run/journal/verdict-store.ts'

/**
 * A bulk run as a workbook: summary, results, failures by cause, rules, and the evaluation where there is one. Figures
 * are numbers, to be computed with. Throws what an export throws.
 */
export function writeRunWorkbook(
  family: RunFamily,
  report: RunReport,
): AsyncGenerator<Buffer, void, undefined> {
  const { columns, header } = family.record
  const table = listColumns(family, report.has_content)
  const pages = readExportPages(family, {}, { withRequests: false })
  return writeWorkbook([
    toSheet('Summary', [28, 40, 14, 60], listSummary(report)),
    toResultsSheet('Results', { columns, header, table, lossless: false }, pages),
    toSheet('Failures by cause', [10, 10, 12, 10, 24, 60, 24, 60], listFailures(report)),
    ...(report.rows_without_rule === null
      ? []
      : [toSheet('Rules', [36, 24, 10, 22], listRules(report, report.rows_without_rule))]),
    ...(report.evaluation === null
      ? []
      : [toSheet('Evaluation', [36, 24], listEvaluation(report.evaluation))]),
  ])
}

/** The columns of an export; without content those that cannot quote a cell of the source. */
function listColumns(family: RunFamily, hasContent: boolean): TableColumn[] {
  const table = chooseColumns({
    asked: ['default'],
    rulesAsColumns: false,
    operation: family.record.plan.operation.kind,
    columns: family.record.columns,
    classes: readScoredClasses(family),
    rules: [],
    hasVerdicts: hasVerdicts(family),
    hasFiles: hasSeveralFiles(family.db),
  })
  if (hasContent) return table
  return table.filter((column) => typeof column !== 'number' && !quotesContent(column.name))
}

function toSheet(name: string, widths: readonly number[], rows: readonly SheetRow[]): Sheet {
  const columns = Math.max(1, ...rows.map(({ cells }) => cells.length))
  const cut = rows.map(({ cells, ...row }) => ({
    ...row,
    cells: cells.map((cell) => (typeof cell === 'string' ? cutToCell(cell) : cell)),
  }))
  return { name, widths, columns, rows: [cut] }
}

const toHeader = (...cells: string[]): SheetRow => ({ cells, isHeader: true })
const toRow = (...cells: (SheetCell | null)[]): SheetRow => ({ cells: cells.map((cell) => cell ?? '') })
const EMPTY: SheetRow = { cells: [] }

/** A table of a report, what its rows are above the first column: figures are numbers, and bars say what one next to them does. */
function toTableRows(rowsAre: string, { columns, rows }: Table): SheetRow[] {
  const shown = columns.flatMap((column, at) =>
    column.kind === 'bar' ? [] : [{ title: at === 0 ? rowsAre : toTitle(column), at }],
  )
  return [
    toHeader(...shown.map(({ title }) => title)),
    ...rows.map((row) =>
      toRow(
        ...shown.map(({ at }) => {
          const cell = row[at] ?? null
          return typeof cell === 'object' ? (cell?.text ?? null) : cell
        }),
      ),
    ),
  ]
}

/** A share from 0 to 1, as spreadsheets compute with it; '' of nothing. */
function toShare(part: number, all: number): SheetCell {
  return all > 0 ? part / all : ''
}

function listSummary({ app_version, summary, further_failures }: RunReport): SheetRow[] {
  const { rows, requests, throughput, callbacks, retry_after, throttling } = summary
  const answers = listAnswers(summary)
  const warnings = listRowWarnings(summary.warnings)
  const facts: [string, SheetCell | null | undefined][] = [
    ['Run', summary.run_id],
    ['Name', summary.name],
    ['State', summary.state],
    [
      'Stopped because',
      summary.stop_reason === null ? null : formatStop(summary.stop_reason, summary.stop_advice),
    ],
    ['Operation', describeOperation(summary)],
    ['Source', summary.source],
    ...listReadAs(summary.source_read?.read_as ?? [], 'window').map((line): [string, string] => [
      'Read as',
      line,
    ]),
    ['Service', toServiceUrl(summary)],
    ['Created', summary.created_at],
    ['Started', summary.started_at],
    ['Ended', summary.ended_at],
    ['Retries', summary.retries.map(({ run_id }) => run_id).join('; ')],
    ['Sluice', app_version],
    ['Requests sent', requests.sent],
    ['Requests succeeded', requests.succeeded],
    ['Requests rejected', requests.rejected],
    ['Requests failed', requests.failed],
    ['Requests unknown', requests.unknown],
    ['Requests retried', requests.retried],
    ['Seconds of sending', throughput.duration_s],
    ['Requests per second', throughput.attempted_per_s],
    ['Succeeded per second', throughput.succeeded_per_s],
    ['Callbacks received', callbacks?.received],
    ['Callbacks matched', callbacks?.settled],
    ['429 answers', throttling?.answers],
    ['Retry-After answers', retry_after.answers],
    ['Rows from cache', summary.from_cache.rows],
    ['Answers verified', summary.echoes?.verified],
    ['Answers not verifiable', summary.echoes?.not_verifiable],
    ['Answers that name another id', summary.echoes?.mismatched],
    ['Machine was the bottleneck', summary.generator.limited ? 'yes' : 'no'],
    ['Further causes of failures', further_failures.causes === 0 ? null : further_failures.causes],
  ]
  return [
    toHeader('Run', ''),
    ...facts.flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [toRow(name, value)],
    ),
    EMPTY,
    ...toTableRows(
      'Outcome',
      toCounts(
        [{ name: 'read', rows: rows.read, meaning: '', tone: 'plain' }, ...listOutcomes(summary)],
        rows.read,
      ),
    ),
    ...(answers === null ? [] : [EMPTY, ...toTableRows(answers.title, toCounts(answers.answers, rows.read))]),
    ...(warnings.length === 0
      ? []
      : [
          EMPTY,
          toHeader('Warning about rows', 'Rows', '', 'Meaning'),
          ...warnings.map(({ code, rows: count, message }) => toRow(code, count, '', message)),
        ]),
    EMPTY,
    ...toTableRows('Latency, ms', toLatencyTable(listLatencies(summary.latency_ms))),
  ]
}

function listFailures({ failures, summary, columns }: RunReport): SheetRow[] {
  const names = columns ?? []
  return [
    toHeader(
      'Rows',
      'Share',
      'Outcome',
      'Status',
      'Error code',
      'Message',
      'Rows such as',
      'What to do',
      ...(columns === null ? [] : ['First row']),
    ),
    ...failures.map((failure) =>
      toRow(
        failure.rows,
        toShare(failure.rows, summary.rows.read),
        failure.outcome,
        failure.status,
        failure.error_code,
        failure.message,
        failure.examples.map(nameRow).join(', '),
        failure.advice,
        ...(columns === null ? [] : [describeFirst(failure.examples[0]?.cells ?? [], names)]),
      ),
    ),
  ]
}

function describeFirst(cells: readonly string[], names: readonly string[]): string {
  return cells
    .flatMap((cell, index) => (cell === '' ? [] : [`${names[index] ?? String(index + 1)}: ${cell}`]))
    .join('\n')
}

function listRules({ summary }: RunReport, without: number): SheetRow[] {
  const { succeeded } = summary.rows
  return [
    toHeader('Rule', 'Id', 'Rows', 'Share of succeeded'),
    ...summary.triggered_rules.map(({ rule_id: id, rule_name: name, rows }) =>
      toRow(name, id, rows, toShare(rows, succeeded)),
    ),
    toRow('no rule', '', without, toShare(without, succeeded)),
  ]
}

const MATRIX = ['True positives', 'False positives', 'False negatives', 'True negatives']
const METRICS = ['Precision', 'Recall', 'F1'].flatMap((name) => [name, `${name} from`, `${name} to`])

function listEvaluation(evaluation: Evaluation): SheetRow[] {
  const { rules, overall, macro, micro, rows, labels, slices, scores, assertions } = evaluation
  return [
    toHeader('Rule', 'Value', ...MATRIX, ...METRICS),
    ...rules.map((rule) => toRow(rule.rule, '', ...toCells(rule))),
    ...(rules.length > 1
      ? [
          toRow('Any of these rules', '', ...toCells(overall)),
          ...(
            [
              ['macro average', macro],
              ['micro average', micro],
            ] as const
          ).map(([name, of]) =>
            toRow(name, '', '', '', '', '', of.precision, '', '', of.recall, '', '', of.f1),
          ),
        ]
      : []),
    EMPTY,
    toHeader('Rows', ''),
    ...Object.entries(rows).map(([name, count]) => toRow(name.replaceAll('_', ' '), count)),
    EMPTY,
    toHeader('Label', 'Rows', 'Should trigger'),
    ...labels.values.map(({ value, rows: count, rules: named }) => toRow(value, count, named.join('; '))),
    ...slices.flatMap(({ column, values }) => [
      EMPTY,
      toHeader('Rule', column, ...MATRIX, ...METRICS),
      ...values.flatMap(({ value, rules: judged }) =>
        judged.map((rule) => toRow(rule.rule, value, ...toCells(rule))),
      ),
    ]),
    ...scores.flatMap((score) => [
      EMPTY,
      toHeader(`Scores of ${score.class}`, 'as a test for', score.rule),
      toRow('average precision', score.average_precision),
      toRow('ROC AUC', score.roc_auc),
      toHeader('Threshold', 'Precision', 'Recall', 'F1', ...MATRIX),
      ...score.points.map((point) =>
        toRow(
          ...[point.threshold, point.precision, point.recall, point.f1],
          ...[point.true_positives, point.false_positives, point.false_negatives, point.true_negatives],
        ),
      ),
    ]),
    ...(assertions.length === 0
      ? []
      : [
          EMPTY,
          toHeader('Assertion', 'Found', 'Holds'),
          ...assertions.map(({ expression, value, ok }) => toRow(expression, value, ok ? 'yes' : 'no')),
        ]),
  ]
}

/** Counts of the labelled rows, or of all rows that a stratified sample stands for. */
function toCells({ matrix, estimated, precision, recall, f1 }: Judged): (SheetCell | null)[] {
  const counts = estimated ?? matrix
  return [
    ...[counts.true_positives, counts.false_positives, counts.false_negatives, counts.true_negatives],
    ...[precision, recall, f1].flatMap(({ value, low, high }: Metric) => [value, low, high]),
  ]
}
