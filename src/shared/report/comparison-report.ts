import { describeLimited, formatPercentileName, formatRange } from '../load/compare-text.ts'
import type {
  DifferenceComparison,
  LoadComparison,
  SeriesComparison,
  Verdict,
} from '../load/load-comparison.ts'
import { noteFewMeasured } from '../load/load-view.ts'
import { formatPoints } from '../lookback/comparison-text.ts'
import { formatCount, formatRate, formatShare } from '../messages/figure-text.ts'
import { sayPlanDifference } from '../plan/plan-differences.ts'
import { figure, foreign, type Line, type Section, type Table, type Tone, text } from './report.ts'

const SHOWN_DIFFERENCES = 12

const TONES: Readonly<Record<Verdict, Tone>> = {
  slower: 'bad',
  faster: 'good',
  alike: 'plain',
  unclear: 'quiet',
}

/**
 * Two runs side by side: the conclusion first, then its basis. Decisions, if there are any, come before
 * latency, of which then only the whole is shown.
 */
export function toComparisonReport(comparison: LoadComparison, decided: readonly Section[]): Section[] {
  const { a, b, sentence, caveats, limited } = comparison
  const series = comparison.series.filter(
    ({ metric }) => decided.length === 0 || metric === 'http_req_duration',
  )
  const measured = series.flatMap(({ metric, ...sides }) =>
    [sides.a, sides.b].flatMap(({ count }) => (count === undefined ? [] : [{ metric, count }])),
  )
  return [
    {
      lines: [
        [{ text: 'A', tone: 'strong' }, `  ${a}`],
        [{ text: 'B', tone: 'strong' }, `  ${b}`],
      ],
    },
    ...decided,
    { warnings: limited.length === 0 ? [] : [`${describeLimited(limited)}.`] },
    { lines: [{ text: sentence, tone: 'strong' }] },
    { warnings: caveats },
    ...series.map(toSeries),
    { notes: noteFewMeasured(measured).map((note) => ({ text: note, tone: 'quiet' })) },
    { facts: listRates(comparison) },
    { facts: [{ label: 'Plan differences', lines: listDifferences(comparison) }] },
  ]
}

function toSeries({ metric, a, b, percentiles }: SeriesComparison): Section {
  const samples = ({ count }: SeriesComparison['a'], name: string) =>
    count === undefined ? `only percentiles in ${name}` : `${formatCount(count)} in ${name}`
  return {
    title: [
      { text: metric, tone: 'strong' },
      { text: '  ', tone: 'plain' },
      { text: `${samples(a, 'A')}, ${samples(b, 'B')}`, tone: 'quiet' },
    ],
    tables: [
      {
        columns: [
          ...[text(''), figure('A ms'), figure('B ms'), figure('B / A')],
          ...[text('99 % range'), text('B is')],
        ],
        rows: percentiles.map(({ percentile, aMs, bMs, ratio, low, high, verdict, mayBeOwn }) => [
          ...[formatPercentileName(percentile), aMs, bMs, ratio.toFixed(2)],
          formatRange(low, high, (bound) => bound.toFixed(2)) ?? 'unknown',
          // A difference that delays of this machine may explain says nothing about the service.
          {
            text: mayBeOwn ? `${verdict}?` : verdict,
            tone: mayBeOwn ? 'quiet' : TONES[verdict],
          },
        ]),
      },
    ],
  }
}

function listRates({ failedShare, succeededPerS }: LoadComparison) {
  const difference = (
    { low, high }: DifferenceComparison,
    format: (value: number) => string,
    unit: string,
  ) => (low === null || high === null ? '' : `; the difference is ${formatRange(low, high, format)}${unit}`)
  return [
    {
      label: 'Unsuccessful',
      lines: [
        `A ${formatShare(failedShare.a)}, B ${formatShare(failedShare.b)}${difference(failedShare, formatPoints, ' points')}`,
      ],
    },
    {
      label: 'Succeeded',
      lines: [
        `A ${formatRate(succeededPerS.a)}/s, B ${formatRate(succeededPerS.b)}/s${difference(succeededPerS, formatRate, '/s')}`,
      ],
    },
  ]
}

/** Differences between the plans of two runs, by setting. */
export function toPlanDifferencesTable(
  differences: LoadComparison['planDifferences'],
  { setting: title, b: letter } = { setting: '', b: 'B' },
): Table {
  return {
    columns: [foreign(title), foreign('A'), foreign(letter)],
    rows: differences.map(sayPlanDifference).map(({ setting, a, b }) => [setting, a, b]),
  }
}

function listDifferences({ planDifferences }: LoadComparison): Line[] {
  const more = planDifferences.length - SHOWN_DIFFERENCES
  return [
    ...planDifferences
      .slice(0, SHOWN_DIFFERENCES)
      .map(sayPlanDifference)
      .map(({ setting, a, b }) => `${setting}: ${a} in A, ${b} in B`),
    ...(more > 0 ? [{ text: `and ${formatCount(more)} more; --json has them`, tone: 'quiet' as const }] : []),
  ]
}
