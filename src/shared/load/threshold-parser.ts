import { parseDurationMs } from '../messages/duration.ts'
import {
  catchMistake,
  formatTextMistake,
  MistakeError,
  skipSpace,
  type TextMistake,
} from '../messages/text-mistake.ts'
import {
  type Aggregation,
  findMetric,
  isOfRequests,
  isTrend,
  METRIC_KINDS,
  METRIC_NAMES,
  METRICS,
  type MetricName,
  type TrendMetric,
  toOnlyAggregation,
} from './metrics.ts'
import { isOfAll, parseTags, scanTags, type ThresholdTag } from './threshold-tags.ts'

/** Comparison operators of thresholds, as in k6; `===` means `==`. */
type ThresholdOperator = '<' | '<=' | '>' | '>=' | '==' | '===' | '!='

export interface ThresholdExpression {
  metric: MetricName
  /** Only requests with all of these tags count; empty for all requests. */
  tags: readonly ThresholdTag[]
  aggregation: Aggregation
  /** N of `p(N)`, 0 to 100; null for the other aggregations. */
  percentile: number | null
  operator: ThresholdOperator
  /** Milliseconds for latencies, a share from 0 to 1 for `http_req_failed`, otherwise a number. */
  limit: number
}

/** A parsed threshold, or the first mistake in the text. */
export type ThresholdParse =
  | {
      ok: true
      parsed: ThresholdExpression
      /** The text without the options. */
      expression: string
      abortOnFail: boolean
      delayAbortEvalMs: number
    }
  | { ok: false; mistake: TextMistake }

// As in k6, longer operators come first: `<=` before `<`.
const OPERATORS: readonly ThresholdOperator[] = ['<=', '<', '>=', '>', '===', '==', '!=']
const NUMBER = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?/
const PERCENTILE = /^p\((.*)\)$/
const EXAMPLES = '`p(99)<500`, `http_req_failed:rate<0.01` or `dropped==0`'

/**
 * Reads a threshold: `[METRIC[{TAG:VALUE,…}]:]AGGREGATION OPERATOR NUMBER [abortOnFail
 * [delayAbortEval=10s]]`, options after commas or spaces. Aggregations, operators and numbers are k6's,
 * except hexadecimal, infinite and NaN numbers. Without a metric, latencies are those of `http_req_duration`,
 * and `rate` that of `http_req_failed`; without an aggregation, a counter's is `count`, as in `dropped==0`.
 */
