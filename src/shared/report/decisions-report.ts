import type { ChangeOfMetrics, DecisionComparison, Flips } from '../lookback/comparison.ts'
import {
  describeChange,
  describeChangedRow,
  describeRows,
  describeUnjudged,
  formatP,
  formatPoints,
  formatScoreMove,
} from '../lookback/comparison-text.ts'
import { FIGURES, OVERALL_NAME } from '../lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'
import { nameRow } from '../plan/source-place.ts'
import { sayWrittenRows } from '../run/written-rows.ts'
import { count, foreign, number, type Section, share, type Table, text } from './report.ts'

/** Rules, outcomes and classes shown; a document has more. */
const SHOWN = 12

/** What two runs decided differently: the conclusion first, then its basis. */
export function toDecisionsReport(comparison: DecisionComparison): Section[] {
  const { warnings, labels, exported } = comparison
  return [
    { lines: [{ text: describeChange(comparison), tone: 'strong' }] },
    { warnings },
    { facts: [{ label: 'Rows', lines: listRows(comparison) }] },
    toRules(comparison),
    toOutcomes(comparison),
    toScores(comparison),
    ...(labels === null
      ? []
      : [
          { lines: [describeLabels(labels)] },
          ...(labels.rules.length > 1 ? [toMetrics(OVERALL_NAME, labels.overall)] : []),
          ...labels.rules.map((one) => toMetrics(one.rule, one)),
        ]),
    toListed(comparison),
    { lines: exported === null ? [] : sayWrittenRows(exported) },
  ]
}

function listRows(comparison: DecisionComparison): string[] {
  const { compared, left } = describeRows(comparison)
  const { ambiguous_keys: keys, from_cache: cached } = comparison
  return [
    compared,
    ...(left.length === 0 ? [] : [`not compared: ${left.join(', ')}`]),
    ...(cached.rows === 0
      ? []
      : [`${formatCount(cached.rows)} analysed before (from_cache); ${formatCount(cached.changed)} changed`]),
    ...(keys.length === 0 ? [] : [`repeated, such as ${keys.map((key) => `\`${key}\``).join(', ')}`]),
  ]
}

function toRules({ joined: { rules, overall, decided } }: DecisionComparison): Section {
  const triggered = decided === 0 ? [] : rules.filter((rule) => rule.both + rule.newly + rule.no_longer > 0)
  if (triggered.length === 0) return {}
  const more = triggered.length - SHOWN
  const toCells = (name: string, { both, newly, no_longer, p }: Flips) => [
    ...[name, both + no_longer, both + newly, newly, no_longer, both],
    formatP(p),
  ]
  return {
    title: 'Rules',
    tables: [
      {
        columns: [
          ...[foreign('rule', 12), count('in A'), count('in B')],
          ...[count('newly'), count('no longer'), count('both'), number('p')],
        ],
        rows: [
          ...triggered.slice(0, SHOWN).map((rule) => toCells(rule.rule, rule)),
          ...(triggered.length > 1 ? [toCells('any rule', overall)] : []),
        ],
      },
    ],
    notes: [
      ...(more > 0 ? [`and ${formatCounted(more, 'further rule')}; --json has them`] : []),
      "p: probability that chance alone makes a change at least this uneven (McNemar's exact test)",
    ],
  }
}

function toOutcomes({ outcomes: { listed, further_rows: further } }: DecisionComparison): Section {
  if (listed.length === 0) return {}
  const hidden = listed.slice(SHOWN).reduce((sum, { rows }) => sum + rows, further)
  return {
    title: 'Other outcome',
    tables: [toOutcomesTable(listed.slice(0, SHOWN))],
    notes: hidden > 0 ? [`${formatCounted(hidden, 'row')} with further outcomes`] : [],
  }
}

/** Rows that ended differently. */
export function toOutcomesTable(listed: DecisionComparison['outcomes']['listed']): Table {
  return {
    columns: [foreign('outcome in A', 12), foreign('in B', 12), count('rows')],
    rows: listed.map(({ a, b, rows }) => [a, b, rows]),
  }
}

function toScores({ scores }: DecisionComparison): Section {
  if (scores.length === 0) return {}
  const toLargest = (move: (typeof scores)[number]['largest_rise']) =>
    move === null ? null : `${formatScoreMove(move.b - move.a)} (row ${nameRow(move)})`
  return {
    title: 'Scores that moved',
    tables: [
      {
        columns: [
          ...[foreign('class', 8), count('rose'), count('fell'), number('mean move')],
          ...[number('largest rise'), number('largest fall')],
        ],
        rows: scores
          .slice(0, SHOWN)
          .map((one) => [
            `${one.class}${one.from_cache ? ' (analysed before)' : ''}`,
            ...[one.rose, one.fell, formatScoreMove(one.mean)],
            ...[toLargest(one.largest_rise), toLargest(one.largest_fall)],
          ]),
      },
    ],
  }
}

function describeLabels(labels: NonNullable<DecisionComparison['labels']>): string {
  const left = describeUnjudged(labels)
  return `By labels: ${formatCounted(labels.rows, 'row')} that both runs answered${left === '' ? '' : `; ${left}`}`
}

function toMetrics(rule: string, { a, b, change, ...only }: ChangeOfMetrics): Section {
  return {
    title: rule,
    tables: [
      {
        columns: [text(''), share('A'), share('B'), number('change in points'), text('95 % range')],
        rows: FIGURES.map(({ name, label }) => {
          const { value, low, high } = change[name]
          const isRanged = value !== null && low !== null && high !== null
          return [
            ...[label, a[name].value, b[name].value, value === null ? null : formatPoints(value)],
            isRanged ? `${formatPoints(low)} to ${formatPoints(high)}` : '',
          ]
        }),
      },
    ],
    notes: [
      {
        text: `right only in A: ${formatCount(only.right_only_in_a)}, only in B: ${formatCount(only.right_only_in_b)} (p ${formatP(only.p)})`,
        tone: 'plain',
      },
    ],
  }
}

function toListed({ listed: { total, offset, rows } }: DecisionComparison): Section {
  if (rows.length === 0) {
    const isBeyond = total > 0 && offset >= total
    const lines = [`${formatCounted(total, 'row')} in the list; --offset ${offset} is beyond its end`]
    return isBeyond ? { lines } : {}
  }
  const end = offset + rows.length
  return {
    title: `Changed rows ${formatCount(offset + 1)} to ${formatCount(end)} of ${formatCount(total)}`,
    tables: [
      {
        columns: [number('row'), foreign('change', 20), foreign('cells', 20)],
        rows: rows.map((row) => {
          const [a, b] = [nameRow(row.a), nameRow(row.b)]
          return [
            ...[a === b ? b : `${a} → ${b}`, describeChangedRow(row)],
            row.cells.filter((one) => one !== '').join(' | '),
          ]
        }),
      },
    ],
    notes: end < total ? [`next: --offset ${end}; --export FILE writes all of them`] : [],
  }
}
