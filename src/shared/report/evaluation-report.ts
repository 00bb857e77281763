import type { Evaluation, Judged, JudgedScore, Metric } from '../lookback/evaluation.ts'
import {
  AVERAGES,
  CELL_WORDS,
  describeEstimated,
  describeEvaluated,
  describeLeftOut,
  FIGURES,
  formatArea,
  formatInterval,
  formatScore,
  INTERVAL_MEANING,
  listShownPoints,
  OVERALL_NAME,
  sayUnread,
} from '../lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../messages/figure-text.ts'
import { nameRow } from '../plan/source-place.ts'
import { sayWrittenRows } from '../run/written-rows.ts'
import {
  type Cell,
  code,
  count,
  type Fact,
  foreign,
  number,
  quote,
  type Section,
  share,
  type Table,
  text,
} from './report.ts'

type Surface = 'terminal' | 'page'

/** Values of labels, slices and strata shown; a document has more. */
const SHOWN = { terminal: 12, page: 50 } as const

/** How right the rules were, by labels. A terminal gets a line where a page gets a table. */
export function toEvaluationReport(evaluation: Evaluation, surface: Surface, hasContent = true): Section[] {
  const { rules, overall, slices, scores, listed } = evaluation
  const warnings = [...evaluation.warnings, ...sayUnread(evaluation)]
  const judged = [
    ...rules.map((rule) => ({ name: rule.rule, judged: rule })),
    ...(rules.length > 1 ? [{ name: OVERALL_NAME, judged: overall }] : []),
  ]
  const further = [
    ...(rules.length > 1 ? [toAverages(evaluation, surface)] : []),
    ...slices.map((slice) => toSlice(slice, surface)),
    ...scores.map((score) => toScore(score, surface)),
    ...listed.map((list) => toListed(list, surface, hasContent)),
  ]
  if (surface === 'terminal') {
    return [
      { lines: [[quote(evaluation.name, 'strong'), `  ${evaluation.run_id}`]] },
      { facts: listFacts(evaluation) },
      { warnings },
      ...judged.map(toMatrix),
      ...further,
      {
        lines: evaluation.assertions.map(({ expression, value, ok }) => [
          { text: '', sign: ok ? 'held' : 'crossed', tone: ok ? 'good' : 'bad' },
          ` ${expression}  ${value === null ? 'no value' : `found ${formatShare(value)}`}`,
        ]),
      },
      { lines: evaluation.exported === null ? [] : sayWrittenRows(evaluation.exported) },
      { notes: [INTERVAL_MEANING] },
    ]
  }
  const left = describeLeftOut(evaluation)
  const unnamed = listUnnamed(evaluation, 'page')
  return [
    { lines: [`${describeEvaluated(evaluation)}.${left === null ? '' : ` Left out: ${left}.`}`], warnings },
    toLabels(evaluation),
    {
      tables: [toRules(judged)],
      notes: unnamed === null ? [] : [`Not judged, since no label names them: ${unnamed}.`],
    },
    ...further,
    ...(evaluation.assertions.length === 0 ? [] : [{ tables: [toAssertions(evaluation)] }]),
    {
      notes: [
        `${INTERVAL_MEANING}${evaluation.strata === null ? '' : ` The sample is stratified; figures with ~ are ${describeEstimated(evaluation.strata)}.`}`,
      ],
    },
  ]
}

function listFacts(evaluation: Evaluation): Fact[] {
  const { labels, strata } = evaluation
  const left = describeLeftOut(evaluation)
  const shown = labels.values.slice(0, SHOWN.terminal)
  const more = labels.values.length - shown.length + labels.further_values
  const unnamed = listUnnamed(evaluation, 'terminal')
  const labelled = (strata ?? [])
    .slice(0, SHOWN.terminal)
    .map(({ stratum, rows, labelled }) => `${stratum}: ${formatCount(labelled)} of ${formatCount(rows)}`)
  return [
    {
      label: 'Rows',
      lines: [describeEvaluated(evaluation), ...(left === null ? [] : [`left out: ${left}`])],
    },
    {
      label: 'Labels',
      lines: [
        ...shown.map(
          ({ value, rows, rules }) =>
            `${value} (${formatCount(rows)}) = ${rules.length === 0 ? 'no rule' : rules.join(', ')}`,
        ),
        ...(more > 0 ? [`and ${formatCounted(more, 'further value')}`] : []),
        ...(labels.from.includes('verdicts') ? ['verdicts, which replace the label of their row'] : []),
      ],
    },
    {
      label: 'Not judged',
      lines: unnamed === null ? [] : ['rules that triggered and that no label names:', unnamed],
    },
    {
      label: 'Sample',
      lines:
        strata === null
          ? []
          : [
              `stratified; figures are ${describeEstimated(strata)}`,
              `labelled: ${labelled.join(', ')}${strata.length > SHOWN.terminal ? ', …' : ''}`,
            ],
    },
  ]
}

