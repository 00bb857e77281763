import { describeLimited, formatPercentileName } from '../../../shared/load/compare-text.ts'
import type {
  DifferenceComparison,
  LoadComparison,
  SeriesComparison,
  Verdict,
} from '../../../shared/load/load-comparison.ts'
import { formatPoints } from '../../../shared/lookback/comparison-text.ts'
import { formatCount, formatFigure, formatRate, formatShare } from '../../../shared/messages/figure-text.ts'
import { sayPlanDifference } from '../../../shared/plan/plan-differences.ts'
import {
  formatSection,
  formatTable,
  sectionColumns,
  type TableColumn,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'

const SHOWN_DIFFERENCES = 12

const TONES: Readonly<Record<Verdict, Tone>> = {
  slower: 'bad',
  faster: 'good',
  alike: 'plain',
  unclear: 'quiet',
}

const COLUMNS: readonly TableColumn[] = [
  { title: '', align: 'left' },
  { title: 'A ms', align: 'right' },
  { title: 'B ms', align: 'right' },
  { title: 'B / A', align: 'right' },
  { title: '99 % range', align: 'left' },
  { title: 'B is', align: 'left' },
]

/**
 * Two runs side by side for a person to read: the sentence first, then what it rests on. What was decided, if anything,
 * goes before the latency, of which then only the whole is shown.
 */
export function formatComparison(
  terminal: Terminal,
  comparison: LoadComparison,
  formatDecided: (terminal: Terminal) => string[][],
): string {
  const { a, b, sentence, caveats, series, planDifferences, limited } = comparison
  const columns = terminal.columns()
  const decided = formatDecided(terminal)
  const parts = [
    [
      `${terminal.tone('strong', 'A')}  ${toPrintable(a)}`,
      `${terminal.tone('strong', 'B')}  ${toPrintable(b)}`,
    ],
    ...decided,
    ...(limited.length === 0 ? [] : [[terminal.tone('warn', `! ${describeLimited(limited)}.`)]]),
    wrapWords(toPrintable(sentence), columns).map((line) => terminal.tone('strong', line)),
    caveats.flatMap((caveat) =>
      wrapWords(toPrintable(caveat), Math.max(30, columns - 2)).map((line, index) =>
        terminal.tone('warn', `${index === 0 ? '!' : ' '} ${line}`),
      ),
    ),
    ...series
      .filter(({ metric }) => decided.length === 0 || metric === 'http_req_duration')
      .map((one) => formatSeries(terminal, one, limited.length > 0)),
    formatRates(terminal, comparison),
    formatPlans(terminal, planDifferences),
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

function formatSeries(
  terminal: Terminal,
  { metric, a, b, percentiles }: SeriesComparison,
  isLimited: boolean,
): string[] {
  const rows = percentiles.map(({ percentile, aMs, bMs, ratio, low, high, verdict }) => [
    formatPercentileName(percentile),
    formatFigure(aMs),
    formatFigure(bMs),
    ratio.toFixed(2),
    formatRange(low, high, (bound) => bound.toFixed(2)),
    // What this machine limited says nothing about the service.
    terminal.tone(
      isLimited ? 'quiet' : TONES[verdict],
      isLimited && verdict !== 'unclear' ? `${verdict}?` : verdict,
    ),
  ])
  const counts = terminal.tone('quiet', [formatSamples(a, 'A'), formatSamples(b, 'B')].join(', '))
  return [`${terminal.tone('strong', metric)}  ${counts}`, ...formatTable(terminal, COLUMNS, rows, 2)]
}

function formatSamples({ count }: SeriesComparison['a'], name: string): string {
  return count === undefined ? `only percentiles in ${name}` : `${formatCount(count)} in ${name}`
}

function formatRates(terminal: Terminal, { failedShare, succeededPerS }: LoadComparison): string[] {
  return [
    ...formatSection(terminal, 'Unsuccessful', [
      `A ${formatShare(failedShare.a)}, B ${formatShare(failedShare.b)}${formatDifference(failedShare, formatPoints, ' points')}`,
    ]),
    ...formatSection(terminal, 'Succeeded', [
      `A ${formatRate(succeededPerS.a)}/s, B ${formatRate(succeededPerS.b)}/s${formatDifference(succeededPerS, formatRate, '/s')}`,
    ]),
  ]
}

function formatDifference(
  { low, high }: DifferenceComparison,
  format: (value: number) => string,
  unit: string,
): string {
  return low === null || high === null ? '' : `; the difference is ${formatRange(low, high, format)}${unit}`
}

function formatRange(low: number | null, high: number | null, format: (bound: number) => string): string {
  if (low !== null && high !== null) return `${format(low)} to ${format(high)}`
  if (low !== null) return `at least ${format(low)}`
  return high === null ? 'unknown' : `at most ${format(high)}`
}

function formatPlans(terminal: Terminal, differences: LoadComparison['planDifferences']): string[] {
  const columns = sectionColumns(terminal)
  const more = differences.length - SHOWN_DIFFERENCES
  return formatSection(terminal, 'Plan differences', [
    ...differences
      .slice(0, SHOWN_DIFFERENCES)
      .map(sayPlanDifference)
      .flatMap(({ setting, a, b }) => wrapWords(toPrintable(`${setting}: ${a} in A, ${b} in B`), columns)),
    ...(more > 0 ? [terminal.tone('quiet', `and ${formatCount(more)} more; --json has them`)] : []),
  ])
}
