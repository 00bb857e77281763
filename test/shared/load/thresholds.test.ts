import { describe, expect, test } from 'vitest'
import { createHistogram, recordUs } from '../../../src/shared/load/latency-meter.ts'
import { createRequestSums, type LoadMeasurements } from '../../../src/shared/load/metrics.ts'
import {
  evaluateThresholds,
  findAbort,
  formatThreshold,
  formatThresholdResult,
  type Threshold,
  thresholdSchema,
} from '../../../src/shared/load/thresholds.ts'

/** 1 ms to 1,000 ms, evenly. */
const createEvenMs = () => {
  const histogram = createHistogram()
  for (let ms = 1; ms <= 1000; ms += 1) recordUs(histogram, ms * 1000)
  return histogram
}

const picture: LoadMeasurements = {
  durationS: 10,
  latencies: { http_req_duration: createEvenMs(), start_lag: createHistogram() },
  all: { requests: 1000, failed: 12, iterations: 980, sentBytes: 50_000, receivedBytes: 200_000 },
  // A tenth of them come after the measured time.
  within: { requests: 900, failed: 10, iterations: 890, sentBytes: 45_000, receivedBytes: 180_000 },
  dropped: 3,
  inFlight: 7,
  maxInFlight: 64,
}

const evaluate = (...expressions: string[]) =>
  evaluateThresholds(
    expressions.map((one) => thresholdSchema.parse(one)),
    picture,
  )

const readValueOf = (expression: string) => evaluate(expression)[0]?.value

describe('the value of a threshold', () => {
  test.each([
    ['avg<1', 500.5],
    ['min<1', 1],
    ['med<1', 500],
    ['max<1', 1000],
    ['p(90)<1', 900],
    ['p(99.9)<1', 999],
    ['p(0)<1', 1],
    ['p(100)<1', 1000],
  ])('of `%s` comes from the latencies, in milliseconds', (expression, ms) => {
    const value = readValueOf(expression) ?? Number.NaN
    expect(Math.abs(value / ms - 1)).toBeLessThan(0.002)
  })

  test.each([
    ['rate<1', 0.012],
    ['http_req_failed:rate<1', 0.012],
    ['http_reqs:count<1', 1000],
    ['http_reqs:rate<1', 90],
    ['dropped<1', 3],
    ['dropped:rate<1', 0.3],
    ['checks<1', 0.988],
    ['iterations<1', 980],
    ['iterations:rate<1', 89],
    ['data_sent:count<1', 50_000],
    ['data_received:rate<1', 18_000],
    ['vus<1', 7],
    ['vus_max<1', 64],
  ])('of `%s` comes from the counters', (expression, value) => {
    expect(readValueOf(expression)).toBe(value)
  })
})

describe('a threshold', () => {
  test.each([
    ['http_reqs:count<1001', true, 1],
    ['http_reqs:count<1000', false, 0],
    ['http_reqs:count<=1000', true, 0],
    ['http_reqs:count<=990', false, -10],
    ['http_reqs:count>999', true, 1],
    ['http_reqs:count>1000', false, 0],
    ['http_reqs:count>=1000', true, 0],
    ['http_reqs:count>=1010', false, -10],
    ['http_reqs:count==1000', true, 0],
    ['http_reqs:count===1001', false, -1],
    ['http_reqs:count!=1001', true, 1],
    ['http_reqs:count!=1000', false, 0],
  ])('`%s` is judged %s, by %d', (expression, ok, margin) => {
    expect(evaluate(expression)).toMatchObject([{ expression, ok, margin }])
  })

  test('does not hold if nothing was measured', () => {
    expect(evaluate('callback_latency:p(95)<5', 'start_lag:max<5')).toMatchObject([
      { value: null, ok: false, margin: null },
      { value: null, ok: false, margin: null },
    ])
    const none = createRequestSums()
    const nothing = { ...picture, all: none, within: none, durationS: 0, latencies: {} }
    const thresholds = ['rate<0.1', 'http_reqs:rate>0', 'dropped==3'].map((one) => thresholdSchema.parse(one))
    expect(evaluateThresholds(thresholds, nothing).map(({ ok }) => ok)).toEqual([false, false, true])
  })

  test('reports its value and by how much it holds or is crossed', () => {
    const lines = evaluate(
      'p(99)<500',
      'p(50)<550',
      'rate<0.01',
      'dropped==0',
      'start_lag:max<5',
      'dropped==3',
      'p(99)<0.001',
      'http_req_failed:rate<0.00001',
    ).map(formatThresholdResult)
    expect(lines).toEqual([
      '✗ p(99)<500: 990 ms, 490 ms over the limit of 500 ms',
      '✓ p(50)<550: 500 ms, 49.8 ms under the limit of 550 ms',
      '✗ rate<0.01: 1.20 %, 0.20 points over the limit of 1 %',
      '✗ dropped==0: 3, 3 over the limit of 0',
      '✗ start_lag:max<5: nothing measured, nothing shows that it holds',
      '✓ dropped==3: 3, exactly',
      '✗ p(99)<0.001: 990 ms, 990 ms over the limit of 0.001 ms',
      '✗ http_req_failed:rate<0.00001: 1.20 %, 1.20 points over the limit of 0.001 %',
    ])
  })
})

