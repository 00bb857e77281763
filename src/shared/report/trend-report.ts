import { formatInterval } from '../lookback/evaluation-view.ts'
import type { Trend, TrendPoint } from '../lookback/trend.ts'
import { formatFigure } from '../messages/figure-text.ts'
import { count, foreign, number, type Section, share, text } from './report.ts'

/** Rules that get a column or a table; a document has all. */
const RULES_SHOWN = 4

/** The runs of one source, oldest first, then the share of each rule and the metrics by labels. */
export function toTrendReport({ source, runs }: Trend): Section[] {
  const toLatency = (
    { latency_ms: latency, generator_limited: isLimited }: TrendPoint,
    point: 'p50' | 'p99',
  ) => (latency === null ? null : `${isLimited ? '!' : ''}${formatFigure(latency[point])}`)
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
          ? ["! this machine was the bottleneck at times, so the latency is not the service's alone"]
          : []),
        ...runs.flatMap(({ run_id: runId, without_metrics: why }) =>
          why === null ? [] : [`${runId} is not evaluated: ${why}`],
        ),
      ].map((note) => ({ text: note, tone: 'warn' })),
    },
  ]
}

/** A column for each rule that any run triggered most. */
function toRules(runs: readonly TrendPoint[]): Section {
  const most = new Map<string, { name: string; rows: number }>()
  for (const { rule_id: id, rule: name, rows } of runs.flatMap(({ rules }) => rules)) {
    most.set(id, { name, rows: Math.max(rows, most.get(id)?.rows ?? 0) })
  }
  if (most.size === 0) return {}
  const shown = [...most].sort(([, a], [, b]) => b.rows - a.rows).slice(0, RULES_SHOWN)
  return {
    title: 'Rows that triggered, of those that succeeded',
    tables: [
      {
        columns: [text('RUN'), ...shown.map(([, { name }]) => share(name, 8))],
        rows: runs.map((run) => [
          run.run_id,
          ...shown.map(([id]) =>
            run.is_load_test || run.succeeded === 0
              ? null
              : (run.rules.find(({ rule_id: own }) => own === id)?.share ?? 0),
          ),
        ]),
      },
    ],
    notes: most.size > shown.length ? [`and ${most.size - shown.length} further rules; --json has them`] : [],
  }
}

function listMetrics(runs: readonly TrendPoint[]): Section[] {
  const evaluated = runs.flatMap(({ run_id: runId, metrics }) =>
    metrics === null ? [] : [{ runId, metrics }],
  )
  const rules = new Set(evaluated.flatMap(({ metrics }) => metrics.rules.map(({ rule }) => rule)))
  return [...rules].slice(0, RULES_SHOWN).map((rule) => ({
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
