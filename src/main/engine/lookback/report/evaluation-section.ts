import type { Evaluation, Judged, JudgedScore, Metric } from '../../../../shared/lookback/evaluation.ts'
import {
  AVERAGES,
  CELL_WORDS,
  describeEvaluated,
  describeLeftOut,
  formatArea,
  formatInterval,
  formatScore,
  INTERVAL_MEANING,
  listShownPoints,
  OVERALL_NAME,
  toShareText,
} from '../../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../../../../shared/messages/figure-text.ts'
import { nameRow } from '../../../../shared/plan/source-place.ts'
import { drawList, drawTable, html, type Markup, NOTHING, quoteForeign } from '../../page/markup.ts'

/** Values of a label, a slice or a stratum that a page lists. */
const SHOWN = 50

/** How right the rules were, by labels: each rule, averages, slices, and thresholds of scores. */
export function drawEvaluation(evaluation: Evaluation, hasContent: boolean): Markup {
  const { rules, overall, slices, scores, listed } = evaluation
  const left = describeLeftOut(evaluation)
  return html`<section><h2>Evaluation</h2>
<p>${describeEvaluated(evaluation)}.${left === null ? '' : ` Left out: ${left}.`}</p>
${drawList(evaluation.warnings)}
${drawLabels(evaluation)}
${drawRules([...rules.map((rule) => ({ name: rule.rule, judged: rule })), ...(rules.length > 1 ? [{ name: OVERALL_NAME, judged: overall }] : [])])}
${rules.length > 1 ? drawAverages(evaluation) : NOTHING}
${slices.map(drawSlice)}
${scores.map(drawScore)}
${listed.map((list) => drawListed(list, hasContent))}
${drawAssertions(evaluation)}
<p class="about">${INTERVAL_MEANING}${evaluation.strata === null ? '' : ' The sample is stratified; figures with ~ are estimates for all rows that it was drawn from.'}</p></section>`
}

function drawLabels({ labels }: Evaluation): Markup {
  const more = Math.max(0, labels.values.length - SHOWN) + labels.further_values
  return html`${drawTable({
    caption: `What each label means${labels.from.includes('verdicts') ? '; verdicts replace the label of their row' : ''}`,
    columns: [
      { title: 'label', align: 'left' },
      { title: 'rows', align: 'right' },
      { title: 'should trigger', align: 'left' },
    ],
    rows: labels.values
      .slice(0, SHOWN)
      .map(({ value, rows, rules }) => [
        quoteForeign(value),
        formatCount(rows),
        rules.length === 0 ? 'no rule' : quoteForeign(rules.join(', ')),
      ]),
  })}${more > 0 ? html`<p class="about">${formatCounted(more, 'further value')}.</p>` : NOTHING}`
}

function drawRules(all: readonly { name: string; judged: Judged }[]): Markup {
  return drawTable({
    caption: 'Each rule: rows by what it did and should have done, and what that comes to',
    columns: [
      { title: 'rule', align: 'left' },
      { title: 'found', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: 'wrongly', align: 'right' },
      { title: 'rightly not', align: 'right' },
      { title: 'precision', align: 'right' },
      { title: 'recall', align: 'right' },
      { title: 'F1', align: 'right' },
    ],
    rows: all.map(({ name, judged: { matrix, estimated, precision, recall, f1 } }) => {
      const counts = estimated ?? matrix
      const count = (rows: number) => `${estimated === null ? '' : '~'}${formatCount(rows)}`
      return [
        quoteForeign(name),
        count(counts.true_positives),
        count(counts.false_negatives),
        count(counts.false_positives),
        count(counts.true_negatives),
        drawMetric(precision),
        drawMetric(recall),
        drawMetric(f1),
      ]
    }),
  })
}

function drawMetric(metric: Metric): Markup {
  if (metric.value === null) return html`–`
  return html`${formatShare(metric.value)}<span class="meaning">${formatInterval(metric) ?? ''}</span>`
}

function drawAverages(evaluation: Evaluation): Markup {
  return drawTable({
    caption: 'Averages over rules',
    columns: [
      { title: '', align: 'left' },
      { title: 'precision', align: 'right' },
      { title: 'recall', align: 'right' },
      { title: 'F1', align: 'right' },
    ],
    rows: AVERAGES.map(({ name, meaning }) => [meaning, ...toFigures(evaluation[name])]),
  })
}

