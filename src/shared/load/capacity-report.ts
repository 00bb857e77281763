import { z } from 'zod'
import { formatCount, formatCounted, formatShare, roundNoise } from '../messages/figure-text.ts'
import type { Plan } from '../plan/plan.ts'
import { type Percentiles, percentilesSchema, type RunSummary, type WithoutOwnDelays } from '../run/run.ts'
import { listCapacityCaveats } from './capacity-caveats.ts'
import type { CapacityPlan } from './capacity-plan.ts'
import { type ProbeVerdict, toCapacityEstimate } from './capacity-search.ts'
import type { Load } from './load.ts'
import {
  formatThresholdResult,
  isMetBy,
  readExpression,
  type ThresholdResult,
  thresholdResultSchema,
} from './thresholds.ts'

/** One probe: a load test of its own; `show`, `export` and `compare` accept its run. */
const probeSchema = z.object({
  run_id: z.string(),
  /** Requests a second, or requests in flight. */
  level: z.number(),
  /** `void`: this machine may have decided it, so the probe says nothing about the service. */
  verdict: z.enum(['held', 'failed', 'void']),
  /** Why it failed or was void, a sentence each. */
  reasons: z.array(z.string()),
  thresholds: z.array(thresholdResultSchema),
  succeeded_per_s: z.number(),
  /** Answers a second within the measured time; absent in reports of an earlier version. */
  answered_per_s: z.number().optional(),
  /** Share of requests that did not succeed; null if none ended. */
  failed_share: z.number().nullable(),
  /** Of `response_time`, or `http_req_duration` for a search by requests in flight; null if not measured. */
  latency_ms: percentilesSchema.nullable(),
})

export type CapacityProbe = z.infer<typeof probeSchema>

