import { listLatencies } from '../load/load-view.ts'
import type { Evaluation, Judged } from '../lookback/evaluation.ts'
import { FIGURES, MATRIX_CELLS, OVERALL_NAME } from '../lookback/evaluation-view.ts'
import type { Failure, RunReport } from '../lookback/run-report.ts'
import { formatCounted } from '../messages/figure-text.ts'
import { MAY_INCLUDE_DELAYS } from '../messages/own-delays.ts'
import { listReadAs } from '../messages/reading-messages.ts'
import { nameRow } from '../plan/source-place.ts'
import { sayOtherMessages } from '../run/counts.ts'
import { nameTriggeredRules } from '../run/rule-names.ts'
import {
  countSucceededOf,
  listRowWarnings,
  noteUnsuccessful,
  toServiceUrl,
  toShownState,
} from '../run/run.ts'
import { describeOperation, listAnswers, listOutcomes } from '../run/run-view.ts'
import { formatStop } from '../run/snapshot.ts'
import {
  bar,
  type Cell,
  count,
  figure,
  foreign,
  type Marked,
  number,
  partOf,
  quote,
  share,
  type Table,
  text,
  toTitle,
} from './report.ts'
import { toCounts, toLatencyTable } from './summary-report.ts'

/** Unsuccessful rows by cause, for a page: everything about a cause is in one cell. */
export function toFailuresTable({ failures, summary }: RunReport): Table {
  const repeated = noteRepeated(failures)
  return {
    caption: `Rows that did not succeed, and the first of each cause${repeated === '' ? '' : `; ${repeated}`}`,
    columns: [count('rows'), share('share'), text('outcome'), text('cause'), text('rows such as')],
    rows: failures.map((failure) => [
      ...[failure.rows, partOf(failure.rows, summary.rows.read), failure.outcome],
      ...[toCause(failure), failure.examples.map(nameRow).join(', ')],
    ]),
  }
}

/** That rows can stand with several causes; '' if they cannot. */
function noteRepeated(failures: RunReport['failures']): string {
  const checks = failures.filter(({ outcome }) => outcome === 'invalid').length
  return checks > 1 ? 'a row that failed several checks counts in each' : ''
}

function toCause({ status, error_code: code, message, further_messages: further, advice }: Failure): Cell {
  const name = [status ?? '', code ?? ''].filter((part) => part !== '').join(' ')
  return [
    ...(name === '' ? [] : [{ text: name, isCode: true }, ' ']),
    quote(message),
    {
      text: sayOtherMessages(further),
      ...(advice !== null && { meaning: advice }),
    },
  ]
}

/** Rows shown with their cells, for each cause. */
const SHOWN_ROWS = 3

/** Characters shown of a cell. */
const CELL_MAX = 300

/** The first rows of each cause, with their cells. */
export function toExamplesTable({ failures, columns }: RunReport): Table {
  return {
    caption: 'The first rows of each cause, with their cells',
    columns: [number('row'), text('cause'), text('cells')],
    rows: failures.flatMap((failure) =>
      failure.examples
        .slice(0, SHOWN_ROWS)
        .map(({ cells, ...named }) => [
          nameRow(named),
          failure.error_code ?? failure.outcome,
          nameCells(cells, columns).map((cell) => ({ ...cell, text: cutCell(cell.text) })),
        ]),
    ),
  }
}

/** The non-empty cells of a row, each with its column's name. */
function nameCells(cells: readonly string[] | null, names: readonly string[] | null) {
  return (cells ?? []).flatMap((cell, index) =>
    cell === '' ? [] : [{ text: cell, isForeign: true, column: names?.[index] ?? String(index + 1) }],
  )
}

function cutCell(cell: string): string {
  return cell.length > CELL_MAX ? `${cell.slice(0, CELL_MAX).toWellFormed()}…` : cell
}

const RULES_MAX = 200

