import { decodeHistogram, LatencyMeter } from '../../../../shared/load/latency-meter.ts'
import type { LoadErrorGroup } from '../../../../shared/load/load-report.ts'
import { TREND_METRICS } from '../../../../shared/load/metrics.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'
import type { Journal } from '../../journal/journal.ts'
import { type LoadState, LoadWriter } from '../../journal/load-record.ts'
import { updateRunRecord } from '../../journal/run-record.ts'
import { writeLatency } from '../../journal/seconds.ts'
import type { K6Latency, K6Result } from './k6-result.ts'
import { readK6Result } from './read-k6-result.ts'

/** Imports k6 results as a new run. Throws `BAD_SOURCE`. */
export async function importK6Result(journal: Journal, files: readonly string[]): Promise<void> {
  const result = await readK6Result(files)
  const startMs = result.startedAt === null ? Date.now() : Date.parse(result.startedAt)
  const measuredMs = Math.round((result.durationS ?? 0) * 1000)
  journal.transact('power', () => {
    const writer = new LoadWriter(journal)
    for (const second of result.seconds) writeSecond(writer, startMs, second)
    writer.writeState(toState(result, startMs, measuredMs))
    writeLatency(journal.db, toMeter(result))
    countRequests(journal, result)
    updateRunRecord(journal.db, {
      state: 'completed',
      started_at: startMs,
      ended_at: startMs + measuredMs,
      sending_ms: measuredMs,
    })
  })
}

function writeSecond(
  writer: LoadWriter,
  startMs: number,
  { second, requests, failed, dropped, histogram }: K6Result['seconds'][number],
): void {
  const latency = new LatencyMeter()
  if (histogram !== null) latency.add('http_req_duration', decodeHistogram(histogram))
  writer.writeSecond(
    {
      at: Math.floor(startMs / 1000) + second,
      succeeded: requests - failed,
      // Of single seconds no more is kept than that they did not succeed.
      rejected: failed,
      failed: 0,
      unknown: 0,
      eventLoopMaxUs: null,
      generatorLimited: false,
      latency,
    },
    { second, sent: requests, scheduled: null, dropped, inFlight: 0, gcUs: 0 },
  )
}

function toState(result: K6Result, startMs: number, measuredMs: number): LoadState {
  const requests = result.requests ?? 0
  const failed = result.failed ?? 0
  const unanswered = result.statuses.reduce((sum, one) => sum + (one.status === null ? one.requests : 0), 0)
  return {
    startMs,
    measuredMs,
    scheduled: null,
    sent: requests,
    dropped: result.dropped ?? 0,
    waited: 0,
    answered: requests - unanswered,
    within: {
      sent: requests,
      ended: requests,
      answered: requests - unanswered,
      succeeded: requests - failed,
    },
    maxInFlight: 0,
    fromCache: 0,
    retried: 0,
    statuses: result.statuses.map(({ status, errorCode, requests: n }) => ({
      status,
      errorCode,
      requests: n,
    })),
    errors: toErrors(result, Math.floor(measuredMs / 1000)),
    throttling: {
      answers: result.statuses.reduce((sum, one) => sum + (one.status === 429 ? one.requests : 0), 0),
      retryAfterAnswers: 0,
      askedS: 0,
    },
    connections: { opened: 0, reused: 0 },
    gc: { pauses: 0, maxUs: 0 },
    limitedSeconds: 0,
    limitedReasons: [],
    thresholds: result.thresholds,
    callbacks: null,
    percentiles: toWholePercentiles(result),
    partialPercentiles: toPartialPercentiles(result),
    notes: [
      `measured by k6${result.k6Version === null ? '' : ` ${result.k6Version}`}`,
      ...result.notes,
      ...listPartial(result),
    ],
  }
}

function toErrors({ statuses }: K6Result, lastSecond: number): LoadErrorGroup[] {
  return statuses
    .filter(({ status, errorCode }) => errorCode !== null || status === null || status >= 400)
    .map(({ status, errorCode, message, requests }) => ({
      // As our own requests are judged: a 5xx does not say whether the request was taken.
      outcome: status === null || status >= 500 ? ('unknown' as const) : ('rejected' as const),
      status,
      errorCode,
      message: message ?? (status === null ? 'there was no answer' : `answered ${status}`),
      requests,
      firstSecond: 0,
      lastSecond,
    }))
}

function toMeter({ latencies }: K6Result): LatencyMeter {
  const meter = new LatencyMeter()
  for (const series of TREND_METRICS) {
    const histogram = latencies[series]?.histogram ?? null
    if (histogram !== null) meter.add(series, decodeHistogram(histogram))
  }
  return meter
}

/** Of summaries, the latencies whose every percentile is told; they have no distribution. */
function toWholePercentiles({ latencies }: K6Result): NonNullable<LoadState['percentiles']> {
  const whole: NonNullable<LoadState['percentiles']> = {}
  for (const series of TREND_METRICS) {
    const latency = latencies[series]
    if (latency !== undefined && latency.histogram === null && isWhole(latency.percentiles)) {
      whole[series] = latency.percentiles
    }
  }
  return whole
}

function toPartialPercentiles({ latencies }: K6Result): NonNullable<LoadState['partialPercentiles']> {
  const partial: NonNullable<LoadState['partialPercentiles']> = {}
  for (const series of TREND_METRICS) {
    const latency = latencies[series]
    if (latency !== undefined && latency.histogram === null) partial[series] = latency.percentiles
  }
  return partial
}

const PERCENTILES = ['count', 'min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99_9', 'max'] as const

function isWhole(percentiles: K6Latency['percentiles']): percentiles is Percentiles {
  return PERCENTILES.every((name) => percentiles[name] !== undefined)
}

/** Latencies that a summary reports only in part. */
function listPartial({ latencies }: K6Result): string[] {
  return Object.entries(latencies).flatMap(([series, { histogram, percentiles }]) => {
    if (histogram !== null || isWhole(percentiles)) return []
    const figures = PERCENTILES.flatMap((name) => {
      const value = percentiles[name]
      return value === undefined || name === 'count' ? [] : [`${name} ${Math.round(value * 1000) / 1000} ms`]
    })
    return figures.length === 0 ? [] : [`${series}, as far as k6 tells: ${figures.join(', ')}`]
  })
}

function countRequests({ counters }: Journal, result: K6Result): void {
  const failed = result.failed ?? 0
  const errors = toErrors(result, 0)
  const isUnknown = ({ outcome }: LoadErrorGroup) => outcome === 'unknown'
  const unknown = Math.min(
    failed,
    errors.filter(isUnknown).reduce((sum, { requests }) => sum + requests, 0),
  )
  counters.add('request', 'succeeded', (result.requests ?? 0) - failed)
  counters.add('request', 'rejected', failed - unknown)
  counters.add('request', 'unknown', unknown)
  for (const { outcome, status, errorCode, message, requests } of errors) {
    counters.add('error', JSON.stringify([outcome, status, errorCode, message]), requests)
  }
}
