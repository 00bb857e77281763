import type { Trend, TrendPoint } from '../../../shared/lookback/trend.ts'
import { formatCount, formatFigure, formatShare } from '../../../shared/messages/figure-text.ts'
import { formatTable, type TableColumn, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Rules that get a column in a terminal; a document has all. */
const RULES_SHOWN = 4

const COLUMNS: readonly TableColumn[] = [
  { title: 'RUN', align: 'left' },
  { title: 'NAME', align: 'left', minColumns: 8 },
  { title: 'ROWS', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'P50 MS', align: 'right' },
  { title: 'P99 MS', align: 'right' },
]

/** The runs of one source for a person to read, oldest first, then the share of each rule and the metrics by labels. */
export function formatTrend(terminal: Terminal, { source, runs }: Trend): string {
  const mark = (run: TrendPoint) => (run.generator_limited ? '!' : '')
  const table = formatTable(
    terminal,
    COLUMNS,
    runs.map((run) => [
      run.run_id,
      toPrintable(`${run.is_load_test ? 'load: ' : ''}${run.name}`),
      formatCount(run.rows),
      formatCount(run.unsuccessful),
      run.latency_ms === null ? '–' : mark(run) + formatFigure(run.latency_ms.p50),
      run.latency_ms === null ? '–' : mark(run) + formatFigure(run.latency_ms.p99),
    ]),
  )
  const notes = [
    ...(runs.some((run) => run.generator_limited)
      ? ["! this machine was the bottleneck at times, so the latency is not the service's alone"]
      : []),
    ...runs.flatMap(({ run_id: runId, without_metrics: why }) =>
      why === null ? [] : [`${runId} is not evaluated: ${why}`],
    ),
  ]
  return [
    [terminal.tone('strong', toPrintable(source)), ...table],
    formatRules(terminal, runs),
    ...formatMetrics(terminal, runs),
    notes.flatMap((note) =>
      wrapWords(toPrintable(note), terminal.columns()).map((line) => terminal.tone('warn', line)),
    ),
  ]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

/** A column for each rule that any run triggered most. */
function formatRules(terminal: Terminal, runs: readonly TrendPoint[]): string[] {
  const names = new Map<string, string>()
  const most = new Map<string, number>()
  for (const { rules } of runs) {
    for (const { rule_id: id, rule, rows } of rules) {
      names.set(id, rule)
      most.set(id, Math.max(rows, most.get(id) ?? 0))
    }
  }
  const shown = [...most].sort((a, b) => b[1] - a[1]).slice(0, RULES_SHOWN)
  if (shown.length === 0) return []
  return [
    terminal.tone('strong', 'Rows that triggered, of those that succeeded'),
    ...formatTable(
      terminal,
      [
        { title: 'RUN', align: 'left' },
        ...shown.map(([id]) => ({
          title: toPrintable(names.get(id) ?? id),
          align: 'right' as const,
          minColumns: 8,
        })),
      ],
      runs.map((run) => [
        run.run_id,
        ...shown.map(([id]) => {
          if (run.is_load_test || run.succeeded === 0) return '–'
          return formatShare(run.rules.find(({ rule_id: own }) => own === id)?.share ?? 0)
        }),
      ]),
    ),
    ...(most.size > shown.length
      ? [terminal.tone('quiet', `and ${most.size - shown.length} further rules; --json has them`)]
      : []),
  ]
}

function formatMetrics(terminal: Terminal, runs: readonly TrendPoint[]): string[][] {
  const evaluated = runs.flatMap(({ run_id: runId, metrics }) =>
    metrics === null ? [] : [{ runId, metrics }],
  )
  const rules = [...new Set(evaluated.flatMap(({ metrics }) => metrics.rules.map(({ rule }) => rule)))]
  return rules.slice(0, RULES_SHOWN).map((rule) => [
    terminal.tone('strong', `${toPrintable(rule)}, by labels`),
    ...formatTable(
      terminal,
      [
        { title: 'RUN', align: 'left' },
        { title: 'LABELLED', align: 'right' },
        { title: 'PRECISION', align: 'right' },
        { title: 'RECALL', align: 'right' },
        { title: 'F1', align: 'right' },
        { title: '95 % RANGE OF F1', align: 'left' },
      ],
      evaluated.flatMap(({ runId, metrics }) => {
        const judged = metrics.rules.find((one) => one.rule === rule)
        if (judged === undefined) return []
        const { precision, recall, f1 } = judged
        return [
          [
            runId,
            formatCount(metrics.rows),
            ...[precision, recall, f1].map(({ value }) => (value === null ? '–' : formatShare(value))),
            f1.low === null || f1.high === null ? '' : `${formatShare(f1.low)} to ${formatShare(f1.high)}`,
          ],
        ]
      }),
    ),
  ])
}