/** The rules that rows triggered, most rows first, for a page. */
export function toRulesTable({ summary, rows_without_rule: without }: RunReport): {
  table: Table
  notes: string[]
} {
  const { rows, triggered_rules: rules } = summary
  const toRow = (name: string | Marked, triggered: number, succeeded: number): Cell[] => {
    const part = partOf(succeeded, rows.succeeded)
    return [name, triggered, part, part]
  }
  const none = without ?? 0
  const nameOf = nameTriggeredRules(rules)
  const left = rules.length - RULES_MAX
  return {
    table: {
      caption: `Of ${formatCounted(rows.succeeded, 'row')} that succeeded; a row can trigger several rules`,
      columns: [text('rule'), count('rows'), share('share'), bar('')],
      rows: [
        ...rules
          .slice(0, RULES_MAX)
          .map((rule) =>
            toRow(
              { ...quote(nameOf.get(rule.rule_id) ?? rule.rule_name), meaning: rule.rule_id },
              rule.rows,
              countSucceededOf(rule),
            ),
          ),
        toRow(rules.length === 0 ? 'none' : 'no rule', none, none),
      ],
    },
    notes: [
      ...noteUnsuccessful(rules),
      ...(left > 0 ? [`${formatCounted(left, 'further rule')} left out.`] : []),
    ],
  }
}

/** One sheet of a workbook: tables below each other, without gaps inside a group. */
export interface ReportSheet {
  name: 'Summary' | 'Failures by cause' | 'Rules' | 'Evaluation'
  groups: readonly (readonly Table[])[]
}

/** The sheets of a bulk run's workbook besides its rows. */
export function toRunSheets(report: RunReport): ReportSheet[] {
  const { evaluation, rows_without_rule: without } = report
  return [
    { name: 'Summary', groups: listSummaryTables(report).map((table) => [table]) },
    { name: 'Failures by cause', groups: [[toFailuresSheet(report)]] },
    ...(without === null ? [] : [{ name: 'Rules' as const, groups: [[toRulesSheet(report, without)]] }]),
    ...(evaluation === null
      ? []
      : [{ name: 'Evaluation' as const, groups: listEvaluationTables(evaluation) }]),
  ]
}

/** A table whose first column has the rows' headings, with titles in the style of sheets. */
function withHeads(first: string, { columns, ...table }: Table): Table {
  return {
    ...table,
    columns: columns.map((column, at) => ({ ...column, title: at === 0 ? first : toTitle(column) })),
  }
}

function listSummaryTables({ app_version, summary, further_failures }: RunReport): Table[] {
  const { rows, requests, throughput, callbacks, retry_after, throttling } = summary
  const answers = listAnswers(summary)
  const warnings = listRowWarnings(summary.warnings)
  const facts: [name: string, value: string | number | null | undefined][] = [
    ['Run', summary.run_id],
    ['Name', summary.name],
    ['State', toShownState(summary)],
    [
      'Stopped because',
      summary.stop_reason === null ? null : formatStop(summary.stop_reason, summary.stop_advice),
    ],
    ['Operation', describeOperation(summary)],
    ...[summary.source, ...(summary.more_sources ?? [])].map((path): [string, string] => ['Source', path]),
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
    [MAY_INCLUDE_DELAYS, summary.generator.limited ? 'yes' : 'no'],
    ['Further causes of failures', further_failures.causes === 0 ? null : further_failures.causes],
  ]
  return [
    {
      columns: [text('Run'), text('')],
      rows: facts.flatMap(([name, value = null]) => (value === null || value === '' ? [] : [[name, value]])),
    },
    withHeads(
      'Outcome',
      toCounts(
        [{ name: 'read', rows: rows.read, meaning: '', tone: 'plain' }, ...listOutcomes(summary)],
        rows.read,
      ),
    ),
    ...(answers === null ? [] : [withHeads(answers.title, toCounts(answers.answers, rows.read))]),
    ...(warnings.length === 0
      ? []
      : [
          {
            columns: [text('Warning about rows'), count('Rows'), text(''), text('Meaning')],
            rows: warnings.map(({ code, rows: counted, message }) => [code, counted, '', message]),
          },
        ]),
    withHeads('Latency, ms', toLatencyTable(listLatencies(summary.latency_ms))),
  ]
}

/** Causes for a sheet, with a column for each property. */
function toFailuresSheet({ failures, summary, columns: names }: RunReport): Table {
  const repeated = noteRepeated(failures)
  return {
    columns: [
      ...[
        count(repeated === '' ? 'Rows' : `Rows (${repeated})`),
        share('Share'),
        text('Outcome'),
        number('Status'),
        text('Error code'),
      ],
      ...[foreign('Message'), text('Rows such as'), text('What to do')],
      ...(names === null ? [] : [foreign('First row')]),
    ],
    rows: failures.map((failure) => [
      ...[failure.rows, toPart(failure.rows, summary.rows.read), failure.outcome, failure.status],
      ...[failure.error_code, failure.message, failure.examples.map(nameRow).join(', '), failure.advice],
      ...(names === null ? [] : [nameCells(failure.examples[0]?.cells ?? null, names)]),
    ]),
  }
}

