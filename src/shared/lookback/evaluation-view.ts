import { formatCount, formatCounted, formatShare, listCounts } from '../messages/figure-text.ts'
import { addFormulaGuard } from '../run/formula-guard.ts'
import type { CellChoice, Evaluation, Judged, JudgedScore, Metric, ThresholdPoint } from './evaluation.ts'
import { findsAll } from './score-curve.ts'

/** Each cell of a matrix in plain words. */
export const CELL_WORDS = {
  tp: 'triggered, and should have',
  fp: 'triggered, and should not have',
  fn: 'did not trigger, and should have',
  tn: 'did not trigger, and should not have',
} as const

/** The cells of a matrix, each with its count and a short name. */
export const MATRIX_CELLS = [
  { cell: 'tp', count: 'true_positives', word: 'found' },
  { cell: 'fp', count: 'false_positives', word: 'wrongly' },
  { cell: 'fn', count: 'false_negatives', word: 'missed' },
  { cell: 'tn', count: 'true_negatives', word: 'rightly not' },
] as const

/** The figures of a rule, each with its name in a sentence, its title and its meaning. */
export const FIGURES = [
  {
    name: 'precision',
    label: 'precision',
    title: 'Precision',
    meaning: 'of the rows that triggered are right',
  },
  { name: 'recall', label: 'recall', title: 'Recall', meaning: 'of the rows that should trigger are found' },
  { name: 'f1', label: 'F1', title: 'F1', meaning: 'both in one figure (harmonic mean)' },
] as const

/** Name for all judged rules taken as one. */
export const OVERALL_NAME = 'Any of these rules'

/** Averages over rules, with their meanings. */
export const AVERAGES = [
  { name: 'macro', meaning: 'macro: each rule counts the same' },
  { name: 'micro', meaning: 'micro: each decision counts the same' },
] as const

export const INTERVAL_MEANING =
  'Ranges are 95 % confidence intervals: how far chance alone may have moved a figure.'

/** A wider interval only says that there are too few rows. */
const WIDEST_INTERVAL = 0.7

const TOO_FEW = 'too few rows'

/** The interval of a figure in words; null if it has none. */
export function formatInterval({ low, high }: Metric): string | null {
  if (low === null || high === null) return null
  return high - low > WIDEST_INTERVAL ? TOO_FEW : `${formatShare(low)} to ${formatShare(high)}`
}

/** A figure in a sentence, with its interval: `83.3 %, 95 % interval 36.5 % to 99.1 %`. */
export function describeFigure(metric: Metric): string {
  const interval = formatInterval(metric)
  if (interval === null) return toShareText(metric.value)
  const words = interval === TOO_FEW ? `${TOO_FEW} for an interval` : `95 % interval ${interval}`
  return `${toShareText(metric.value)}, ${words}`
}

/** Rows that a rule should trigger on; in a stratified sample an estimate for all rows. */
export function countSupport({ matrix, estimated }: Judged): number {
  const { true_positives: found, false_negatives: missed } = estimated ?? matrix
  return found + missed
}

/** A score or threshold with at most six decimals. */
export function formatScore(score: number): string {
  return String(Math.round(score * 1e6) / 1e6)
}

/** An average precision or an area under a curve; `–` if there is none. */
export function formatArea(area: number | null): string {
  return area === null ? '–' : area.toFixed(4)
}

export function describeCell({ cell, rule }: CellChoice): string {
  return `${rule ?? OVERALL_NAME}: ${CELL_WORDS[cell]}`
}

/** A share in percent, `–` if there is nothing to divide by. */
export function toShareText(value: number | null): string {
  return value === null ? '–' : formatShare(value)
}

/** How many rows were evaluated and, if a column has labels too, how many of them by verdicts. */
export function describeEvaluated({ rows, labels }: Pick<Evaluation, 'rows' | 'labels'>): string {
  const all = `${formatCount(rows.evaluated)} of ${formatCounted(rows.read, 'row')} evaluated`
  const { from, verdict_rows: byVerdict } = labels
  if (!from.includes('verdicts')) return all
  return from.length === 1 ? `${all} by verdicts` : `${all}, ${formatCount(byVerdict)} of them by verdicts`
}

/** How many rows the estimates of a stratified sample cover: groups without a labelled row are left out. */
export function countEstimated(strata: NonNullable<Evaluation['strata']>): number {
  return strata.reduce((sum, { rows, labelled }) => sum + (labelled > 0 ? rows : 0), 0)
}

export function describeEstimated(strata: NonNullable<Evaluation['strata']>): string {
  return `estimates for the ${formatCounted(countEstimated(strata), 'row')} of its labelled groups`
}

const UNREAD_NAMED = 5

