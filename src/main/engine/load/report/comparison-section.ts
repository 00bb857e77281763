import { describeLimited, formatPercentileName } from '../../../../shared/load/compare-text.ts'
import type { DifferenceComparison, LoadComparison } from '../../../../shared/load/load-comparison.ts'
import { formatFigure, formatMs } from '../../../../shared/messages/figure-text.ts'
import { sayPlanDifference } from '../../../../shared/plan/plan-differences.ts'
import { drawList, drawTable, html, type Markup, quoteForeign } from '../../page/markup.ts'

/** This run compared with an earlier one. */
export function drawComparison(comparison: LoadComparison): Markup {
  const { a, b, sentence, caveats, series, planDifferences, limited } = comparison
  return html`<section><h2>Beside an earlier run</h2>
<p>A is ${quoteForeign(a)}, B is ${quoteForeign(b)}.</p>
<p class="sentence">${limited.length === 0 ? '' : `${describeLimited(limited)}. `}${sentence}</p>
${drawList(caveats)}
${series.map(({ metric, percentiles }) =>
  drawTable({
    caption: `${metric}: each percentile of both, and how many times A's B's is, with 99 % confidence`,
    columns: [
      { title: '', align: 'left' },
      { title: 'A', align: 'right' },
      { title: 'B', align: 'right' },
      { title: 'B / A', align: 'right' },
      { title: 'between', align: 'right' },
      { title: 'verdict', align: 'left' },
    ],
    rows: percentiles.map((one) => [
      formatPercentileName(one.percentile),
      formatMs(one.aMs),
      formatMs(one.bMs),
      one.ratio.toFixed(3),
      `${one.low?.toFixed(3) ?? 'no bound'} and ${one.high?.toFixed(3) ?? 'no bound'}`,
      one.verdict,
    ]),
  }),
)}
${drawTable({
  caption: 'Errors and throughput, and the difference with 99 % confidence',
  columns: [
    { title: '', align: 'left' },
    { title: 'A', align: 'right' },
    { title: 'B', align: 'right' },
    { title: 'B − A', align: 'right' },
    { title: 'between', align: 'right' },
  ],
  rows: [
    toDifferenceRow('did not succeed, %', comparison.failedShare, 100),
    toDifferenceRow('succeeded a second', comparison.succeededPerS, 1),
  ],
})}
${
  planDifferences.length === 0
    ? html`<p class="about">The plans are the same.</p>`
    : drawTable({
        caption: 'What the plans say differently',
        columns: [
          { title: '', align: 'left' },
          { title: 'A', align: 'left' },
          { title: 'B', align: 'left' },
        ],
        rows: planDifferences
          .map(sayPlanDifference)
          .map(({ setting, a, b }) => [quoteForeign(setting), quoteForeign(a), quoteForeign(b)]),
      })
}</section>`
}

function toDifferenceRow(name: string, one: DifferenceComparison, factor: number): string[] {
  const text = (value: number | null) => (value === null ? 'no bound' : formatFigure(value * factor))
  return [name, text(one.a), text(one.b), text(one.difference), `${text(one.low)} and ${text(one.high)}`]
}