function toRulesSheet({ summary }: RunReport, without: number): Table {
  const { succeeded } = summary.rows
  return {
    columns: [foreign('Rule'), foreign('Id'), count('Rows'), share('Share of succeeded')],
    rows: [
      ...summary.triggered_rules.map((rule) => [
        ...[rule.rule_name, rule.rule_id, rule.rows, toPart(countSucceededOf(rule), succeeded)],
      ]),
      ['no rule', '', without, toPart(without, succeeded)],
    ],
  }
}

/** A share from 0 to 1 for computing in a spreadsheet; null if the whole is 0. */
function toPart(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}

const MATRIX = MATRIX_CELLS.map(({ count: cell }) => count(toTitle(text(cell.replace('_', ' ')))))
const JUDGED_COLUMNS = [
  ...MATRIX,
  ...FIGURES.flatMap(({ title }) => [title, `${title} from`, `${title} to`]).map((title) => share(title)),
]

/** Counts of the labelled rows, or the estimates of a stratified sample for all rows. */
function toCells({ matrix, estimated, ...figures }: Judged): Cell[] {
  const counts = estimated ?? matrix
  return [
    ...MATRIX_CELLS.map(({ count: cell }) => counts[cell]),
    ...FIGURES.flatMap(({ name }) => [figures[name].value, figures[name].low, figures[name].high]),
  ]
}

/** The tables of an evaluation, in one list for each group. */
function listEvaluationTables(evaluation: Evaluation): Table[][] {
  const { rules, overall, rows, labels, slices, scores, assertions } = evaluation
  const several: Cell[][] = [
    [OVERALL_NAME, '', ...toCells(overall)],
    ...(['macro', 'micro'] as const).map((name) => [
      ...[`${name} average`, '', '', '', '', ''],
      ...FIGURES.flatMap((one, index) => [...(index === 0 ? [] : ['', '']), evaluation[name][one.name]]),
    ]),
  ]
  return [
    [
      {
        columns: [foreign('Rule'), text('Value'), ...JUDGED_COLUMNS],
        rows: [
          ...rules.map((rule) => [rule.rule, '', ...toCells(rule)]),
          ...(rules.length > 1 ? several : []),
        ],
      },
    ],
    [
      {
        columns: [text('Rows'), count('')],
        rows: Object.entries(rows).map(([name, counted]) => [name.replaceAll('_', ' '), counted]),
      },
    ],
    [
      {
        columns: [foreign('Label'), count('Rows'), foreign('Should trigger')],
        rows: labels.values.map(({ value, rows: counted, rules: named }) => [
          value,
          counted,
          named.join('; '),
        ]),
      },
    ],
    ...slices.map(({ column, values }): Table[] => [
      {
        columns: [foreign('Rule'), foreign(column), ...JUDGED_COLUMNS],
        rows: values.flatMap(({ value, rules: judged }) =>
          judged.map((rule) => [rule.rule, value, ...toCells(rule)]),
        ),
      },
    ]),
    ...scores.map((score): Table[] => [
      {
        columns: [foreign(`Scores of ${score.class}`), text('as a test for'), foreign(score.rule)],
        rows: [
          ['average precision', score.average_precision],
          ['ROC AUC', score.roc_auc],
        ],
      },
      {
        columns: [figure('Threshold'), ...FIGURES.map(({ title }) => share(title)), ...MATRIX],
        rows: score.points.map((point) => [
          ...[point.threshold, point.precision, point.recall, point.f1],
          ...MATRIX_CELLS.map(({ count: cell }) => point[cell]),
        ]),
      },
    ]),
    ...(assertions.length === 0
      ? []
      : [
          [
            {
              columns: [text('Assertion'), share('Found'), text('Holds')],
              rows: assertions.map(({ expression, value, ok }) => [expression, value, ok ? 'yes' : 'no']),
            },
          ],
        ]),
  ]
}
