import { describe, expect, test } from 'vitest'
import {
  formatK6Script,
  toK6Options,
  toK6Scenarios,
} from '../../../../../src/main/engine/load/k6/k6-script.ts'
import { isReportingThreshold, toK6Thresholds } from '../../../../../src/main/engine/load/k6/k6-thresholds.ts'
import { type Load, type LoadInput, loadSchema } from '../../../../../src/shared/load/load.ts'
import { buildK6Plan } from './build-k6-plan.ts'

const scenarios = (load: LoadInput, timeoutMs = 5_000) => toK6Scenarios(loadSchema.parse(load), timeoutMs)

const common = { exec: 'submit', gracefulStop: '30s' }

describe('the scenarios of a k6 project', () => {
  test('hold a rate for a time, as a whole number per time unit', () => {
    const open = (ratePerSecond: number) =>
      scenarios({ pace: { kind: 'open', ratePerSecond }, durationMs: 90_000 })['main']
    expect(open(200)).toEqual({
      executor: 'constant-arrival-rate',
      rate: 200,
      timeUnit: '1s',
      duration: '1m30s',
      preAllocatedVUs: 60,
      maxVUs: 1_000,
      ...common,
    })
    expect(open(0.5)).toMatchObject({ rate: 1, timeUnit: '2s', preAllocatedVUs: 3, maxVUs: 3 })
    expect(open(33.333)).toMatchObject({ rate: 33_333, timeUnit: '1000s' })
    expect(open(2.5)).toMatchObject({ rate: 5, timeUnit: '2s' })
  })

  test('end an open pace with a request limit half-way to the next request', () => {
    expect(scenarios({ pace: { kind: 'open', ratePerSecond: 50 }, requests: 70 })['main']).toMatchObject({
      executor: 'constant-arrival-rate',
      duration: '1s390ms',
    })
  })

  test('send no request beyond the limit if k6 wakes up late and begins another', () => {
    const script = (load: LoadInput) => formatK6Script(buildK6Plan(load), [], '0.1.0')
    const limit = "if (exec.scenario.name === 'main' && index >= 70) return"
    expect(script({ pace: { kind: 'open', ratePerSecond: 50 }, requests: 70 })).toContain(limit)
    expect(script({ pace: { kind: 'open', ratePerSecond: 50 }, durationMs: 70 })).not.toContain(') return\n')
  })

  test('keep requests in flight for a time, or share a request limit', () => {
    const pace = { kind: 'closed', concurrency: 64 } as const
    expect(scenarios({ pace, durationMs: 60_000 })['main']).toEqual({
      executor: 'constant-vus',
      vus: 64,
      duration: '1m',
      ...common,
    })
    expect(scenarios({ pace, requests: 10, gracefulStopMs: 0 })['main']).toEqual({
      executor: 'shared-iterations',
      vus: 10,
      iterations: 10,
      maxDuration: '168h',
      exec: 'submit',
      gracefulStop: '0s',
    })
  })

  test('ramp rates, and jump without delay', () => {
    const stages = [
      { from: 10, to: 10, durationMs: 30_000 },
      { from: 20, to: 40.5, durationMs: 60_000 },
      { from: 40.5, to: 0, durationMs: 1_500 },
    ]
    expect(scenarios({ pace: { kind: 'stages', of: 'rate', stages }, maxInFlight: 7 })['main']).toEqual({
      executor: 'ramping-arrival-rate',
      startRate: 20,
      timeUnit: '2s',
      stages: [
        { target: 20, duration: '30s' },
        { target: 40, duration: '0s' },
        { target: 81, duration: '1m' },
        { target: 0, duration: '1s500ms' },
      ],
      preAllocatedVUs: 7,
      maxVUs: 7,
      ...common,
    })
  })

  test('ramp requests in flight', () => {
    const stages = [
      { from: 0, to: 8, durationMs: 10_000 },
      { from: 8, to: 8, durationMs: 10_000 },
    ]
    expect(scenarios({ pace: { kind: 'stages', of: 'concurrency', stages } })['main']).toEqual({
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { target: 8, duration: '10s' },
        { target: 8, duration: '10s' },
      ],
      gracefulRampDown: '30s',
      ...common,
    })
  })

  test("warm up first, at the load's first level", () => {
    const open = scenarios({ pace: { kind: 'open', ratePerSecond: 8 }, durationMs: 5_000, warmupMs: 10_000 })
    expect(open['warmup']).toEqual({
      executor: 'constant-arrival-rate',
      rate: 8,
      timeUnit: '1s',
      duration: '10s',
      preAllocatedVUs: 12,
      maxVUs: 40,
      ...common,
    })
    expect(open['main']).toMatchObject({ startTime: '10s' })
    const stages = [{ from: 0, to: 5, durationMs: 9_000 }]
    expect(
      scenarios({ pace: { kind: 'stages', of: 'concurrency', stages }, warmupMs: 500 })['warmup'],
    ).toMatchObject({ executor: 'constant-vus', vus: 5, duration: '1s' })
  })
})

