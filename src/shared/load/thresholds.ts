import { z } from 'zod'
import { formatDurationMs } from '../messages/duration.ts'
import { formatCount, formatCounted, formatFigure, roundNoise } from '../messages/figure-text.ts'
import {
  createRequestSums,
  isOfRequests,
  isTrend,
  type LoadMeasurements,
  METRIC_KINDS,
  METRICS,
  readMetric,
} from './metrics.ts'
import { formatThresholdMistake, parseThreshold, type ThresholdExpression } from './threshold-parser.ts'
import { formatTags, isOfAll, isOfOutcome } from './threshold-tags.ts'

const expressionSchema = z.string().superRefine((text, context) => {
  const result = parseThreshold(text)
  const message = !result.ok
    ? formatThresholdMistake(text, result.mistake)
    : result.abortOnFail
      ? `threshold \`${text}\`: expected no options next to an expression; write them into abortOnFail and delayAbortEvalMs`
      : null
  if (message !== null) context.addIssue({ code: 'custom', message })
})

const DELAY_MAX_MS = 24 * 3_600_000

const fullSchema = z.object({
  /** As in `p(99)<500`, without options. */
  expression: expressionSchema,
  /** End the run as soon as the threshold is crossed. */
  abortOnFail: z.boolean().default(false),
  /** How long, from the first measured second, crossing it cannot end the run. */
  delayAbortEvalMs: z.int().min(0).max(DELAY_MAX_MS).default(0),
})

/** A threshold with its options, or the text that {@link parseThreshold} reads. */
export const thresholdSchema = z
  .union([z.string(), fullSchema], {
    error:
      'expected a text such as `p(99)<500`, or an object of expression, abortOnFail and delayAbortEvalMs',
  })
  .transform((input) => {
    const result = typeof input === 'string' ? parseThreshold(input) : null
    if (result === null) return input
    if (!result.ok) return { expression: input }
    const { expression, abortOnFail, delayAbortEvalMs } = result
    return { expression, abortOnFail, delayAbortEvalMs }
  })
  .pipe(fullSchema)

export type Threshold = z.infer<typeof fullSchema>

/** The text that {@link parseThreshold} reads back: `p(99)<500 abortOnFail delayAbortEval=10s`. */
export function formatThreshold({ expression, abortOnFail, delayAbortEvalMs }: Threshold): string {
  if (!abortOnFail) return expression
  const delay = delayAbortEvalMs === 0 ? '' : ` delayAbortEval=${formatDurationMs(delayAbortEvalMs)}`
  return `${expression} abortOnFail${delay}`
}

export const thresholdResultSchema = z.object({
  expression: z.string(),
  /** In the unit of the limit: milliseconds, a share, a number; null if nothing was measured. */
  value: z.number().nullable(),
  /** False if nothing was measured: then nothing shows that the threshold holds. */
  ok: z.boolean(),
  limit: z.number(),
  /** Distance of the value from the limit: positive if there is room, negative if the limit is crossed. */
  margin: z.number().nullable(),
  unit: z.enum(['ms', 'share', 'number']),
  /** It held for the answered requests only: most of the measured time had no answers, or see `open`. */
  unanswered: z.literal(true).optional(),
  /** It holds for the answered requests, but would not if these requests, which still wait, got no answer. */
  open: z.int().optional(),
  /** Requests with its tags, and those without success; only for tags that not all requests have. */
  requests: z.int().optional(),
  failed: z.int().optional(),
})

export type ThresholdResult = z.infer<typeof thresholdResultSchema>

/** Judges every threshold against the measurements; a run's thresholds hold if all results are `ok`. */
export function evaluateThresholds(
  thresholds: readonly Threshold[],
  measured: LoadMeasurements,
): ThresholdResult[] {
  return thresholds.map(({ expression }) => {
    const parsed = readExpression(expression)
    const seen = toTagged(measured, parsed)
    const value = readMetric(seen, parsed)
    const { limit, metric, tags } = parsed
    const { unit } = METRIC_KINDS[METRICS[metric].kind]
    const requests = tags.every(isOfAll) ? {} : { requests: seen.all.requests, failed: seen.all.failed }
    if (value === null) return { expression, value, ok: false, limit, margin: null, unit, ...requests }
    return { expression, value, limit, unit, ...compare(parsed, value), ...requests }
  })
}

/** Results after most of the measured time passed without answers: thresholds that held no longer hold. */
export function withoutAnswers(results: readonly ThresholdResult[]): ThresholdResult[] {
  return results.map((result) => (result.ok ? { ...result, ok: false, unanswered: true } : result))
}

/**
 * Results while `open` requests have waited long for an answer; `ifUnanswered` are the results if none came
 * any more. A request's latency will be at least its wait so far, but nobody knows whether it will fail.
 */
export function withOpenRequests(
  results: readonly ThresholdResult[],
  ifUnanswered: readonly ThresholdResult[],
  open: number,
): ThresholdResult[] {
  return results.map((result, index) => {
    const other = ifUnanswered[index]
    if (other === undefined || other.ok) return result
    if (isOfAnyOutcome(result.expression)) return other
    return result.ok ? { ...result, ok: false, unanswered: true, open } : result
  })
}

/** Measurements of the requests that a threshold is about. */
function toTagged(measured: LoadMeasurements, { tags }: ThresholdExpression): LoadMeasurements {
  if (tags.every(isOfAll)) return measured
  const none = { latencies: {}, all: createRequestSums(), within: createRequestSums() }
  return { ...measured, ...(measured.tagged?.get(formatTags(tags)) ?? none) }
}

