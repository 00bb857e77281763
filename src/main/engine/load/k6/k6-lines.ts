import { StringDecoder } from 'node:string_decoder'
import { decodeHistogram } from '../../../../shared/load/latency-meter.ts'
import {
  createRequestSums,
  type LatencyDistribution,
  NO_MEASUREMENTS,
} from '../../../../shared/load/metrics.ts'
import {
  evaluateThresholds,
  readExpression,
  type ThresholdResult,
  thresholdSchema,
} from '../../../../shared/load/thresholds.ts'
import { formatCounted } from '../../../../shared/messages/figure-text.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import { isJsonObject } from '../../../../shared/service/json-object.ts'
import type { K6Result } from './k6-result.ts'
import { K6_LATENCIES, type K6Point, K6Samples } from './k6-samples.ts'

/** Longest line that is read; k6's own have a few hundred characters. */
const LINE_MAX_CHARACTERS = 1024 * 1024

const KEPT: ReadonlySet<string> = new Set([
  'http_reqs',
  'http_req_failed',
  'not_succeeded',
  'dropped_iterations',
  ...K6_LATENCIES,
])

/** Reads k6's JSON lines, one file after the other, in memory that does not grow with the samples. */
export class K6Lines {
  #samples = new K6Samples()
  /** Whether samples of the scenario `main` were seen; from then on only these count. */
  #hasMain = false
  /** Expressions by metric, as given to k6, which does not report how they ended. */
  readonly #thresholds = new Map<string, string[]>()
  #lines = 0
  #unreadable = 0
  #isCut = false

  /** Lines that were samples or metrics of k6. */
  get lines(): number {
    return this.#lines
  }

  /** Reads a file's bytes to the end. Lines that are not k6's are counted. */
  async read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    try {
      for await (const chunk of chunks) {
        const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) this.#take(line)
        // The rest of an overlong line is not one of k6's lines either.
        if (rest.length > LINE_MAX_CHARACTERS) rest = '\u0000'
      }
    } catch (error) {
      // k6 was stopped before it closed the file; what it had written is valid.
      if (toSystemCode(error) !== 'Z_BUF_ERROR') throw error
      this.#isCut = true
      return
    }
    this.#take(rest + decoder.end())
  }

  toResult(): K6Result {
    const result = this.#samples.toResult()
    const thresholds = this.#hasMain ? [] : this.#judge(result)
    return {
      ...result,
      shape: 'json-lines',
      k6Version: null,
      scenario: this.#hasMain ? 'main' : null,
      thresholds,
      notes: [
        ...(this.#hasMain || thresholds.length === 0
          ? ['samples do not record how thresholds ended: those of an exported project are in its summary']
          : ['samples do not record how thresholds ended, so they were judged again over the whole run']),
        ...(this.#isCut
          ? ['the file ends in the middle: k6 was stopped before it had written all of it']
          : []),
        ...(this.#unreadable === 0
          ? []
          : [`${formatCounted(this.#unreadable, 'line')} not from k6, left out`]),
      ],
    }
  }

  #take(line: string): void {
    if (line.trim() === '') return
    // Most lines belong to metrics that are not kept, so they are not parsed.
    const name = /"metric":\s*"([^"]*)"/.exec(line)?.[1]
    if (name !== undefined && !KEPT.has(name)) {
      this.#lines += 1
      return
    }
    const parsed = name === undefined ? null : parseLine(line)
    if (name === undefined || parsed === null) {
      this.#unreadable += 1
      return
    }
    this.#lines += 1
    if (parsed.kind === 'point') this.#addPoint(parsed.point)
    else if (parsed.expressions.length > 0) this.#thresholds.set(name, parsed.expressions)
  }

  #addPoint(point: K6Point): void {
    const isMain = point.tags['scenario'] === 'main'
    if (isMain && !this.#hasMain) {
      this.#hasMain = true
      this.#samples = new K6Samples()
    }
    if (isMain || !this.#hasMain) this.#samples.add(point)
  }

  #judge(
    result: Pick<K6Result, 'requests' | 'failed' | 'dropped' | 'durationS' | 'latencies'>,
  ): ThresholdResult[] {
    const thresholds = [...this.#thresholds]
      .flatMap(([metric, expressions]) =>
        expressions.map((one) => (metric === 'http_req_duration' ? one : `${metric}:${one}`)),
      )
      .flatMap((expression) => {
        const { data } = thresholdSchema.safeParse(expression)
        return data === undefined || !isJudged(data.expression) ? [] : [data]
      })
    const latencies: Record<string, LatencyDistribution> = {}
    for (const [metric, { histogram }] of Object.entries(result.latencies)) {
      if (histogram !== null) latencies[metric] = decodeHistogram(histogram)
    }
    const sums = { ...createRequestSums(), requests: result.requests ?? 0, failed: result.failed ?? 0 }
    return evaluateThresholds(thresholds, {
      ...NO_MEASUREMENTS,
      durationS: result.durationS ?? 0,
      latencies,
      all: sums,
      within: sums,
      dropped: result.dropped ?? 0,
    })
  }
}

/** Whether the kept samples can judge a threshold: it covers the whole run and a metric that is kept. */
function isJudged(expression: string): boolean {
  const { metric, tags } = readExpression(expression)
  return tags.length === 0 && KEPT.has(metric)
}

type ParsedLine = { kind: 'thresholds'; expressions: string[] } | { kind: 'point'; point: K6Point }

function parseLine(line: string): ParsedLine | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return null
  }
  if (!isJsonObject(parsed) || !isJsonObject(parsed['data'])) return null
  const { type, metric, data } = parsed
  if (type === 'Metric') {
    const expressions = Array.isArray(data['thresholds']) ? data['thresholds'] : []
    return { kind: 'thresholds', expressions: expressions.filter((one) => typeof one === 'string') }
  }
  const { time, value, tags } = data
  const timeMs = typeof time === 'string' ? parseTimeMs(time) : Number.NaN
  if (type !== 'Point' || typeof metric !== 'string' || typeof value !== 'number' || Number.isNaN(timeMs)) {
    return null
  }
  return { kind: 'point', point: { metric, timeMs, value, tags: toTags(tags) } }
}

/** RFC 3339 with nanoseconds. Date keeps the milliseconds, so the rest of the fraction is added. */
function parseTimeMs(time: string): number {
  const fraction = /\.\d{3}(\d+)/.exec(time)?.[1]
  return Date.parse(time) + (fraction === undefined ? 0 : Number(`0.${fraction}`))
}

function toTags(tags: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(tags)) return {}
  return Object.fromEntries(
    Object.entries(tags).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
