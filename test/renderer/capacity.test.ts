import { expect, it } from 'vitest'
import { toMarkedPoint } from '../../src/renderer/features/capacity/capacity-screen.tsx'
import { listLatencyLimits } from '../../src/shared/load/threshold-parser.ts'

it.each([
  [['response_time:p(95)<200', 'http_req_failed:rate<0.01'], 'p95'],
  [['response_time:med<80'], 'p50'],
  [['response_time:p(99.9)<900', 'response_time:p(95)<200'], 'p95'],
  [['response_time:max<900'], 'p99'],
  [['http_req_failed:rate<0.01'], 'p99'],
])('marks whether a level held at the percentile that its thresholds %j limit: %s', (thresholds, point) => {
  expect(toMarkedPoint(listLatencyLimits(thresholds))).toBe(point)
})