describe('the thresholds of a k6 project', () => {
  const judge = (plan: Load) => toK6Thresholds(plan, '/api/v1/task/sync')
  const load = (thresholds: string[], parts: Partial<LoadInput> = {}) =>
    loadSchema.parse({ pace: { kind: 'open', ratePerSecond: 10 }, durationMs: 60_000, thresholds, ...parts })

  test('are those of the plan on the measured scenario', () => {
    const { thresholds, leftOut } = judge(
      load([
        'p(99)<500',
        'p(99.9) <= 1e3',
        'rate<0.01',
        'dropped==0',
        'http_req_waiting:med<50',
        'vus_max<9',
      ]),
    )
    expect(leftOut).toEqual([])
    expect(thresholds).toMatchObject({
      'http_req_duration{scenario:main}': ['max>=0', 'p(99)<500', 'p(99.9)<=1000'],
      'http_req_failed{scenario:main}': ['rate>=0', 'rate<0.01'],
      'not_succeeded{scenario:main}': ['rate>=0', 'rate<0.01'],
      'dropped_iterations{scenario:main}': ['count>=0', 'count==0'],
      'http_req_waiting{scenario:main}': ['max>=0', 'med<50'],
      vus_max: ['value<9'],
    })
  })

  test("abort after the warm-up too, since k6's clock starts with it", () => {
    const thresholds = ['p(99)<500 abortOnFail delayAbortEval=10s', 'rate<0.1 abortOnFail']
    expect(judge(load(thresholds, { warmupMs: 5_000 })).thresholds).toMatchObject({
      'http_req_duration{scenario:main}': [
        'max>=0',
        { threshold: 'p(99)<500', abortOnFail: true, delayAbortEval: '15s' },
      ],
      'http_req_failed{scenario:main}': [
        'rate>=0',
        { threshold: 'rate<0.1', abortOnFail: true, delayAbortEval: '5s' },
      ],
    })
    expect(judge(load(['rate<0.1 abortOnFail'])).thresholds).toMatchObject({
      'http_req_failed{scenario:main}': ['rate>=0', { threshold: 'rate<0.1', abortOnFail: true }],
    })
  })

  test('become counts if k6 would divide by more than the measured time', () => {
    const only = (thresholds: string[], parts?: Partial<LoadInput>) =>
      judge(load(thresholds, parts)).thresholds['http_reqs{scenario:main}']?.[1]
    expect(only(['http_reqs:rate>9.5'])).toBe('count>570')
    expect(only(['http_reqs:rate>9.5 abortOnFail'])).toMatchObject({ threshold: 'rate>9.5' })
    expect(
      only(['http_reqs:rate>9.5'], {
        pace: { kind: 'closed', concurrency: 1 },
        durationMs: undefined,
        requests: 5,
      }),
    ).toBe('rate>9.5')
  })

  test('omit metrics that k6 does not have', () => {
    const expressions = ['response_time:p(99)<5', 'start_lag:max<5', 'callback_latency:avg<5']
    expect(judge(load(expressions)).leftOut).toEqual(expressions)
  })

  test("omit tags that a metric's samples lack in k6, with which it would always or never hold", () => {
    const expressions = [
      'iteration_duration{method:POST}:p(95)<500',
      'data_received{status:200}:count<1000',
      'iterations{status:503}:count<1',
      'checks{status:200}:rate>0.99',
      'http_reqs{error_code:4001}:count<1',
    ]
    expect(judge(load(expressions)).leftOut).toEqual(expressions)
    expect(judge(load(['http_reqs{error_code:1050,status:0}:count<1'])).leftOut).toEqual([])
  })

  test('use the name that the script gives its requests, even below a base path', () => {
    const url = 'https://service.test/v/api/v1/task/sync?legacy=1'
    const path = '/api/v1/task/sync?legacy=1'
    const plan = buildK6Plan(
      {
        pace: { kind: 'closed', concurrency: 1 },
        durationMs: 1_000,
        thresholds: [`http_reqs{url:${url}}:count>1`, `http_reqs{name:${path},url:${url}}:count>2`],
      },
      { operation: { kind: 'task', legacy: true } },
    )
    const [, named] = /tags: \{ name: "([^"]+)"/.exec(formatK6Script(plan, [], '0.1.0')) ?? []
    expect(named).toBe(path)
    expect(toK6Options(plan)['thresholds']).toMatchObject({
      [`http_reqs{scenario:main,name:${named}}`]: ['count>1', 'count>2'],
    })
  })

  test('include an always true threshold on each metric that the summary shows', () => {
    const { thresholds } = judge(load([]))
    expect(
      Object.values(thresholds)
        .flat()
        .every((one) => isReportingThreshold(String(one))),
    ).toBe(true)
    expect(isReportingThreshold('p(99)<500')).toBe(false)
    expect(
      toK6Options(buildK6Plan({ pace: { kind: 'closed', concurrency: 1 }, durationMs: 1_000 })),
    ).toMatchObject({
      summaryTrendStats: expect.arrayContaining(['p(99)', 'p(99.9)', 'count']),
      thresholds,
    })
  })
})
