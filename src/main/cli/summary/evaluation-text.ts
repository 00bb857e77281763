import type {
  Evaluation,
  Judged,
  JudgedScore,
  Metric,
  ThresholdPoint,
} from '../../../shared/lookback/evaluation.ts'
import {
  AVERAGES,
  describeCell,
  describeEvaluated,
  describeLeftOut,
  FIGURES,
  formatArea,
  formatInterval,
  formatScore as formatThreshold,
  INTERVAL_MEANING,
  listShownPoints,
  OVERALL_NAME,
  toShareText,
} from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { nameRow } from '../../../shared/plan/source-place.ts'
import {
  formatSection,
  formatTable,
  sectionColumns,
  type TableColumn,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Values of labels, slices and strata that are shown; a document has more. */
const SHOWN = 12

/** An evaluation for a person to read: what was compared, each rule, then averages, slices and scores. */
export function formatEvaluation(terminal: Terminal, evaluation: Evaluation): string {
  const { rules, overall, slices, scores } = evaluation
  const parts = [
    [`${terminal.tone('strong', toPrintable(evaluation.name))}  ${evaluation.run_id}`],
    [
      ...formatSection(terminal, 'Rows', formatRows(evaluation)),
      ...formatSection(terminal, 'Labels', formatLabels(evaluation)),
      ...formatSection(terminal, 'Not judged', formatNotJudged(terminal, evaluation)),
      ...formatSection(terminal, 'Sample', formatStrata(evaluation)),
    ],
    evaluation.warnings.flatMap((warning) => formatNote(terminal, warning)),
    ...rules.map((rule) => formatJudged(terminal, rule.rule, rule)),
    ...(rules.length > 1
      ? [formatJudged(terminal, OVERALL_NAME, overall), formatAverages(terminal, evaluation)]
      : []),
    ...slices.map((slice) => formatSlice(terminal, slice)),
    ...scores.map((score) => formatScore(terminal, score)),
    ...evaluation.listed.map((list) => formatListed(terminal, list)),
    formatAssertions(terminal, evaluation),
    formatExported(evaluation),
    wrapWords(INTERVAL_MEANING, terminal.columns()).map((part) => terminal.tone('quiet', part)),
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

function formatRows(evaluation: Evaluation): string[] {
  const left = describeLeftOut(evaluation)
  return [describeEvaluated(evaluation), ...(left === null ? [] : [`left out: ${left}`])]
}

function formatLabels({ labels }: Evaluation): string[] {
  const shown = labels.values.slice(0, SHOWN)
  const more = labels.values.length - shown.length + labels.further_values
  return [
    ...shown.map(({ value, rows, rules }) => {
      const meaning = rules.length === 0 ? 'no rule' : rules.map((rule) => toPrintable(rule)).join(', ')
      return `${toPrintable(value)} (${formatCount(rows)}) = ${meaning}`
    }),
    ...(more > 0 ? [`and ${formatCounted(more, 'further value')}`] : []),
    ...(labels.from.includes('verdicts') ? ['verdicts, which replace the label of their row'] : []),
  ]
}

function formatNotJudged(terminal: Terminal, { not_judged: rules }: Evaluation): string[] {
  const triggered = rules.filter(({ rows }) => rows > 0)
  if (triggered.length === 0) return []
  const shown = triggered
    .slice(0, SHOWN)
    .map(({ rule, rows }) => `${toPrintable(rule)} (${formatCount(rows)})`)
  return [
    'rules that triggered and that no label names:',
    ...wrapWords(shown.join(', '), sectionColumns(terminal)),
  ]
}

function formatStrata({ strata }: Evaluation): string[] {
  if (strata === null) return []
  const shown = strata
    .slice(0, SHOWN)
    .map(
      ({ stratum, rows, labelled }) =>
        `${toPrintable(stratum)}: ${formatCount(labelled)} of ${formatCount(rows)}`,
    )
  return [
    'stratified; figures are estimates for all rows that the sample was drawn from',
    `labelled: ${shown.join(', ')}${strata.length > SHOWN ? ', …' : ''}`,
  ]
}

function formatNote(terminal: Terminal, note: string): string[] {
  return wrapWords(toPrintable(note), Math.max(30, terminal.columns() - 2)).map((line, index) =>
    terminal.tone('warn', `${index === 0 ? '!' : ' '} ${line}`),
  )
}

const MATRIX_COLUMNS: readonly TableColumn[] = [
  { title: '', align: 'left' },
  { title: 'triggered', align: 'right' },
  { title: 'did not', align: 'right' },
]

/** The matrix of a rule, and what it comes to in three figures, each with a sentence on what it says. */
function formatJudged(terminal: Terminal, title: string, judged: Judged): string[] {
  const { matrix, estimated } = judged
  const counts = estimated ?? matrix
  const about = estimated === null ? '' : '~'
  const count = (rows: number) => `${about}${formatCount(rows)}`
  return [
    terminal.tone('strong', toPrintable(title)),
    ...formatTable(
      terminal,
      MATRIX_COLUMNS,
      [
        ['should trigger', count(counts.true_positives), count(counts.false_negatives)],
        ['should not', count(counts.false_positives), count(counts.true_negatives)],
      ],
      2,
    ),
    ...formatTable(
      terminal,
      FIGURE_COLUMNS,
      FIGURES.map(({ name, label, meaning }) => [label, ...formatMetric(judged[name]), meaning]),
      2,
    ).slice(1),
  ]
}

const FIGURE_COLUMNS: readonly TableColumn[] = [
  { title: '', align: 'left' },
  { title: '', align: 'right' },
  { title: '', align: 'left' },
  { title: '', align: 'left', minColumns: 10 },
]

function formatMetric(metric: Metric): [string, string] {
  const interval = formatInterval(metric)
  if (metric.value === null || interval === null) return ['–', 'no such rows']
  return [formatShare(metric.value), interval]
}

const AVERAGE_COLUMNS: readonly TableColumn[] = [
  { title: 'Averages', align: 'left' },
  { title: 'precision', align: 'right' },
  { title: 'recall', align: 'right' },
  { title: 'F1', align: 'right' },
]

function formatAverages(terminal: Terminal, evaluation: Evaluation): string[] {
  return formatTable(
    terminal,
    AVERAGE_COLUMNS,
    AVERAGES.map(({ name, meaning }) => [meaning, ...formatFigures(evaluation[name])]),
  )
}

function formatFigures({
  precision,
  recall,
  f1,
}: Pick<ThresholdPoint, 'precision' | 'recall' | 'f1'>): string[] {
  return [precision, recall, f1].map(toShareText)
}

function formatSlice(
  terminal: Terminal,
  { column, values, further_rows: further }: Evaluation['slices'][number],
): string[] {
  const columns: readonly TableColumn[] = [
    { title: toPrintable(column), align: 'left', minColumns: 12 },
    { title: 'rule', align: 'left', minColumns: 12 },
    { title: 'rows', align: 'right' },
    { title: 'should', align: 'right' },
    { title: 'precision', align: 'right' },
    { title: 'recall', align: 'right' },
    { title: 'F1', align: 'right' },
  ]
  const shown = values.slice(0, SHOWN)
  const hidden = values.slice(SHOWN).reduce((sum, { rows }) => sum + rows, further)
  const rows = shown.flatMap(({ value, rows: count, rules }) =>
    rules.map(({ rule, matrix, precision, recall, f1 }, index) => [
      index === 0 ? toPrintable(value === '' ? '(empty)' : value) : '',
      toPrintable(rule),
      index === 0 ? formatCount(count) : '',
      formatCount(matrix.true_positives + matrix.false_negatives),
      ...formatFigures({ precision: precision.value, recall: recall.value, f1: f1.value }),
    ]),
  )
  return [
    ...formatTable(terminal, columns, rows),
    ...(hidden > 0 ? [terminal.tone('quiet', `${formatCounted(hidden, 'row')} with further values`)] : []),
  ]
}

const POINT_COLUMNS: readonly TableColumn[] = [
  { title: 'threshold', align: 'left' },
  { title: 'precision', align: 'right' },
  { title: 'recall', align: 'right' },
  { title: 'F1', align: 'right' },
  { title: 'found', align: 'right' },
  { title: 'wrongly', align: 'right' },
  { title: 'missed', align: 'right' },
  { title: '', align: 'left' },
]

/** What other thresholds of a class would have found, with what is known of each. */
function formatScore(terminal: Terminal, score: JudgedScore): string[] {
  const { wanted } = score
  const rows = listShownPoints(score).map(({ point, notes }) => [
    `score ≥ ${formatThreshold(point.threshold)}`,
    ...formatFigures(point),
    formatCount(point.true_positives),
    formatCount(point.false_positives),
    formatCount(point.false_negatives),
    notes.join(', '),
  ])
  const areas = [
    `average precision ${formatArea(score.average_precision)}`,
    `ROC AUC ${formatArea(score.roc_auc)}`,
    ...(score.without_score > 0
      ? [`${formatCounted(score.without_score, 'row')} without a score left out`]
      : []),
  ]
  return [
    `${terminal.tone('strong', `Scores of ${toPrintable(score.class)}`)} as a test for ${toPrintable(score.rule)}`,
    `  ${areas.join(', ')}`,
    terminal.tone('quiet', '  (1 would be perfect; an AUC of 0.5 is no better than chance)'),
    ...formatTable(terminal, POINT_COLUMNS, rows, 2),
    ...wanted
      .filter(({ point }) => point === null)
      .map(({ precision }) => `  No threshold reaches a precision of ${formatShare(precision)}.`),
  ]
}

function formatListed(
  terminal: Terminal,
  { cell, rule, total, rows }: Evaluation['listed'][number],
): string[] {
  const title = `${toPrintable(describeCell({ cell, rule }))} (${formatCounted(total, 'row')})`
  const columns: readonly TableColumn[] = [
    { title: 'row', align: 'right' },
    { title: 'label', align: 'left', minColumns: 8 },
    { title: 'triggered', align: 'left', minColumns: 12 },
    { title: 'cells', align: 'left', minColumns: 20 },
  ]
  const lines = rows.map(({ label, triggered_rules: triggered, cells, ...named }) => [
    nameRow(named),
    toPrintable(label),
    toPrintable(triggered.join('; ')),
    toPrintable(cells.filter((text) => text !== '').join(' | ')),
  ])
  return [
    terminal.tone('strong', title),
    ...(rows.length === 0 ? [] : formatTable(terminal, columns, lines, 2)),
    ...(total > rows.length
      ? [terminal.tone('quiet', `  the first ${rows.length}; --export FILE writes all of them`)]
      : []),
  ]
}

function formatAssertions(terminal: Terminal, { assertions }: Evaluation): string[] {
  return assertions.map(({ expression, value, ok }) => {
    const sign = ok
      ? terminal.tone('good', terminal.glyphs.held)
      : terminal.tone('bad', terminal.glyphs.crossed)
    return `${sign} ${toPrintable(expression)}  ${value === null ? 'no value' : `found ${formatShare(value)}`}`
  })
}

function formatExported({ exported }: Evaluation): string[] {
  return exported === null ? [] : [`${formatCounted(exported.rows, 'row')} in ${exported.file}`]
}
