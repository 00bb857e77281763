import type {
  ChangeOfMetrics,
  ComparedGroup,
  DecisionComparison,
  Flips,
} from '../../../shared/lookback/comparison.ts'
import {
  describeChange,
  describeChangedRow,
  describeRows,
  formatP,
  formatPoints,
  formatScoreMove,
} from '../../../shared/lookback/comparison-text.ts'
import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { nameRow } from '../../../shared/plan/source-place.ts'
import { formatSection, formatTable, type TableColumn, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Rules, outcomes and classes that are shown; a document has more. */
const SHOWN = 12

/** What two runs decided differently, for a person to read: the sentence first, then what it rests on. */
export function formatDecisions(terminal: Terminal, comparison: DecisionComparison): string[][] {
  const { joined, warnings, labels } = comparison
  return [
    wrapWords(describeChange(comparison), terminal.columns()).map((line) => terminal.tone('strong', line)),
    warnings.flatMap((warning) => formatNote(terminal, warning)),
    formatSection(terminal, 'Rows', formatRows(comparison)),
    formatRules(terminal, joined),
    formatOutcomes(terminal, comparison.outcomes),
    formatScores(terminal, comparison.scores),
    ...(labels === null
      ? []
      : [
          describeLabels(labels),
          ...(labels.rules.length > 1 ? [{ rule: 'Any of these rules', ...labels.overall }] : []),
          ...labels.rules,
        ].map((part) => (Array.isArray(part) ? part : formatMetrics(terminal, part.rule, part)))),
    formatListed(terminal, comparison),
    comparison.exported === null
      ? []
      : [`${formatCounted(comparison.exported.rows, 'row')} in ${comparison.exported.file}`],
  ]
}

function formatRows(comparison: DecisionComparison): string[] {
  const { compared, left } = describeRows(comparison)
  const { ambiguous_keys: keys, from_cache: cached } = comparison
  return [
    toPrintable(compared),
    ...(left.length === 0 ? [] : [`not compared: ${toPrintable(left.join(', '))}`]),
    ...(cached.rows === 0
      ? []
      : [`${formatCount(cached.rows)} analysed before (from_cache); ${formatCount(cached.changed)} changed`]),
    ...(keys.length === 0
      ? []
      : [`repeated, such as ${toPrintable(keys.map((key) => `\`${key}\``).join(', '))}`]),
  ]
}

function formatNote(terminal: Terminal, note: string): string[] {
  return wrapWords(toPrintable(note), Math.max(30, terminal.columns() - 2)).map((line, index) =>
    terminal.tone('warn', `${index === 0 ? '!' : ' '} ${line}`),
  )
}

const FLIP_COLUMNS: readonly TableColumn[] = [
  { title: 'rule', align: 'left', minColumns: 12 },
  { title: 'in A', align: 'right' },
  { title: 'in B', align: 'right' },
  { title: 'newly', align: 'right' },
  { title: 'no longer', align: 'right' },
  { title: 'both', align: 'right' },
  { title: 'p', align: 'right' },
]

function formatRules(terminal: Terminal, { rules, overall, decided }: ComparedGroup): string[] {
  if (decided === 0 || rules.length === 0) return []
  const triggered = rules.filter(({ both, newly, no_longer }) => both + newly + no_longer > 0)
  const shown = triggered.slice(0, SHOWN)
  if (shown.length === 0) return []
  const toCells = (name: string, flips: Flips) => [
    toPrintable(name),
    formatCount(flips.both + flips.no_longer),
    formatCount(flips.both + flips.newly),
    formatCount(flips.newly),
    formatCount(flips.no_longer),
    formatCount(flips.both),
    formatP(flips.p),
  ]
  const rows = [
    ...shown.map((rule) => toCells(rule.rule, rule)),
    ...(triggered.length > 1 ? [toCells('any rule', overall)] : []),
  ]
  return [
    terminal.tone('strong', 'Rules'),
    ...formatTable(terminal, FLIP_COLUMNS, rows, 2),
    ...(triggered.length > shown.length
      ? [
          terminal.tone(
            'quiet',
            `  and ${formatCounted(triggered.length - shown.length, 'further rule')}; --json has them`,
          ),
        ]
      : []),
    ...wrapWords(
      "p: probability that chance alone makes a change at least this uneven (McNemar's exact test)",
      terminal.columns() - 2,
    ).map((line) => terminal.tone('quiet', `  ${line}`)),
  ]
}

function formatOutcomes(
  terminal: Terminal,
  { listed, further_rows: further }: DecisionComparison['outcomes'],
): string[] {
  if (listed.length === 0) return []
  const columns: readonly TableColumn[] = [
    { title: 'outcome in A', align: 'left', minColumns: 12 },
    { title: 'in B', align: 'left', minColumns: 12 },
    { title: 'rows', align: 'right' },
  ]
  const hidden = listed.slice(SHOWN).reduce((sum, { rows }) => sum + rows, further)
  return [
    terminal.tone('strong', 'Other outcome'),
    ...formatTable(
      terminal,
      columns,
      listed.slice(0, SHOWN).map(({ a, b, rows }) => [toPrintable(a), toPrintable(b), formatCount(rows)]),
      2,
    ),
    ...(hidden > 0
      ? [terminal.tone('quiet', `  ${formatCounted(hidden, 'row')} with further outcomes`)]
      : []),
  ]
}

function formatScores(terminal: Terminal, scores: DecisionComparison['scores']): string[] {
  if (scores.length === 0) return []
  const columns: readonly TableColumn[] = [
    { title: 'class', align: 'left', minColumns: 8 },
    { title: 'rose', align: 'right' },
    { title: 'fell', align: 'right' },
    { title: 'mean move', align: 'right' },
    { title: 'largest rise', align: 'right' },
    { title: 'largest fall', align: 'right' },
  ]
  const toLargest = (move: (typeof scores)[number]['largest_rise']) =>
    move === null ? '–' : `${formatScoreMove(move.b - move.a)} (row ${nameRow(move)})`
  const rows = scores
    .slice(0, SHOWN)
    .map((one) => [
      toPrintable(one.class) + (one.from_cache ? ' (analysed before)' : ''),
      formatCount(one.rose),
      formatCount(one.fell),
      formatScoreMove(one.mean),
      toLargest(one.largest_rise),
      toLargest(one.largest_fall),
    ])
  return [terminal.tone('strong', 'Scores that moved'), ...formatTable(terminal, columns, rows, 2)]
}

function describeLabels(labels: NonNullable<DecisionComparison['labels']>): string[] {
  const left = [
    [labels.without_label, 'without a label'],
    [labels.unsure, 'marked as unsure'],
    [labels.conflicting_label, 'with contradicting labels'],
  ] as const
  const shown = left.filter(([rows]) => rows > 0).map(([rows, what]) => `${formatCount(rows)} ${what}`)
  return [
    `By labels: ${formatCounted(labels.rows, 'row')} that both runs answered${shown.length === 0 ? '' : `; left out: ${shown.join(', ')}`}`,
  ]
}

const METRIC_COLUMNS: readonly TableColumn[] = [
  { title: '', align: 'left' },
  { title: 'A', align: 'right' },
  { title: 'B', align: 'right' },
  { title: 'change in points', align: 'right' },
  { title: '95 % range', align: 'left' },
]

function formatMetrics(terminal: Terminal, rule: string, change: ChangeOfMetrics): string[] {
  const { a, b, right_only_in_a: onlyA, right_only_in_b: onlyB, p } = change
  const toCells = (name: string, key: 'precision' | 'recall' | 'f1') => [
    name,
    formatValue(a[key]),
    formatValue(b[key]),
    ...formatChange(change.change[key]),
  ]
  return [
    terminal.tone('strong', toPrintable(rule)),
    ...formatTable(
      terminal,
      METRIC_COLUMNS,
      [toCells('precision', 'precision'), toCells('recall', 'recall'), toCells('F1', 'f1')],
      2,
    ),
    `  right only in A: ${formatCount(onlyA)}, only in B: ${formatCount(onlyB)} (p ${formatP(p)})`,
  ]
}

function formatValue({ value }: Metric): string {
  return value === null ? '–' : formatShare(value)
}

function formatChange({ value, low, high }: Metric): [string, string] {
  if (value === null) return ['–', '']
  const range = low === null || high === null ? '' : `${formatPoints(low)} to ${formatPoints(high)}`
  return [formatPoints(value), range]
}

function formatListed(terminal: Terminal, { listed: { total, offset, rows } }: DecisionComparison): string[] {
  if (rows.length === 0)
    return total > 0 && offset >= total
      ? [`${formatCounted(total, 'row')} in the list; --offset ${offset} is beyond its end`]
      : []
  const columns: readonly TableColumn[] = [
    { title: 'row', align: 'right' },
    { title: 'change', align: 'left', minColumns: 20 },
    { title: 'cells', align: 'left', minColumns: 20 },
  ]
  const end = offset + rows.length
  return [
    terminal.tone(
      'strong',
      `Changed rows ${formatCount(offset + 1)} to ${formatCount(end)} of ${formatCount(total)}`,
    ),
    ...formatTable(
      terminal,
      columns,
      rows.map((row) => [
        nameRow(row.a) === nameRow(row.b) ? nameRow(row.b) : `${nameRow(row.a)} → ${nameRow(row.b)}`,
        toPrintable(describeChangedRow(row)),
        toPrintable(row.cells.filter((text) => text !== '').join(' | ')),
      ]),
      2,
    ),
    ...(end < total
      ? [terminal.tone('quiet', `  next: --offset ${end}; --export FILE writes all of them`)]
      : []),
  ]
}
