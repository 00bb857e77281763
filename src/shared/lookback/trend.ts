import { z } from 'zod'
import { formatCounted } from '../messages/figure-text.ts'
import { showSourcePath } from '../plan/source-paths.ts'
import { sayRenamedOver, toRuleNameKey } from '../run/counts.ts'
import { nameRules } from '../run/rule-names.ts'
import { countSucceededOf, findLoadFailure, isLoadRun, type RunSummary } from '../run/run.ts'
import { type Evaluation, judgedRuleSchema, judgedSchema, type LabelQuestion } from './evaluation.ts'
import { sayUnread } from './evaluation-view.ts'

const trendPointSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  source: z.string(),
  /** The other sources of a run with several. */
  more_sources: z.array(z.string()).exactOptional(),
  /** ISO 8601. */
  started_at: z.string(),
  state: z.string(),
  operation: z.string(),
  is_load_test: z.boolean(),
  /** Why a load test failed after it ended; null if it did not fail, and for other runs. */
  load_failure: z.enum(['threshold failed', 'no success']).nullable(),
  base_url: z.string(),
  /** Rows of a run, or requests of a load test. */
  rows: z.int(),
  succeeded: z.int(),
  /** Ended without success. */
  unsuccessful: z.int(),
  /** Rules, each with the rows that triggered it and their share of the succeeded rows; most rows first. */
  rules: z.array(
    z.object({ rule_id: z.string(), rule: z.string(), rows: z.int(), share: z.number().nullable() }),
  ),
  /** What a person should know of these shares, a sentence each. */
  warnings: z.array(z.string()).exactOptional(),
  /** Milliseconds of `http_req_duration`; null if nothing was answered. */
  latency_ms: z.object({ p50: z.number(), p99: z.number() }).nullable(),
  /** Latencies may include delays of this machine. */
  generator_limited: z.boolean(),
  /** With labels; null without, or if the run has none. */
  metrics: z
    .object({
      rows: z.int(),
      overall: judgedSchema,
      rules: z.array(judgedRuleSchema),
      /** What a person should know of the figures, a sentence each. */
      warnings: z.array(z.string()).exactOptional(),
    })
    .nullable(),
  /** Why a run has no metrics although labels were given. */
  without_metrics: z.string().nullable(),
})

export type TrendPoint = z.infer<typeof trendPointSchema>

/**
 * The runs of a trend: of sources, of all sources that match a pattern, or with a tag. All sources of a run
 * with several must match. A pattern with a folder applies to paths, otherwise to file names in any folder.
 */
export type TrendGroup =
  | { kind: 'sources'; paths: readonly string[] }
  | { kind: 'pattern'; pattern: string }
  | { kind: 'tag'; tag: string }

/** What `trend --json` prints: the runs of a group, oldest first. */
export const trendSchema = z.object({
  /** What the runs share: a path (a name if a browser sent the file), several by `, `, a pattern or a tag. */
  source: z.string(),
  by: z.enum(['sources', 'pattern', 'tag']),
  runs: z.array(trendPointSchema),
})

export type Trend = z.infer<typeof trendSchema>

/** Labels for the metrics of a trend, as `evaluate` takes them; null reads none. */
export type TrendLabels = LabelQuestion | null

/** The warnings of a run that are about its rules. */
const CODES_OF_RULES: ReadonlySet<string> = new Set([
  'NO_RESULT',
  'MISSING_MODELS',
  'SHARED_TASKS',
  'RULES_RENAMED',
])

/** A run in a trend; `evaluation` is null without labels, or says why there is none. */
export function toTrendPoint(run: RunSummary, evaluation: Evaluation | string | null): TrendPoint {
  const isLoad = isLoadRun(run)
  const { succeeded, rejected, failed, unknown } = isLoad ? run.requests : run.rows
  const { p50, p99 } = run.latency_ms.http_req_duration ?? {}
  const isEvaluated = typeof evaluation === 'object' && evaluation !== null
  const ofRules = isLoad ? [] : run.warnings.filter(({ code }) => CODES_OF_RULES.has(code))
  const warnings = isEvaluated ? [...evaluation.warnings, ...sayUnread(evaluation)] : []
  return {
    run_id: run.run_id,
    name: run.name,
    source: run.source,
    ...(run.more_sources !== undefined && { more_sources: run.more_sources }),
    started_at: run.started_at ?? run.created_at,
    state: run.state,
    operation: run.operation,
    is_load_test: isLoad,
    base_url: run.base_url,
    load_failure: findLoadFailure(run),
    rows: isLoad ? run.requests.sent : run.rows.read,
    succeeded,
    unsuccessful: rejected + failed + unknown + (isLoad ? 0 : run.rows.overdue + run.rows.invalid),
    rules: run.triggered_rules.map((rule) => ({
      rule_id: rule.rule_id,
      rule: rule.rule_name,
      rows: rule.rows,
      share: succeeded === 0 ? null : countSucceededOf(rule) / succeeded,
    })),
    ...(ofRules.length > 0 && { warnings: ofRules.map(({ message }) => message) }),
    latency_ms: p50 === undefined || p99 === undefined ? null : { p50, p99 },
    generator_limited: run.generator.limited,
    metrics: isEvaluated
      ? {
          rows: evaluation.rows.evaluated,
          overall: evaluation.overall,
          rules: evaluation.rules,
          ...(warnings.length > 0 && { warnings }),
        }
      : null,
    without_metrics: typeof evaluation === 'string' ? evaluation : null,
  }
}