export function parseThreshold(text: string): ThresholdParse {
  return catchMistake<ThresholdParse>(() => {
    // A URL as a tag's value may contain comparison signs.
    const open = text.indexOf('{')
    const from = open === -1 ? 0 : scanTags(text, open).close + 1
    const found = text.slice(from).search(/[<>=!]/)
    const operatorAt = from + found
    if (found === -1) throw new MistakeError(text, 0, `a comparison such as ${EXAMPLES}`)
    const operator = OPERATORS.find((candidate) => text.startsWith(candidate, operatorAt))
    if (operator === undefined) {
      throw new MistakeError(text, operatorAt, `one of ${OPERATORS.map((one) => `\`${one}\``).join(', ')}`, 2)
    }
    const subject = parseSubject(text, operatorAt)
    const numberAt = skipSpace(text, operatorAt + operator.length)
    const end = parseLimit(text, numberAt, subject.metric)
    const limit = Number(text.slice(numberAt, end).replaceAll('_', ''))
    checkShare(text, numberAt, subject.metric, limit)
    const expression = text.slice(0, end).trim()
    return { ok: true, parsed: { ...subject, operator, limit }, expression, ...parseOptions(text, end) }
  })
}

/** A sentence about a mistake: in which threshold, where, what was expected and what was found. */
export function formatThresholdMistake(text: string, mistake: TextMistake): string {
  return formatTextMistake('threshold', text, mistake)
}

type Subject = Pick<ThresholdExpression, 'metric' | 'tags' | 'aggregation' | 'percentile'>

function parseSubject(text: string, end: number): Subject {
  const from = skipSpace(text, 0)
  const left = text.slice(from, end).trimEnd()
  if (left === '')
    throw new MistakeError(text, from, `what to compare before the operator, as in ${EXAMPLES}`, 2)
  if (left.includes('{')) return parseTaggedSubject(text, from, left)
  const colon = left.indexOf(':')
  if (colon === -1) return parseBareSubject(text, from, left)
  const name = left.slice(0, colon).trim()
  const metric = findMetric(name)
  if (metric === null) throw new MistakeError(text, from, toMetricsText(), name.length)
  const aggregationAt = skipSpace(text, from + colon + 1)
  return { metric, tags: [], ...parseAggregation(text, aggregationAt, from + left.length, metric) }
}

function parseTaggedSubject(text: string, from: number, left: string): Subject {
  const open = left.indexOf('{')
  const spans = scanTags(text, from + open)
  const close = spans.close - from
  if (spans.close === -1) throw new MistakeError(text, from + left.length, '`}` behind the tags')
  const name = left.slice(0, open).trim()
  const metric = findMetric(name)
  if (metric === null) throw new MistakeError(text, from, toMetricsText(), Math.max(1, name.length))
  const tags = parseTags(text, spans)
  if (!isOfRequests(metric) && !tags.every(isOfAll)) {
    throw new MistakeError(text, from + open, `no tags: ${metric} is not of single requests`)
  }
  const behind = left.slice(close + 1)
  const colon = behind.indexOf(':')
  if (colon === -1 && behind.trim() === '') {
    const aggregation = toOnlyAggregation(metric)
    if (aggregation !== null) return { metric, tags, aggregation, percentile: null }
  }
  if (behind.slice(0, Math.max(0, colon)).trim() !== '' || colon === -1) {
    const example = `\`${left.slice(0, close + 1)}:p(99)<500\``
    throw new MistakeError(text, from + close + 1, `an aggregation after the tags, as in ${example}`)
  }
  const aggregationAt = skipSpace(text, from + close + 1 + colon + 1)
  return { metric, tags, ...parseAggregation(text, aggregationAt, from + left.length, metric) }
}

function parseBareSubject(text: string, from: number, left: string): Subject {
  const named = findMetric(left)
  if (named !== null) {
    const aggregation = toOnlyAggregation(named)
    if (aggregation !== null) return { metric: named, tags: [], aggregation, percentile: null }
    throw new MistakeError(
      text,
      from + left.length,
      `an aggregation after the metric, as in \`${left}:p(99)<500\``,
      2,
    )
  }
  if (left === 'rate') return { metric: 'http_req_failed', tags: [], aggregation: 'rate', percentile: null }
  if (left === 'count' || left === 'value') {
    const example = left === 'count' ? 'http_reqs:count>1000' : 'vus:value<100'
    throw new MistakeError(text, from, `a metric before \`${left}\`, as in \`${example}\``, left.length)
  }
  if (/^\w+$/.test(left) && !METRIC_KINDS.trend.aggregations.some((one) => one === left)) {
    throw new MistakeError(text, from, `${toMetricsText()}, or avg, min, med, max, p(N) or rate`, left.length)
  }
  const metric: MetricName = 'http_req_duration'
  return { metric, tags: [], ...parseAggregation(text, from, from + left.length, metric) }
}

function parseAggregation(
  text: string,
  at: number,
  end: number,
  metric: MetricName,
): Pick<Subject, 'aggregation' | 'percentile'> {
  const word = text.slice(at, end)
  const known: readonly Aggregation[] = METRIC_KINDS[METRICS[metric].kind].aggregations
  if (word !== 'p' && known.includes(word as Aggregation)) {
    return { aggregation: word as Aggregation, percentile: null }
  }
  const inner = known.includes('p') ? PERCENTILE.exec(word)?.[1] : undefined
  if (inner !== undefined) {
    const percentile = NUMBER.exec(inner)?.[0] === inner ? Number(inner.replaceAll('_', '')) : Number.NaN
    if (!(percentile >= 0 && percentile <= 100)) {
      throw new MistakeError(text, at + 2, 'a percentile from 0 to 100, as in p(99) or p(99.9)', inner.length)
    }
    return { aggregation: 'p', percentile }
  }
  const list = known.map((one) => (one === 'p' ? 'p(N)' : one)).join(', ')
  throw new MistakeError(
    text,
    at,
    `${known.length === 1 ? list : `one of ${list}`} for ${metric}`,
    Math.max(1, word.length),
  )
}