/** Names labels that stand for no rule and do not say that nothing is wrong either. */
export function sayUnread({
  labels: { unread = [] },
}: {
  labels: Pick<Evaluation['labels'], 'unread'>
}): string[] {
  if (unread.length === 0) return []
  const named = unread
    .slice(0, UNREAD_NAMED)
    .map((one) => `\`${one.value}\` (${formatCounted(one.rows, 'row')})`)
  const more = unread.length - named.length
  const others = more > 0 ? ` and ${formatCounted(more, 'further value')}` : ''
  return [
    `Labels that stand for no rule count as rows that should trigger none: ${named.join(', ')}${others}.`,
  ]
}

/** Whether most labelled rows have no answer, so that the figures are about the minority. */
export function isMostlyUnanswered({ evaluated, without_answer: missing }: AnsweredRows): boolean {
  return missing > evaluated
}

/** How many labelled rows no figure includes, because they have no answer. */
export function sayUnanswered({ evaluated, without_answer: missing }: AnsweredRows): string {
  const labelled = formatCounted(evaluated + missing, 'labelled row')
  return `${formatCount(missing)} of ${labelled} ${missing === 1 ? 'has' : 'have'} no answer: figures are about the other ${formatCount(evaluated)}.`
}

type AnsweredRows = Pick<Evaluation['rows'], 'evaluated' | 'without_answer'>

/** Rows that were not evaluated, by reason; null if all were. */
export function describeLeftOut({ rows, labels }: Evaluation): string | null {
  const left = listCounts([
    [rows.without_label, labels.from.join() === 'verdicts' ? 'without a verdict' : 'without a label'],
    [rows.unsure, 'marked as unsure'],
    [rows.conflicting_label, 'with contradicting labels'],
    [rows.without_answer, 'labelled but not answered'],
  ])
  return left.length === 0 ? null : left.join(', ')
}

const SHOWN_POINTS = 10

/** A few thresholds of a class, ascending, each with its role: the best, a requested one, or another. */
export function listShownPoints({
  best_f1: best,
  wanted,
  what_if: asked,
  points,
}: Pick<JudgedScore, 'best_f1' | 'wanted' | 'what_if' | 'points'>): {
  point: ThresholdPoint
  notes: string[]
}[] {
  const shown = new Map<number, { point: ThresholdPoint; notes: string[] }>()
  const add = (point: ThresholdPoint, note?: string) => {
    const entry = shown.get(point.threshold) ?? { point, notes: [] }
    if (note !== undefined) entry.notes.push(note)
    shown.set(point.threshold, entry)
  }
  if (best !== null) add(best, findsAll(best) ? 'best F1, but flags every row' : 'best F1')
  for (const { precision, point } of wanted) {
    if (point !== null) add(point, `finds most at a precision of ${formatShare(precision)}`)
  }
  for (const point of asked) add(point, 'as asked')
  const step = Math.max(1, Math.ceil(points.length / SHOWN_POINTS))
  for (const [index, point] of points.entries()) if (index % step === 0) add(point)
  return [...shown.values()].sort((a, b) => a.point.threshold - b.point.threshold)
}

const CSV_COLUMNS = [
  ...['slice_column', 'slice_value', 'rule', 'rows', 'support'],
  ...MATRIX_CELLS.map(({ count }) => count),
  ...FIGURES.flatMap(({ name }) => [name, `${name}_low`, `${name}_high`]),
]

/**
 * The figures as a CSV table: a line for each rule, average, and rule of a slice. Shares are from 0 to 1,
 * counts are numbers of labelled rows. Formulas are guarded.
 */
export function toFiguresCsv({
  rows,
  overall,
  rules,
  slices,
  ...averages
}: Pick<Evaluation, 'rows' | 'overall' | 'rules' | 'macro' | 'micro' | 'slices'>): string {
  const group = (
    slice: readonly [column: string, value: string],
    evaluated: number,
    judged: Pick<Evaluation, 'overall' | 'rules'>,
  ) =>
    [{ rule: 'overall', ...judged.overall }, ...judged.rules].map((one) => [
      ...slice,
      one.rule,
      evaluated,
      one.matrix.true_positives + one.matrix.false_negatives,
      ...Object.values(one.matrix),
      ...FIGURES.flatMap(({ name }) => [one[name].value, one[name].low, one[name].high]),
    ])
  const lines: (string | number | null)[][] = [
    CSV_COLUMNS,
    ...group(['', ''], rows.evaluated, { overall, rules }),
    ...AVERAGES.map(({ name }) => [
      ...['', '', name, rows.evaluated, null, null, null, null, null],
      ...FIGURES.flatMap((figure) => [averages[name][figure.name], null, null]),
    ]),
    ...slices.flatMap(({ column, values }) =>
      values.flatMap((value) => group([column, value.value], value.rows, value)),
    ),
  ]
  return lines.map((line) => `${line.map(toCsvCell).join(',')}\r\n`).join('')
}

function toCsvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const guarded = addFormulaGuard(value)
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}
