import { describeLimited, formatPercentileName } from '../../../../shared/load/compare-text.ts'
import type { DifferenceComparison, LoadComparison } from '../../../../shared/load/load-comparison.ts'
import { formatFigure } from '../../../../shared/messages/figure-text.ts'
import { sayPlanDifference } from '../../../../shared/plan/plan-differences.ts'
import { foreign, ms, number, text } from '../../../../shared/report/report.ts'
import { drawList, html, type Markup, quoteForeign } from '../../page/markup.ts'
import { drawTable } from '../../page/report-markup.ts'

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
    columns: [text(''), ms('A'), ms('B'), number('B / A'), number('between'), text('verdict')],
    rows: percentiles.map(({ percentile, aMs, bMs, ratio, low, high, verdict }) => [
      ...[formatPercentileName(percentile), aMs, bMs, ratio.toFixed(3)],
      ...[`${low?.toFixed(3) ?? 'no bound'} and ${high?.toFixed(3) ?? 'no bound'}`, verdict],
    ]),
  }),
)}
${drawTable({
  caption: 'Errors and throughput, and the difference with 99 % confidence',
  columns: [text(''), number('A'), number('B'), number('B − A'), number('between')],
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
        columns: [foreign(''), foreign('A'), foreign('B')],
        rows: planDifferences.map(sayPlanDifference).map(({ setting, a, b }) => [setting, a, b]),
      })
}</section>`
}

function toDifferenceRow(name: string, one: DifferenceComparison, factor: number): string[] {
  const text = (value: number | null) => (value === null ? 'no bound' : formatFigure(value * factor))
  return [name, text(one.a), text(one.b), text(one.difference), `${text(one.low)} and ${text(one.high)}`]
}