function toFigures({ precision, recall, f1 }: Evaluation['macro']): string[] {
  return [precision, recall, f1].map(toShareText)
}

function drawSlice({ column, values, further_rows: further }: Evaluation['slices'][number]): Markup {
  const hidden = values.slice(SHOWN).reduce((sum, { rows }) => sum + rows, further)
  return html`${drawTable({
    caption: html`By ${quoteForeign(column)}`,
    columns: [
      { title: column, align: 'left' },
      { title: 'rule', align: 'left' },
      { title: 'rows', align: 'right' },
      { title: 'should trigger', align: 'right' },
      { title: 'precision', align: 'right' },
      { title: 'recall', align: 'right' },
      { title: 'F1', align: 'right' },
    ],
    rows: values
      .slice(0, SHOWN)
      .flatMap(({ value, rows, rules }) =>
        rules.map(({ rule, matrix, precision, recall, f1 }) => [
          quoteForeign(value === '' ? '(empty)' : value),
          quoteForeign(rule),
          formatCount(rows),
          formatCount(matrix.true_positives + matrix.false_negatives),
          ...toFigures({ precision: precision.value, recall: recall.value, f1: f1.value }),
        ]),
      ),
  })}${hidden > 0 ? html`<p class="about">${formatCounted(hidden, 'row')} with further values.</p>` : NOTHING}`
}

function drawScore(score: JudgedScore): Markup {
  const areas = [
    `average precision ${formatArea(score.average_precision)}`,
    `ROC AUC ${formatArea(score.roc_auc)}`,
    ...(score.without_score > 0
      ? [`${formatCounted(score.without_score, 'row')} without a score left out`]
      : []),
  ]
  return html`${drawTable({
    caption: html`Scores of ${quoteForeign(score.class)} as a test for ${quoteForeign(score.rule)}: ${areas.join(', ')} (1 would be perfect; an AUC of 0.5 is no better than chance)`,
    columns: [
      { title: 'score', align: 'left' },
      { title: 'precision', align: 'right' },
      { title: 'recall', align: 'right' },
      { title: 'F1', align: 'right' },
      { title: 'found', align: 'right' },
      { title: 'wrongly', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: '', align: 'left' },
    ],
    rows: listShownPoints(score).map(({ point, notes }) => [
      `≥ ${formatScore(point.threshold)}`,
      ...toFigures(point),
      formatCount(point.true_positives),
      formatCount(point.false_positives),
      formatCount(point.false_negatives),
      notes.join(', '),
    ]),
  })}${drawList(
    score.wanted.flatMap(({ precision, point }) =>
      point === null ? [`No threshold reaches a precision of ${formatShare(precision)}.`] : [],
    ),
  )}`
}

function drawListed({ cell, rule, total, rows }: Evaluation['listed'][number], hasContent: boolean): Markup {
  const title = html`${quoteForeign(rule ?? OVERALL_NAME)}: ${CELL_WORDS[cell]} (${formatCounted(total, 'row')}${total > rows.length ? `, the first ${rows.length}` : ''})`
  if (!hasContent || rows.length === 0) {
    return html`<p class="listed">${title}${rows.length === 0 ? '' : `: rows ${rows.map(nameRow).join(', ')}`}</p>`
  }
  return drawTable({
    caption: title,
    columns: [
      { title: 'row', align: 'right' },
      { title: 'label', align: 'left' },
      { title: 'triggered', align: 'left' },
      { title: 'cells', align: 'left' },
    ],
    rows: rows.map(({ label, triggered_rules: triggered, cells, ...named }) => [
      nameRow(named),
      quoteForeign(label),
      quoteForeign(triggered.join('; ')),
      quoteForeign(cells.filter((text) => text !== '').join(' | ')),
    ]),
  })
}

function drawAssertions({ assertions }: Evaluation): Markup {
  if (assertions.length === 0) return NOTHING
  return drawTable({
    caption: 'Assertions',
    columns: [
      { title: '', align: 'left' },
      { title: 'assertion', align: 'left' },
      { title: 'found', align: 'right' },
    ],
    rows: assertions.map(({ expression, value, ok }) => [
      html`<span class="${ok ? 'ok' : 'bad'}">${ok ? '✓ holds' : '✗ failed'}</span>`,
      html`<code>${expression}</code>`,
      toShareText(value),
    ]),
  })
}
