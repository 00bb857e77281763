import { expect, it } from 'vitest'
import { toLoadOverview } from '../../../src/main/bridge/results-handlers.ts'
import { LOAD_SECONDS_MAX } from '../../../src/shared/bridge/results.ts'
import type { TrendMetric } from '../../../src/shared/load/metrics.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { buildEmptyLoadReport, buildLoadReport } from '../engine/load/report/build-load-report.ts'

it('shows every second of a short test, and its distribution as bars', () => {
  const report = buildLoadReport({ seconds: 30, limited: [7] })
  const { seconds, measuredSeconds, bars } = toLoadOverview(report)
  expect(seconds.map(({ second }) => second)).toEqual(report.seconds.map(({ second }) => second))
  expect(seconds.filter(({ limited }) => limited).map(({ second }) => second)).toEqual([7])
  expect(measuredSeconds).toBe(30)
  for (const metric of ['http_req_duration', 'response_time'] as const) {
    const drawn = bars[metric]?.reduce((sum, { count }) => sum + count, 0)
    expect(drawn).toBe(report.latencyMs[metric]?.count)
  }
  expect(seconds[0]?.counts).toEqual(report.seconds[0]?.counts)
})

it('thins out a long test without hiding its worst second or one that was limited', () => {
  onlyInLongForm()
  const report = buildLoadReport({ seconds: LOAD_SECONDS_MAX + 1, rate: 4, stalled: [123], limited: [1_001] })
  const { seconds, measuredSeconds } = toLoadOverview(report)
  expect(seconds.length).toBeLessThanOrEqual(LOAD_SECONDS_MAX)
  expect(measuredSeconds).toBe(LOAD_SECONDS_MAX + 1)
  expect(seconds.map(({ second }) => second)).toContain(123)
  expect(seconds.filter(({ limited }) => limited)).toHaveLength(1)
})

it('shows a test that measured nothing', () => {
  expect(toLoadOverview(buildEmptyLoadReport())).toMatchObject({ seconds: [], bars: {}, measuredSeconds: 0 })
})

it('shows the latencies by second of the requested metrics only', () => {
  const listMetrics = (metrics?: TrendMetric[]) =>
    Object.keys(toLoadOverview(buildLoadReport({ seconds: 2 }), metrics).seconds[0]?.latencyMs ?? {})
  expect(listMetrics()).toEqual(['http_req_duration', 'response_time'])
  expect(listMetrics(['start_lag'])).toEqual(['start_lag'])
})