/** A text about rules that triggered and that no label names; null if there are none. */
function listUnnamed({ not_judged }: Evaluation, surface: Surface): string | null {
  const fired = not_judged.filter(({ rows }) => rows > 0)
  if (fired.length === 0) return null
  const shown = fired.slice(0, SHOWN[surface]).map(({ rule, rows }) => `${rule} (${formatCount(rows)})`)
  const more = fired.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${formatCounted(more, 'further rule')}` : ''}`
}

function toLabels({ labels }: Evaluation): Section {
  const more = Math.max(0, labels.values.length - SHOWN.page) + labels.further_values
  return {
    title: `What each label means${labels.from.includes('verdicts') ? '; verdicts replace the label of their row' : ''}`,
    tables: [
      {
        columns: [foreign('label'), count('rows'), foreign('should trigger')],
        rows: labels.values
          .slice(0, SHOWN.page)
          .map(({ value, rows, rules }) => [
            value,
            rows,
            rules.length === 0 ? { text: 'no rule', isForeign: false } : rules.join(', '),
          ]),
      },
    ],
    notes: more > 0 ? [formatCounted(more, 'further value')] : [],
  }
}

/** Counts of the labelled rows, or the estimates of a stratified sample for all rows. */
function countCells({ matrix, estimated }: Judged) {
  const { true_positives, false_negatives, false_positives, true_negatives } = estimated ?? matrix
  const about = (rows: number) => `${estimated === null ? '' : '~'}${formatCount(rows)}`
  return {
    found: about(true_positives),
    missed: about(false_negatives),
    wrongly: about(false_positives),
    rightlyNot: about(true_negatives),
  }
}

/** The matrix of a rule and its three figures, each with a sentence on its meaning. */
function toMatrix({ name, judged }: { name: string; judged: Judged }): Section {
  const { found, missed, wrongly, rightlyNot } = countCells(judged)
  return {
    title: quote(name),
    tables: [
      {
        columns: [text(''), count('triggered'), count('did not')],
        rows: [
          ['should trigger', found, missed],
          ['should not', wrongly, rightlyNot],
        ],
      },
      {
        columns: [text(''), share(''), text(''), text('', 10)],
        rows: FIGURES.map(({ name: figure, label, meaning }) => {
          const { value } = judged[figure]
          const interval = formatInterval(judged[figure])
          const isKnown = value !== null && interval !== null
          return [label, isKnown ? value : null, isKnown ? interval : 'no such rows', meaning]
        }),
      },
    ],
  }
}

function toRules(all: readonly { name: string; judged: Judged }[]): Table {
  return {
    caption: 'Each rule: rows by what it did and should have done, and what that comes to',
    columns: [
      ...[foreign('rule'), count('found'), count('missed'), count('wrongly'), count('rightly not')],
      ...FIGURES.map(({ label }) => share(label)),
    ],
    rows: all.map(({ name, judged }) => {
      const { found, missed, wrongly, rightlyNot } = countCells(judged)
      return [name, found, missed, wrongly, rightlyNot, ...FIGURES.map((one) => toMetric(judged[one.name]))]
    }),
  }
}

function toMetric(metric: Metric): Cell {
  return metric.value === null
    ? null
    : { text: formatShare(metric.value), meaning: formatInterval(metric) ?? '' }
}

const FIGURE_COLUMNS = FIGURES.map(({ label }) => share(label))

function toAverages(evaluation: Evaluation, surface: Surface): Section {
  return {
    tables: [
      {
        caption: 'Averages over rules',
        columns: [text(surface === 'page' ? '' : 'Averages'), ...FIGURE_COLUMNS],
        rows: AVERAGES.map(({ name, meaning }) => [
          meaning,
          ...FIGURES.map((figure) => evaluation[name][figure.name]),
        ]),
      },
    ],
  }
}