/**
 * The first threshold that ends the run now: crossed by a measured value, with `abortOnFail`, after its
 * delay. `elapsedMs` counts from the first measured second; `results` come from {@link evaluateThresholds}.
 */
export function findAbort(
  thresholds: readonly Threshold[],
  results: readonly ThresholdResult[],
  elapsedMs: number,
): ThresholdResult | null {
  return (
    results.find((result, index) => {
      const threshold = thresholds[index]
      if (
        threshold === undefined ||
        !threshold.abortOnFail ||
        result.ok ||
        result.value === null ||
        result.unanswered
      )
        return false
      return elapsedMs > threshold.delayAbortEvalMs
    }) ?? null
  )
}

/** Whether a threshold is about latencies of requests of any outcome. */
export function isOfAnyOutcome(expression: string): boolean {
  const { metric, tags } = readExpression(expression)
  return isTrend(metric) && metric !== 'succeeded_duration' && isOfRequests(metric) && !tags.some(isOfOutcome)
}

/**
 * The fewest requests of which a threshold lets one miss its limit; fewer tell little. 0 if it has no such
 * number.
 */
export function toNeededRequests({
  expression,
  limit,
  unit,
}: Pick<ThresholdResult, 'expression' | 'limit' | 'unit'>): number {
  const { metric, percentile } = readExpression(expression)
  const share =
    unit === 'share' ? (metric === 'http_req_failed' ? limit : 1 - limit) : 1 - (percentile ?? 100) / 100
  return share > 0 ? Math.round(1 / share) : 0
}

/** The expression of a threshold that the schema accepted. Throws a plain error for any other. */
export function readExpression(expression: string): ThresholdExpression {
  const result = parseThreshold(expression)
  if (!result.ok) throw new Error(formatThresholdMistake(expression, result.mistake))
  return result.parsed
}

/** Whether a threshold holds for a value. */
export function isMetBy(expression: string, value: number): boolean {
  return compare(readExpression(expression), value).ok
}

function compare({ operator, limit }: ThresholdExpression, value: number): { ok: boolean; margin: number } {
  const margin = toDistance(operator, value, limit)
  const isStrict = operator === '<' || operator === '>' || operator === '!='
  return { ok: isStrict ? margin > 0 : margin >= 0, margin: roundNoise(margin) }
}

/** Distance of a value from a limit, see {@link ThresholdResult.margin}. */
export function toMargin(operator: string, value: number, limit: number): number {
  return roundNoise(toDistance(operator, value, limit))
}

function toDistance(operator: string, value: number, limit: number): number {
  if (operator.startsWith('<')) return limit - value
  if (operator.startsWith('>')) return value - limit
  const distance = Math.abs(value - limit)
  return operator === '!=' ? distance : -distance
}

/** A threshold's value as a person reads it: `612 ms`, `1.2 %`, `1,204`; `nothing measured` if null. */
export function formatThresholdValue({ value, unit }: Pick<ThresholdResult, 'value' | 'unit'>): string {
  return value === null ? 'nothing measured' : toText(value, unit)
}

/**
 * Distance of a threshold's value from its limit: `112 ms over the limit of 500 ms`, `0.76 points under the
 * limit of 1 %`. Also says if no request had its tags: a count of 0 may be right, or a tag is mistyped.
 */
export function formatThresholdMargin(result: ThresholdResult): string {
  const distance = formatDistance(result)
  return result.requests === 0 ? `${distance}; no request has these tags` : distance
}

function formatDistance({ ok, value, limit, margin, unit, unanswered, open }: ThresholdResult): string {
  if (open !== undefined)
    return `not judged: ${formatCounted(open, 'request')} without an answer may still cross it`
  if (unanswered) return 'not judged: most of the measured time had no answers'
  if (value === null || margin === null) return 'nothing shows that it holds'
  const size = Math.abs(margin)
  if (size === 0) return ok ? 'exactly' : 'at the limit itself'
  const distance = unit === 'share' ? `${formatFigure(size * 100)} points` : toText(size, unit)
  return `${distance} ${value > limit ? 'over' : 'under'} the limit of ${toLimitText(limit, unit)}`
}

/** One line: `✗ p(99)<500: 612 ms, 112 ms over the limit of 500 ms`. */
export function formatThresholdResult(result: ThresholdResult): string {
  const mark = result.ok ? '✓' : '✗'
  return `${mark} ${result.expression}: ${formatThresholdValue(result)}, ${formatThresholdMargin(result)}`
}

/** A limit in full: one far below the figures that {@link toText} shows must not round to 0. */
function toLimitText(limit: number, unit: ThresholdResult['unit']): string {
  if (unit === 'share') return `${Number((limit * 100).toPrecision(6))} %`
  const text = Number.isInteger(limit) ? formatCount(limit) : String(limit)
  return unit === 'ms' ? `${text} ms` : text
}

function toText(value: number, unit: ThresholdResult['unit']): string {
  if (unit === 'ms') return `${formatFigure(value)} ms`
  // A share of 0.0104 against a limit of 0.01 must not read "1.0 %".
  if (unit === 'share') return `${formatFigure(value * 100)} %`
  return Number.isInteger(value) ? formatCount(value) : formatFigure(value)
}