/** Returns where the number ends. */
function parseLimit(text: string, at: number, metric: MetricName): number {
  const number = NUMBER.exec(text.slice(at))?.[0]
  const what = isTrend(metric) ? 'a number of milliseconds' : 'a number'
  if (number === undefined) throw new MistakeError(text, at, what)
  const end = at + number.length
  const tail = text.slice(end)
  if (/^\s*%/.test(tail)) {
    throw new MistakeError(text, end, `a share from 0 to 1 without a percent sign, as in 0.01 for 1 %`)
  }
  if (/^\s*(us|µs|ms|s|m|h|min|sec)\b/i.test(tail)) {
    throw new MistakeError(text, end, `${what} without a unit, as k6 has it`)
  }
  if (tail !== '' && !/^[\s,]/.test(tail)) throw new MistakeError(text, end, 'the end of the number')
  return end
}

/** A share above 1 is always a percentage by mistake: such a threshold would always hold, or always fail. */
function checkShare(text: string, at: number, metric: MetricName, limit: number): void {
  if (METRICS[metric].kind !== 'rate' || (limit >= 0 && limit <= 1)) return
  throw new MistakeError(
    text,
    at,
    'a share from 0 to 1, as in 0.05 for 5 % (requests a second are `http_reqs:rate`)',
  )
}

function parseOptions(text: string, from: number): { abortOnFail: boolean; delayAbortEvalMs: number } {
  let abortOnFail = false
  let delayAbortEvalMs: number | null = null
  let delayAt = from
  for (const { 0: word, index } of text.slice(from).matchAll(/[^\s,]+/g)) {
    const at = from + index
    const delay = /^delayAbortEval=(.*)$/.exec(word)?.[1]
    if (word === 'abortOnFail' && !abortOnFail) {
      abortOnFail = true
    } else if (delay !== undefined && delayAbortEvalMs === null) {
      delayAt = at
      delayAbortEvalMs = parseDurationMs(delay)
      if (delayAbortEvalMs === null) {
        throw new MistakeError(
          text,
          at + 'delayAbortEval='.length,
          'a duration such as 10s or 1m30s',
          delay.length,
        )
      }
    } else {
      throw new MistakeError(
        text,
        at,
        '`abortOnFail`, `delayAbortEval=10s`, each at most once, or the end',
        word.length,
      )
    }
  }
  if (delayAbortEvalMs !== null && !abortOnFail) {
    throw new MistakeError(
      text,
      delayAt,
      '`abortOnFail` together with `delayAbortEval`, which has no effect without it',
    )
  }
  return { abortOnFail, delayAbortEvalMs: delayAbortEvalMs ?? 0 }
}

function toMetricsText(): string {
  return `a metric (${METRIC_NAMES.join(', ')})`
}

/** An expression's upper limit of a latency, as drawn in charts. */
export interface LatencyLimit {
  metric: TrendMetric
  label: string
  value: number
  /** The percentile with this limit; null for another aggregation. */
  percentile: number | null
}

/** The upper limits of latencies in expressions; other expressions are left out. */
export function listLatencyLimits(expressions: readonly string[]): LatencyLimit[] {
  return expressions.flatMap((expression) => {
    // k6 has expressions that Sluice does not know.
    const read = parseThreshold(expression)
    if (!read.ok) return []
    const { metric, operator, limit, aggregation } = read.parsed
    if (!isTrend(metric) || !operator.startsWith('<')) return []
    const percentile = aggregation === 'med' ? 50 : read.parsed.percentile
    return [{ metric, label: expression, value: limit, percentile }]
  })
}