function toSlice(
  { column, values, further_rows: further }: Evaluation['slices'][number],
  surface: Surface,
): Section {
  const shown = SHOWN[surface]
  const hidden = values.slice(shown).reduce((sum, { rows }) => sum + rows, further)
  // On a page, each row has a heading; on a terminal, a value is shown only once.
  const isNamed = (index: number) => surface === 'page' || index === 0
  return {
    tables: [
      {
        caption: ['By ', quote(column)],
        columns: [
          ...[foreign(column, 12), foreign('rule', 12), count('rows')],
          ...[count(surface === 'page' ? 'should trigger' : 'should'), ...FIGURE_COLUMNS],
        ],
        rows: values
          .slice(0, shown)
          .flatMap(({ value, rows, rules }) =>
            rules.map(({ rule, matrix, ...figures }, index) => [
              isNamed(index) ? value || '(empty)' : '',
              rule,
              isNamed(index) ? rows : '',
              matrix.true_positives + matrix.false_negatives,
              ...FIGURES.map(({ name }) => figures[name].value),
            ]),
          ),
      },
    ],
    notes: hidden > 0 ? [`${formatCounted(hidden, 'row')} with further values`] : [],
  }
}

/** What other thresholds of a class would have found, each with its role. */
function toScore(score: JudgedScore, surface: Surface): Section {
  const left =
    score.without_score > 0 ? `, ${formatCounted(score.without_score, 'row')} without a score left out` : ''
  const [title, sign] = surface === 'page' ? ['score', '≥'] : ['threshold', 'score ≥']
  return {
    title: [
      { text: 'Scores of ', tone: 'strong' },
      quote(score.class, 'strong'),
      { text: ' as a test for ', tone: 'plain' },
      quote(score.rule, 'plain'),
    ],
    lines: [
      `average precision ${formatArea(score.average_precision)}, ROC AUC ${formatArea(score.roc_auc)}${left}`,
      { text: '(1 would be perfect; an AUC of 0.5 is no better than chance)', tone: 'quiet' },
    ],
    tables: [
      {
        columns: [
          ...[text(title), ...FIGURE_COLUMNS],
          ...[count('found'), count('wrongly'), count('missed'), text('')],
        ],
        rows: listShownPoints(score).map(({ point, notes }) => [
          `${sign} ${formatScore(point.threshold)}`,
          ...FIGURES.map(({ name }) => point[name]),
          ...[point.true_positives, point.false_positives, point.false_negatives],
          notes.join(', '),
        ]),
      },
    ],
    notes: score.wanted.flatMap(({ precision, point }) =>
      point === null
        ? [{ text: `No threshold reaches a precision of ${formatShare(precision)}.`, tone: 'plain' as const }]
        : [],
    ),
  }
}

function toListed(
  { cell, rule, total, rows }: Evaluation['listed'][number],
  surface: Surface,
  hasContent: boolean,
): Section {
  const isPage = surface === 'page'
  const first = total > rows.length ? `the first ${rows.length}` : ''
  const about = `${formatCounted(total, 'row')}${isPage && first !== '' ? `, ${first}` : ''}`
  const title = [quote(rule ?? OVERALL_NAME), `: ${CELL_WORDS[cell]} (${about})`]
  if (isPage && (rows.length === 0 || !hasContent)) {
    return { lines: [[...title, rows.length === 0 ? '' : `: rows ${rows.map(nameRow).join(', ')}`]] }
  }
  const table = {
    columns: [number('row'), foreign('label', 8), foreign('triggered', 12), foreign('cells', 20)],
    rows: rows.map(({ label, triggered_rules: triggered, cells, ...named }) => [
      ...[nameRow(named), label, triggered.join('; ')],
      cells.filter((one) => one !== '').join(' | '),
    ]),
  }
  return {
    title,
    tables: rows.length === 0 ? [] : [table],
    notes: isPage || first === '' ? [] : [`${first}; --export FILE writes all of them`],
  }
}

function toAssertions({ assertions }: Evaluation): Table {
  return {
    caption: 'Assertions',
    columns: [text(''), code('assertion'), share('found')],
    rows: assertions.map(({ expression, value, ok }) => [
      ok ? { text: 'holds', sign: 'held', tone: 'good' } : { text: 'failed', sign: 'crossed', tone: 'bad' },
      expression,
      value,
    ]),
  }
}