/** A point of the curve: the medians of a level's probes, without void ones. */
const pointSchema = z.object({
  level: z.number(),
  held: z.int(),
  failed: z.int(),
  succeeded_per_s: z.number(),
  failed_share: z.number().nullable(),
  latency_ms: z.object({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable(),
})

type CapacityPoint = z.infer<typeof pointSchema>

/** What `load --find-capacity --json` prints: the result, curve and all probes (docs/load-tests.md §11). */
export const capacityReportSchema = z.object({
  name: z.string(),
  base_url: z.string(),
  unit: z.enum(['requests_per_second', 'requests_in_flight']),
  latency: z.enum(['response_time', 'http_req_duration']),
  /** Why the search ended. `interrupted`: by a person. `broken_off`: by an error. */
  end: z.enum([
    'found',
    'max_held',
    'none_held',
    'generator_limited',
    'probe_limit',
    'time_limit',
    'interrupted',
    'broken_off',
  ]),
  /** What broke the search off; null otherwise. */
  error: z.string().nullable(),
  /** The highest level, below all failed levels, at which most probes held; null if none did. */
  capacity: z.number().nullable(),
  /**
   * All probes up to `low` held, all from `high` on failed; null if no such level was probed. For requests a
   * second, `low` is at most what the service answered at `high`: a short probe can hold although a queue has
   * begun to grow.
   */
  interval: z.object({ low: z.number().nullable(), high: z.number().nullable() }),
  /** What must be known before anybody acts on the capacity, a sentence each. */
  caveats: z.array(z.string()),
  thresholds: z.array(z.string()),
  settings: z.object({
    start: z.number(),
    max: z.number(),
    max_probes: z.int(),
    max_time_ms: z.number(),
    warmup_ms: z.number(),
    measured_ms: z.number(),
    cool_down_ms: z.number(),
    resolution: z.number(),
    repeats: z.int(),
  }),
  elapsed_ms: z.number(),
  /** Latency over load, lowest level first. */
  curve: z.array(pointSchema),
  /** In the order in which they were sent. */
  probes: z.array(probeSchema),
})

export type CapacityReport = z.infer<typeof capacityReportSchema>

/** A probe that sent less than this share of its schedule did not probe its level. */
const SENT_SHARE = 0.98

/**
 * Judges a load test as a probe of a level. It is void if this machine may have decided it: the generator was
 * limited and a latency missed its limit, or it did not keep the schedule, or bursts after stalls may explain
 * the failed requests that cross a threshold. Lag only makes thresholds harder to hold, so a probe that held
 * despite it counts. Whatever misses its limit by more than this machine can have added is the service's
 * fault.
 */
export function judgeProbe(level: number, summary: RunSummary): CapacityProbe {
  const { generator, thresholds = [], requests, load, throughput, latency_ms: latencies } = summary
  const ended = requests.succeeded + requests.rejected + requests.failed + requests.unknown
  const crossed = thresholds.filter(({ ok }) => !ok)
  const scheduled = load?.scheduled_per_s ?? null
  const begunPerS = load?.iterations_per_s ?? throughput.attempted_per_s
  const isShort = scheduled !== null && begunPerS < scheduled * SENT_SHARE
  // The service held back requests that waited for a free place in flight, or were dropped.
  const isBehind = isShort && (generator.waited > 0 || generator.dropped > 0)
  const failures = [
    ...crossed.map(formatThresholdResult),
    ...(isBehind
      ? [
          `Only ${formatShare(begunPerS, scheduled)} of the schedule was sent: too many requests were in flight.`,
        ]
      : []),
  ]
  const failed = ended - requests.succeeded
  const mayBeOwnFailures = generator.may_be_own_failures ?? 0
  const mayBeBurst = (result: ThresholdResult) =>
    mayBeOwnFailures > 0 &&
    result.unit === 'share' &&
    isMetBy(result.expression, toRemaining(result, { ended, failed, mayBeOwn: mayBeOwnFailures }))
  const isOfService =
    isBehind ||
    crossed.some(
      (result) =>
        result.unanswered ||
        (result.unit === 'share' && !mayBeBurst(result)) ||
        isBeyond(result, toAddedMs(result, summary)),
    )
  // A stall slows the slowest requests without changing the percentiles that set the flag.
  const mayBeOwn =
    generator.limited || crossed.some((result) => mayBeBurst(result) || isOfSlowest(result.expression, ended))
  const isVoid = mayBeOwn && !isOfService && (failures.length > 0 || isShort)
  const verdict: ProbeVerdict = isVoid ? 'void' : failures.length > 0 ? 'failed' : 'held'
  return {
    run_id: summary.run_id,
    level,
    verdict,
    reasons: isVoid
      ? [
          ...(generator.reasons ?? []),
          ...(crossed.some(mayBeBurst)
            ? [
                `${formatCount(mayBeOwnFailures)} of ${formatCounted(failed, 'failed request')} may be due to bursts that this machine sent after stalls.`,
              ]
            : []),
          ...failures,
        ]
      : failures,
    thresholds,
    succeeded_per_s: throughput.succeeded_per_s,
    answered_per_s: load?.answered_per_s,
    failed_share: ended === 0 ? null : failed / ended,
    latency_ms: latencies.response_time ?? latencies.http_req_duration ?? null,
  }
}

/** The value of a share of requests if those that `mayBeOwn` says had not failed. */
function toRemaining(
  result: ThresholdResult,
  all: { ended: number; failed: number; mayBeOwn: number },
): number {
  const { requests = all.ended, failed = all.failed } = result
  const share = requests === 0 ? 0 : Math.max(0, failed - all.mayBeOwn) / requests
  return readExpression(result.expression).metric === 'checks' ? 1 - share : share
}

/**
 * Upper bound, in stalls, of what this machine may have added to a latency: a stall delays sending a request
 * and reading its answer, and requests sent together after it wait in the service for about as long again. A
 * backlog of many stalls shows as start lag of requests that did not wait for the service; without that
 * figure, as in summaries of earlier versions, any delay is possible.
 */
const STALLS_ADDED = 3

/** Late sending and reading delay a percentile by a known time; requests sent together wait as long again. */
const DELAYS_ADDED = 2

function toAddedMs(result: ThresholdResult, { generator }: RunSummary): number {
  const { event_loop_max_ms: stallMs, own_start_lag_max_ms: lagMs = Number.POSITIVE_INFINITY } = generator
  const withoutMs = readWithoutDelays(result, generator.without_own_delays_ms)
  const ownMs = withoutMs === null ? Number.POSITIVE_INFINITY : Math.max(0, (result.value ?? 0) - withoutMs)
  return Math.min(STALLS_ADDED * Math.max(stallMs ?? 0, lagMs), DELAYS_ADDED * ownMs)
}

const KEPT_POINTS: Readonly<Record<string, keyof Percentiles>> = {
  med: 'p50',
  avg: 'mean',
  'p(50)': 'p50',
  'p(90)': 'p90',
  'p(95)': 'p95',
  'p(99)': 'p99',
}

/** A threshold's latency without this machine's delays; null if unknown, or for the slowest requests. */
function readWithoutDelays({ expression }: ThresholdResult, without: WithoutOwnDelays = {}): number | null {
  const { metric, tags, aggregation, percentile } = readExpression(expression)
  const point = KEPT_POINTS[percentile === null ? aggregation : `p(${percentile})`]
  if (tags.length > 0 || point === undefined) return null
  return metric === 'response_time' || metric === 'http_req_duration'
    ? (without[metric]?.[point] ?? null)
    : null
}

/**
 * Whether a threshold is about so few of the slowest requests that no overall percentile shows what delayed
 * them. With fewer than 100 requests, p99 does not count as such a percentile (docs/load-tests.md §1).
 */
function isOfSlowest(expression: string, requests: number): boolean {
  return (requests < 100 ? /\bmax\b|p\((9[1-9]|100)/ : /\bmax\b|p\((99\.\d|100)/).test(expression)
}

/** Whether a latency would exceed its limit even with `addedMs` subtracted. */
function isBeyond({ unit, value, limit, margin }: ThresholdResult, addedMs: number): boolean {
  return unit === 'ms' && value !== null && margin !== null && margin < 0 && value - addedMs > limit
}

/** How a search is going or has ended. */
export interface CapacityOutcome {
  end: CapacityReport['end']
  error: string | null
  elapsedMs: number
  probes: readonly CapacityProbe[]
}

/** The report of a search; the plan's load has the thresholds that the probes were judged by. */
export function toCapacityReport(
  { name = '', connection, load }: Pick<Plan, 'name' | 'connection'> & { load: Load },
  plan: CapacityPlan,
  { end, error, elapsedMs, probes }: CapacityOutcome,
): CapacityReport {
  const { capacity, low, high } = toCapacityEstimate(probes)
  const isRate = plan.unit === 'rate'
  return {
    name,
    base_url: connection.baseUrl,
    unit: isRate ? 'requests_per_second' : 'requests_in_flight',
    latency: isRate ? 'response_time' : 'http_req_duration',
    end,
    error,
    capacity,
    interval: { low: isRate ? lowerToAnswered(low, high, probes) : low, high },
    caveats: listCapacityCaveats(plan.unit, capacity, probes, load.durationMs ?? 0),
    thresholds: load.thresholds.map(({ expression }) => expression),
    settings: {
      start: plan.start,
      max: plan.max,
      max_probes: plan.maxProbes,
      max_time_ms: plan.maxTimeMs,
      warmup_ms: load.warmupMs,
      measured_ms: load.durationMs ?? 0,
      cool_down_ms: plan.coolDownMs,
      resolution: plan.resolution,
      repeats: plan.repeats,
    },
    elapsed_ms: Math.round(elapsedMs),
    curve: toCurve(probes),
    probes: [...probes],
  }
}

/**
 * The lower end of an interval of rates: the highest level at which all probes held or, if lower, how much
 * the service answered a second at higher levels. Only probes between the bounds that failed by latency alone
 * count: what a service answers far beyond its capacity, or between errors, is not its capacity.
 */
function lowerToAnswered(
  low: number | null,
  high: number | null,
  probes: readonly CapacityProbe[],
): number | null {
  if (low === null || high === null) return low
  const answered = probes
    .filter(({ level, verdict }) => verdict === 'failed' && level > low && level <= high)
    .filter(({ failed_share }) => failed_share === 0)
    .flatMap(({ answered_per_s }) => answered_per_s ?? [])
  return Math.min(low, ...answered)
}

function toCurve(probes: readonly CapacityProbe[]): CapacityPoint[] {
  const levels = Map.groupBy(
    probes.filter(({ verdict }) => verdict !== 'void'),
    ({ level }) => level,
  )
  return [...levels.entries()]
    .sort(([one], [other]) => one - other)
    .map(([level, of]) => {
      const latencies = of.flatMap(({ latency_ms }) => (latency_ms === null ? [] : [latency_ms]))
      const median = (point: 'p50' | 'p95' | 'p99') =>
        toMedian(latencies.map((one: Percentiles) => one[point]))
      const shares = of.flatMap(({ failed_share }) => (failed_share === null ? [] : [failed_share]))
      return {
        level,
        held: of.filter(({ verdict }) => verdict === 'held').length,
        failed: of.filter(({ verdict }) => verdict === 'failed').length,
        succeeded_per_s: toMedian(of.map(({ succeeded_per_s }) => succeeded_per_s)),
        failed_share: shares.length === 0 ? null : toMedian(shares),
        latency_ms:
          latencies.length === 0 ? null : { p50: median('p50'), p95: median('p95'), p99: median('p99') },
      }
    })
}

function toMedian(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0]
  return roundNoise((low + high) / 2)
}