/**
 * The warnings about the figures of runs, each once with the runs that it is about. Of those that differ only
 * in numbers, the newest one stands for all.
 */
export function listTrendWarnings(
  runs: readonly TrendPoint[],
  nameRun: (run: TrendPoint) => string = (run) => run.run_id,
): string[] {
  const told = runs.flatMap((run) => {
    const { warnings = [], metrics } = run
    return [...new Set([...warnings, ...(metrics?.warnings ?? [])])].map((warning) => ({ run, warning }))
  })
  // A label in backticks may be a number itself.
  const alike = Map.groupBy(told, ({ warning }) =>
    warning.replaceAll(/`[^`]*`|\d[\d,.]*/g, (found) => (found.startsWith('`') ? found : '0')),
  )
  const names = runs.flatMap(({ rules }) => rules.map(({ rule_id: id, rule }) => toRuleNameKey(id, rule)))
  const each = [...alike.values()].flatMap((about) => {
    const newest = about.at(-1)
    if (newest === undefined) return []
    const others = about.length === 1 ? '' : ` and ${formatCounted(about.length - 1, 'earlier run')}`
    return [`${nameRun(newest.run)}${others}: ${newest.warning}`]
  })
  return [...each, ...sayRenamedOver(names)]
}

/** What the runs of a group have in common, as in {@link Trend}. */
export function nameTrendGroup(group: TrendGroup): string {
  if (group.kind === 'sources') return group.paths.map(showSourcePath).join(', ')
  return group.kind === 'pattern' ? group.pattern : group.tag
}

/**
 * A pattern for sources that are probably exports of the same kind: numbers in the name may differ, as in
 * `posts-2026-w01.csv`; if the name is only a number, with as many digits. Null for a name without a number.
 */
export function suggestPattern(source: string): string | null {
  const name = source.slice(Math.max(source.lastIndexOf('/'), source.lastIndexOf('\\')) + 1)
  const literal = name.replaceAll(/[*?[\]{}()!\\]/g, '?')
  const [ending = ''] = /\.\p{Letter}\w*(?:\.gz)?$/iu.exec(literal) ?? []
  const stem = literal.slice(0, literal.length - ending.length)
  const numbers = /\p{Letter}/u.test(stem)
    ? stem.replaceAll(/\d+(?:[-_.]\d+)*/g, '*')
    : stem.replaceAll(/\d/g, '[0-9]')
  const pattern = numbers + ending
  return pattern === literal ? null : pattern
}

/** The rules that most rows triggered in any run, most rows first, each with its shares in all runs. */
export function listTriggered(
  runs: readonly TrendPoint[],
): { rule: string; values: ({ value: number } | null)[] }[] {
  const most = new Map<string, { rule: string; rows: number }>()
  for (const { rules, is_load_test: isLoad } of runs) {
    if (isLoad) continue
    for (const { rule_id: id, rule, rows } of rules) {
      most.set(id, { rule, rows: Math.max(rows, most.get(id)?.rows ?? 0) })
    }
  }
  const nameOf = nameRules(Array.from(most, ([id, { rule }]) => ({ id, name: rule })))
  return [...most]
    .sort(([, a], [, b]) => b.rows - a.rows)
    .map(([id, { rule }]) => ({
      rule: nameOf.get(id) ?? rule,
      values: runs.map((run) =>
        run.is_load_test || run.succeeded === 0
          ? null
          : { value: run.rules.find(({ rule_id }) => rule_id === id)?.share ?? 0 },
      ),
    }))
}

/** The rules that any run was evaluated for. */
export function listJudged(runs: readonly TrendPoint[]): string[] {
  return [...new Set(runs.flatMap(({ metrics }) => metrics?.rules.map(({ rule }) => rule) ?? []))]
}
