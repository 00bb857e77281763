import {
  createHistogram,
  encodeHistogram,
  recordUs,
  toPercentiles,
} from '../../../../../src/shared/load/latency-meter.ts'
import type { LoadReport, LoadSecond } from '../../../../../src/shared/load/load-report.ts'
import type { Percentiles } from '../../../../../src/shared/run/run.ts'
import { createDraw } from '../../../../helpers/seeded-draw.ts'

/** The events of an example load test. */
export interface Weather {
  seconds?: number
  /** Requests a second. */
  rate?: number
  /** Seconds in which the service stalled most of the time. */
  stalled?: readonly number[]
  /** Seconds in which the generator was the limit. */
  limited?: readonly number[]
  /** From this second on, one request in ten fails. */
  failingFrom?: number
}

const NONE: Percentiles = { count: 0, min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p99_9: 0, max: 0 }

/** A plausible load test: an open pace against a service of 20 ms with a tail. */
export function buildLoadReport(weather: Weather = {}, changes: Partial<LoadReport> = {}): LoadReport {
  const { seconds: length = 60, rate = 200, stalled = [], limited = [], failingFrom = Infinity } = weather
  const draw = createDraw(11)
  const total = createHistogram()
  const response = createHistogram()
  const lag = createHistogram()
  const seconds = Array.from({ length }, (_, second): LoadSecond => {
    const [own, ownResponse, ownLag] = [createHistogram(), createHistogram(), createHistogram()]
    for (let i = 0; i < rate; i += 1) {
      const us = Math.round(18_000 + 4_000 * draw() + (draw() < 0.02 ? 90_000 * draw() : 0))
      const stallUs = stalled.includes(second) ? Math.round(900_000 * (1 - i / rate)) : 0
      const lagUs = Math.round((limited.includes(second) ? 40_000 : 400) * draw() + 100)
      for (const histogram of [own, total]) recordUs(histogram, us + stallUs)
      for (const histogram of [ownResponse, response]) recordUs(histogram, us + stallUs + lagUs)
      for (const histogram of [ownLag, lag]) recordUs(histogram, lagUs)
    }
    const failed = second >= failingFrom ? Math.round(rate / 10) : 0
    return {
      second,
      scheduled: rate,
      counts: { sent: rate, succeeded: rate - failed, rejected: failed, failed: 0, unknown: 0 },
      dropped: 0,
      inFlight: stalled.includes(second) ? rate : 5,
      latencyMs: {
        http_req_duration: toPercentiles(own) ?? NONE,
        response_time: toPercentiles(ownResponse) ?? NONE,
        start_lag: toPercentiles(ownLag) ?? NONE,
      },
      eventLoopMaxMs: limited.includes(second) ? 62.5 : 3 + draw(),
      gcMs: 1.5,
      limited: limited.includes(second),
    }
  })
  const sent = rate * length
  const rejected = seconds.reduce((sum, { counts }) => sum + counts.rejected, 0)
  return {
    appVersion: '0.1.0',
    runId: '20261121-094329-347k3f9',
    name: 'posts.csv at 200 a second',
    state: 'completed',
    stopReason: null,
    createdAt: '2026-11-21T09:43:28.100Z',
    baseUrl: 'https://service.test/v',
    operation: 'task, sync, v1',
    source: 'posts.csv',
    startedAt: '2026-11-21T09:43:29.000Z',
    warmupMs: 5_000,
    durationMs: length * 1000,
    plan: [
      'open, 200 requests a second for 1 min',
      'at most 10,000 in flight, waiting when full',
      'HTTP/1.1',
    ],
    counts: { sent, succeeded: sent - rejected, rejected, failed: 0, unknown: 0 },
    retried: 0,
    rates: {
      scheduledPerS: rate,
      attemptedPerS: rate,
      answeredPerS: rate,
      succeededPerS: length === 0 ? 0 : (sent - rejected) / length,
    },
    answered: sent,
    fromCache: 0,
    throttling: { answers: 0, retryAfterAnswers: 0, askedS: 0 },
    connections: { opened: 12, reused: Math.max(0, sent - 12) },
    callbacks: null,
    thresholds: [],
    latencyMs: {
      http_req_duration: toPercentiles(total) ?? NONE,
      response_time: toPercentiles(response) ?? NONE,
      start_lag: toPercentiles(lag) ?? NONE,
    },
    histograms: { http_req_duration: encodeHistogram(total), response_time: encodeHistogram(response) },
    seconds,
    statuses: [
      { status: 200, errorCode: null, requests: sent - rejected },
      ...(rejected > 0 ? [{ status: 429, errorCode: 'RATE_LIMITED', requests: rejected }] : []),
    ],
    errors:
      rejected > 0
        ? [
            {
              outcome: 'rejected',
              status: 429,
              errorCode: 'RATE_LIMITED',
              message: 'too many requests, wait 1 second',
              requests: rejected,
              firstSecond: failingFrom,
              lastSecond: length - 1,
            },
          ]
        : [],
    groups: [],
    generator: {
      limited: limited.length > 0,
      limitedSeconds: limited.length,
      reasons:
        limited.length > 0 ? ['start_lag p99 was 39 ms, over 5 ms, without the cap being reached.'] : [],
      dropped: 0,
      waited: 0,
      startLagP99Ms: (toPercentiles(lag) ?? NONE).p99,
      eventLoopMaxMs: limited.length > 0 ? 62.5 : 4,
      gcPauses: 42,
      gcMaxMs: 2.25,
      achievedShare: 1,
      workers: 1,
    },
    comparison: null,
    ...changes,
  }
}

/** A load test that ended before anything was sent. */
export function buildEmptyLoadReport(): LoadReport {
  return buildLoadReport(
    { seconds: 0 },
    {
      state: 'stopped',
      stopReason: 'Nothing listens on service.test: check the base URL.',
      startedAt: null,
      latencyMs: {},
      histograms: {},
      statuses: [],
      rates: { scheduledPerS: 200, attemptedPerS: 0, answeredPerS: 0, succeededPerS: 0 },
      connections: { opened: 0, reused: 0 },
    },
  )
}

/** One second's latencies, compressed as in the journal. */
export function buildEncodedHistogram(valuesUs: readonly number[]): string {
  const histogram = createHistogram()
  for (const us of valuesUs) recordUs(histogram, us)
  return encodeHistogram(histogram)
}
