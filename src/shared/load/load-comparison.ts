import { z } from 'zod'
import type { PlanDifference } from '../plan/plan-differences.ts'
import { type Percentiles, percentilesSchema } from '../run/run.ts'
import { type TrendMetric, trendMetricSchema } from './metrics.ts'
import type { LatencyHistory } from './statistics.ts'

const verdictSchema = z.enum(['slower', 'faster', 'alike', 'unclear'])

/** Whether the second run differs from the first: `alike` means shown not to, `unclear` means unknown. */
export type Verdict = z.infer<typeof verdictSchema>

export interface ComparedRun {
  label: string
  plan: unknown
  /** If there are several runs: how the plan of this one differs from the first run's. */
  ownDifferences?: readonly PlanDifference[]
  /** Whether it ran to its end. */
  state: 'whole' | 'cut' | 'going'
  /** Measured time, seconds. */
  durationS: number
  requests: number
  failed: number
  /** Within the measured time. */
  succeeded: number
  dropped: number
  /** Callbacks that did not arrive. */
  missingCallbacks: number
  /** A long time without any answer, as a clause; undefined if there was none. */
  silence?: string | undefined
  generatorLimited: boolean
  /** Latencies without delays of the sending machine, milliseconds; undefined if unknown. */
  withoutOwnDelays?: Partial<Record<TrendMetric, Percentiles>> | undefined
  fromCache: number
  latencies: Partial<Record<TrendMetric, LatencyHistory>>
  /** Milliseconds, for series of an imported summary that has percentiles only. */
  percentiles?: Partial<Record<TrendMetric, Partial<Percentiles>>>
  /** By batch of consecutive seconds; empty if only the whole is known. */
  batches: readonly { durationS: number; requests: number; failed: number; succeeded: number }[]
}

/** The range with the true value; a null bound is unknown. */
const intervalShape = { low: z.number().nullable(), high: z.number().nullable() }

const percentileSchema = z.object({
  percentile: z.number(),
  aMs: z.number(),
  bMs: z.number(),
  /** B over A, with the range (`low` to `high`) of the true ratio. */
  ratio: z.number(),
  ...intervalShape,
  verdict: verdictSchema,
  /** Delays of a sending machine may explain the verdict; absent if they cannot. */
  mayBeOwn: z.literal(true).exactOptional(),
})

/** One percentile of one series in both runs. */
export type PercentileComparison = z.infer<typeof percentileSchema>

const seriesSchema = z.object({
  metric: trendMetricSchema,
  a: percentilesSchema.partial(),
  b: percentilesSchema.partial(),
  percentiles: z.array(percentileSchema),
  /** Whether requests close in time were treated as dependent; otherwise all count as independent. */
  isBatched: z.boolean(),
  verdict: z.enum([...verdictSchema.options, 'mixed']),
  sentence: z.string(),
})

/** One series in both runs. */
export type SeriesComparison = z.infer<typeof seriesSchema>

const differenceSchema = z.object({
  a: z.number(),
  b: z.number(),
  difference: z.number(),
  ...intervalShape,
})

/** A figure of both runs, B minus A, and the range of the true difference; null bounds are unknown. */
export type DifferenceComparison = z.infer<typeof differenceSchema>

export const loadComparisonSchema = z.object({
  a: z.string(),
  b: z.string(),
  /** Whether B is slower, in plain words. */
  sentence: z.string(),
  series: z.array(seriesSchema),
  /** Share of requests that did not succeed. */
  failedShare: differenceSchema,
  /** Requests a second that succeeded. */
  succeededPerS: differenceSchema,
  planDifferences: z.array(z.object({ path: z.string(), a: z.string(), b: z.string() })),
  /** Caveats, a sentence each. */
  caveats: z.array(z.string()),
  /** The runs that this machine limited, so that not only the service shaped their latencies. */
  limited: z.array(z.string()),
})

export type LoadComparison = z.infer<typeof loadComparisonSchema>

/** What the runs are called in sentences. */
export type RunLetters = readonly [a: string, b: string]
