import type { Metric } from '../../../shared/lookback/evaluation.ts'
import type { TrendPoint } from '../../../shared/lookback/trend.ts'

/** Rules that are drawn; more lines could not be told apart. */
const RULES_DRAWN = 6

/** A rule, and the share of the rows that triggered it in each run; null where nothing succeeded. */
export interface RuleLine {
  rule: string
  values: ({ value: number } | null)[]
}

/** The rules that most rows triggered in any run, each with its share in every run. */
export function findCommonRules(runs: readonly TrendPoint[]): RuleLine[] {
  const most = new Map<string, { rule: string; rows: number }>()
  for (const { rules, is_load_test: isLoad } of runs) {
    if (isLoad) continue
    for (const { rule_id: id, rule, rows } of rules) {
      most.set(id, { rule, rows: Math.max(rows, most.get(id)?.rows ?? 0) })
    }
  }
  return [...most]
    .sort(([, a], [, b]) => b.rows - a.rows)
    .slice(0, RULES_DRAWN)
    .map(([id, { rule }]) => ({
      rule,
      values: runs.map((run) =>
        run.succeeded === 0 ? null : { value: run.rules.find(({ rule_id }) => rule_id === id)?.share ?? 0 },
      ),
    }))
}

const METRICS = [
  ['precision', 'Precision'],
  ['recall', 'Recall'],
  ['f1', 'F1'],
] as const

/** A chart for each judged rule: its precision, recall and F1 in each run that was evaluated. */
export function toMetricLines(runs: readonly TrendPoint[]): {
  title: string
  lines: { label: string; values: ({ value: number; low: number | null; high: number | null } | null)[] }[]
}[] {
  const names = [...new Set(runs.flatMap(({ metrics }) => metrics?.rules.map(({ rule }) => rule) ?? []))]
  return names.slice(0, RULES_DRAWN).map((name) => ({
    title: `${name}, by labels`,
    lines: METRICS.map(([key, label]) => ({
      label,
      values: runs.map(({ metrics }) => {
        const judged = metrics?.rules.find(({ rule }) => rule === name)
        return judged === undefined ? null : toPoint(judged[key])
      }),
    })),
  }))
}

function toPoint({ value, low, high }: Metric) {
  return value === null ? null : { value, low, high }
}