describe('a threshold that aborts', () => {
  const thresholds: Threshold[] = [
    'p(99)<500',
    'rate<0.01 abortOnFail delayAbortEval=10s',
    'start_lag:max<5 abortOnFail',
  ].map((one) => thresholdSchema.parse(one))
  const results = evaluateThresholds(thresholds, picture)

  test('does so once its delay is over', () => {
    expect(findAbort(thresholds, results, 9_999)).toBeNull()
    expect(findAbort(thresholds, results, 10_001)?.expression).toBe('rate<0.01')
  })

  test('waits until something was measured', () => {
    expect(findAbort(thresholds.slice(2), results.slice(2), 60_000)).toBeNull()
  })

  test('does not exist if thresholds only judge', () => {
    expect(findAbort(thresholds.slice(0, 1), results.slice(0, 1), 60_000)).toBeNull()
  })
})

describe('a threshold that was judged', () => {
  test('has a margin without decimals from floating-point error', () => {
    const [share] = evaluate('http_req_failed:rate<0.4')
    expect(share).toMatchObject({ value: 0.012, margin: 0.388 })
    // The margin is rounded after the verdict.
    expect(evaluate('http_req_failed:rate<0.0120000000000001')[0]).toMatchObject({ ok: true, margin: 0 })
    expect(evaluate('http_req_failed:rate<0.0119999999999999')[0]).toMatchObject({ ok: false })
  })
})

describe('a threshold in a plan', () => {
  test('is text or an object, and is unchanged after storing', () => {
    const fromText = thresholdSchema.parse('p(99)<500, abortOnFail, delayAbortEval=10s')
    expect(fromText).toEqual({ expression: 'p(99)<500', abortOnFail: true, delayAbortEvalMs: 10_000 })
    expect(thresholdSchema.parse(fromText)).toEqual(fromText)
    expect(thresholdSchema.parse({ expression: 'dropped==0' })).toEqual({
      expression: 'dropped==0',
      abortOnFail: false,
      delayAbortEvalMs: 0,
    })
  })

  test('is written as the text it can be read from', () => {
    for (const text of ['p(99)<500', 'rate<0.1 abortOnFail', 'rate<0.1 abortOnFail delayAbortEval=1m30s']) {
      expect(formatThreshold(thresholdSchema.parse(text))).toBe(text)
    }
  })

  test.each([
    ['p(99)<500ms', 'character 10'],
    [{ expression: 'p(99)<5 abortOnFail' }, 'expected no options'],
    [{ expression: 5 }, 'expected a text such as'],
    [7, 'expected a text such as'],
  ])('that is wrong says why: %j', (input, message) => {
    const { success, error } = thresholdSchema.safeParse(input)
    expect(success).toBe(false)
    expect(error?.issues[0]?.message).toContain(message)
  })
})
