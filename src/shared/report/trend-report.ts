import { formatInterval } from '../lookback/evaluation-view.ts'
import {
  listJudged,
  listTrendWarnings,
  listTriggered,
  type Trend,
  type TrendPoint,
} from '../lookback/trend.ts'
import { formatFigure, P99_LEAST } from '../messages/figure-text.ts'
import { count, foreign, number, type Section, share, text } from './report.ts'

/** Rules with a column or a table; a document has all. */
const RULES_SHOWN = 4

/** The runs of one source, oldest first, then the share of each rule and the metrics by labels. */
export function toTrendReport({ source, runs }: Trend): Section[] {
  const toLatency = (
    { rows, latency_ms: latency, generator_limited: isLimited }: TrendPoint,
    point: 'p50' | 'p99',
  ) => {
    if (latency === null) return null
    const few = point === 'p99' && rows < P99_LEAST ? '~' : ''
    return `${isLimited ? '!' : ''}${few}${formatFigure(latency[point])}`
  }
  return [
    {
      title: source,
      tables: [
        {
          columns: [
            ...[text('RUN'), foreign('NAME', 8), count('ROWS'), count('FAILED')],
            ...[number('P50 MS'), number('P99 MS')],
          ],
          rows: runs.map((run) => [
            ...[run.run_id, `${run.is_load_test ? 'load: ' : ''}${run.name}`, run.rows, run.unsuccessful],
            ...[toLatency(run, 'p50'), toLatency(run, 'p99')],
          ]),
        },
      ],
    },
    toRules(runs),
    ...listMetrics(runs),
    {
      lines: [
        ...(runs.some((run) => run.generator_limited)
          ? ['! latencies may include delays of this machine']
          : []),
        ...(runs.some(({ rows, latency_ms: latency }) => latency !== null && rows < P99_LEAST)
          ? [`~ of fewer than ${P99_LEAST} rows or requests, p99 is the slowest`]
          : []),
        ...runs.flatMap(({ run_id: runId, state, load_failure: failure }) => {
          const words = [...(state === 'completed' ? [] : [state]), ...(failure === null ? [] : [failure])]
          return words.length === 0 ? [] : [`${runId}: ${words.join(', ')}`]
        }),
        ...runs.flatMap(({ run_id: runId, without_metrics: why }) =>
          why === null ? [] : [`${runId} is not evaluated: ${why}`],
        ),
        ...listTrendWarnings(runs),
      ].map((note) => ({ text: note, tone: 'warn' })),
    },
  ]
}

/** A column for each of the most triggered rules of any run. */
function toRules(runs: readonly TrendPoint[]): Section {
  const rules = listTriggered(runs)
  if (rules.length === 0) return {}
  const shown = rules.slice(0, RULES_SHOWN)
  return {
    title: 'Rows that triggered, of those that succeeded',
    tables: [
      {
        columns: [text('RUN'), ...shown.map(({ rule }) => share(rule, 8))],
        rows: runs.map(({ run_id: runId }, index) => [
          runId,
          ...shown.map(({ values }) => values[index]?.value ?? null),
        ]),
      },
    ],
    notes:
      rules.length > shown.length
        ? [`and ${rules.length - shown.length} further rules; --json has them`]
        : [],
  }
}

function listMetrics(runs: readonly TrendPoint[]): Section[] {
  const evaluated = runs.flatMap(({ run_id: runId, metrics }) =>
    metrics === null ? [] : [{ runId, metrics }],
  )
  return listJudged(runs)
    .slice(0, RULES_SHOWN)
    .map((rule) => ({
      title: `${rule}, by labels`,
      tables: [
        {
          columns: [
            ...[text('RUN'), count('LABELLED'), share('PRECISION'), share('RECALL'), share('F1')],
            text('95 % RANGE OF F1'),
          ],
          rows: evaluated.flatMap(({ runId, metrics }) =>
            metrics.rules
              .filter((one) => one.rule === rule)
              .slice(0, 1)
              .map(({ precision, recall, f1 }) => [
                ...[runId, metrics.rows, precision.value, recall.value, f1.value],
                formatInterval(f1) ?? '',
              ]),
          ),
        },
      ],
    }))
}
