import type { Histogram } from 'hdr-histogram-js'
import { z } from 'zod'
import {
  isLoadRun,
  latencyBarSchema,
  type Percentiles,
  percentilesSchema,
  type RunSummary,
  runStateSchema,
} from '../run/run.ts'
import { compareRuns } from './compare.ts'
import { COMPARED_PERCENTILES, toRunLetter } from './compare-text.ts'
import { toLatencyBars, toPercentiles } from './latency-meter.ts'
import { type ComparedRun, loadComparisonSchema } from './load-comparison.ts'
import { TREND_METRICS, type TrendMetric, trendMetricSchema } from './metrics.ts'

const overlaidRunSchema = z.object({
  runId: z.string(),
  name: z.string(),
  /** Its name in sentences: `A` is the run that the others are compared with. */
  letter: z.string(),
  /** ISO 8601; null if nothing was sent yet. */
  startedAt: z.string().nullable(),
  state: runStateSchema,
  isLoadTest: z.boolean(),
  durationS: z.number(),
  requests: z.int(),
  /** Whether latencies may include delays of this machine, and how much, a sentence each. */
  isLimited: z.boolean(),
  limitedBecause: z.array(z.string()),
})

/** One of several runs whose latencies are drawn in one chart. */
export type OverlaidRun = z.infer<typeof overlaidRunSchema>

const overlaidLatencySchema = z.object({
  /** Milliseconds; incomplete in a summary of k6. */
  percentiles: percentilesSchema.partial(),
  /** Milliseconds that `percentile` percent of the answers do not exceed, ascending. */
  curve: z.array(z.object({ percentile: z.number(), ms: z.number() })),
  /** The distribution; all bars of a series have the same edges. Empty if only percentiles are known. */
  bars: z.array(latencyBarSchema),
})

/** One run's latency in a chart of several runs. */
export type OverlaidLatency = z.infer<typeof overlaidLatencySchema>

export const latencyOverlaySchema = z.object({
  runs: z.array(overlaidRunSchema),
  /** Latencies that any run measured, in the order of the runs; null for a run without it. */
  series: z.array(
    z.object({ metric: trendMetricSchema, latencies: z.array(overlaidLatencySchema.nullable()) }),
  ),
  /** Each run after the first, compared with it. */
  comparisons: z.array(loadComparisonSchema),
})

export type LatencyOverlay = z.infer<typeof latencyOverlaySchema>

/** Prepares latencies of several runs for one chart. */
export function overlayLatencies(
  runs: readonly { summary: RunSummary; compared: ComparedRun }[],
): LatencyOverlay {
  const [first, ...others] = runs
  return {
    runs: runs.map(({ summary, compared }, index) => toOverlaidRun(summary, compared, toRunLetter(index))),
    series: TREND_METRICS.flatMap((metric) => {
      const latencies = overlayMetric(
        metric,
        runs.map(({ compared }) => compared),
      )
      return latencies.every((latency) => latency === null) ? [] : [{ metric, latencies }]
    }),
    comparisons:
      first === undefined
        ? []
        : others.map(({ compared }, index) =>
            compareRuns(first.compared, compared, [toRunLetter(0), toRunLetter(index + 1)]),
          ),
  }
}

function toOverlaidRun(summary: RunSummary, compared: ComparedRun, letter: string): OverlaidRun {
  const { generator } = summary
  return {
    runId: summary.run_id,
    name: summary.name,
    letter,
    startedAt: summary.started_at,
    state: summary.state,
    isLoadTest: isLoadRun(summary),
    durationS: compared.durationS,
    requests: compared.requests,
    isLimited: generator.limited,
    limitedBecause: generator.reasons ?? [],
  }
}

function overlayMetric(metric: TrendMetric, runs: readonly ComparedRun[]): (OverlaidLatency | null)[] {
  const histograms = runs.map(({ latencies }) => latencies[metric]?.total ?? null)
  const known = histograms.filter((one) => one !== null)
  const range = {
    minNonZeroValue: Math.min(...known.map(({ minNonZeroValue }) => minNonZeroValue)),
    maxValue: Math.max(...known.map(({ maxValue }) => maxValue)),
  }
  return runs.map((run, index) => {
    const histogram = histograms[index] ?? null
    if (histogram !== null) {
      return {
        percentiles: toPercentiles(histogram) ?? {},
        curve: toCurve(histogram),
        bars: toLatencyBars(histogram, range),
      }
    }
    const percentiles = run.percentiles?.[metric]
    if (percentiles === undefined) return null
    const curve = toKnownPoints(percentiles)
    return curve.length === 0 ? null : { percentiles, curve, bars: [] }
  })
}

/** Points of a curve for each power of ten between a percentile and 100. */
const POINTS_PER_DECADE = 12

/** The curve of a distribution: denser towards 100 %, up to where it would show single answers. */
function toCurve(histogram: Histogram): OverlaidLatency['curve'] {
  const decades = Math.log10(Math.max(1, histogram.totalCount))
  const points = Math.floor(decades * POINTS_PER_DECADE)
  return Array.from({ length: points + 1 }, (_, index) => {
    const percentile = 100 * (1 - 10 ** (-index / POINTS_PER_DECADE))
    const us = Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue)
    return { percentile, ms: Math.max(us, histogram.minNonZeroValue) / 1000 }
  })
}

function toKnownPoints(percentiles: Partial<Percentiles>): OverlaidLatency['curve'] {
  return COMPARED_PERCENTILES.flatMap(([percentile, name]) => {
    const ms = percentiles[name]
    return ms === undefined || ms <= 0 ? [] : [{ percentile, ms }]
  })
}
