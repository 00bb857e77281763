import { describe, expect, it } from 'vitest'
import { planCapacity, toCapacityThresholds } from '../../../src/shared/load/capacity-plan.ts'
import { type CapacityProbe, judgeProbe, toCapacityReport } from '../../../src/shared/load/capacity-report.ts'
import { toCapacityView } from '../../../src/shared/load/capacity-view.ts'
import { loadSchema } from '../../../src/shared/load/load.ts'
import { createProbeSummary, type ProbeParts } from './probe-summary.ts'

const judge = (parts: ProbeParts) => judgeProbe(100, createProbeSummary(parts))

describe('a probe of a capacity', () => {
  it('holds if all thresholds hold, and fails if one does not', () => {
    expect(judge({})).toMatchObject({ verdict: 'held', reasons: [], failed_share: 0.1 })
    expect(judge({ failed: ['ms'] })).toMatchObject({
      verdict: 'failed',
      reasons: [expect.stringContaining('p(99)')],
    })
  })

  it('is void if the generator was limited and a latency failed, or the schedule was not sent', () => {
    const late = judge({ generator: { limited: true }, failed: ['ms'] })
    expect(late.verdict).toBe('void')
    expect(late.reasons[0]).toBe('It stalled.')
    expect(judge({ generator: { limited: true }, attempted: 90 }).verdict).toBe('void')
  })

  it('counts despite a limited generator if that cannot have decided it', () => {
    expect(judge({ generator: { limited: true } }).verdict).toBe('held')
    expect(judge({ generator: { limited: true }, failed: ['share'] }).verdict).toBe('failed')
  })

  it('is void if only failures that bursts of this machine may explain cross a threshold', () => {
    const refused = (mayBeOwn: number, attempted = 1_000) =>
      judge({ requests: attempted, failed: ['share'], generator: { may_be_own_failures: mayBeOwn } })
    expect(refused(95)).toMatchObject({ verdict: 'void' })
    expect(refused(95).reasons).toContain(
      '95 of 100 failed requests may be due to bursts that this machine sent after stalls.',
    )
    // What remains is not less than 1 % of the requests.
    expect(refused(90).verdict).toBe('failed')
    expect(refused(0).verdict).toBe('failed')
    const generator = { event_loop_max_ms: 65, own_start_lag_max_ms: 5, may_be_own_failures: 10 }
    expect(judge({ failed: ['ms', 'share'], latencyMs: 7_606, generator }).verdict).toBe('failed')
  })

  it('fails if a latency misses its limit by more than a stall can explain, and is void by less', () => {
    const stalled = (latencyMs: number, generator: ProbeParts['generator'] = {}) => {
      const limited = { limited: true, event_loop_max_ms: 65, own_start_lag_max_ms: 5, ...generator }
      return judge({ latencyMs, failed: ['ms'], generator: limited })
    }
    expect(stalled(7_606).verdict).toBe('failed')
    expect(stalled(690).verdict).toBe('void')
    expect(stalled(7_606, { own_start_lag_max_ms: 3_000 }).verdict).toBe('void')
    // Requests that waited for the service do not reduce this machine's own lag.
    expect(stalled(7_606, { own_start_lag_max_ms: 3_000, waited: 1 }).verdict).toBe('void')
    expect(stalled(7_606, { own_start_lag_max_ms: 0, waited: 10 }).verdict).toBe('failed')
  })

  it("fails if a percentile misses its limit even without this machine's delays", () => {
    const delayed = (latencyMs: number, p95: number) => {
      const without = { response_time: { p95 } as never }
      const stalls = { limited: true, event_loop_max_ms: 900, own_start_lag_max_ms: 900 }
      const generator = { ...stalls, without_own_delays_ms: without }
      return judge({ latencyMs, failed: ['ms'], expression: 'response_time:p(95)<500', generator }).verdict
    }
    expect(delayed(1_197, 990)).toBe('failed')
    expect(delayed(697, 490)).toBe('void')
    // Requests that are sent late are sent together, and wait for each other in the service.
    expect(delayed(800, 600)).toBe('void')
  })

  it('is void if only the slowest requests may have met a stall, which the total does not show', () => {
    const judgeSlowest = (expression: string, requests = 100) => {
      const generator = { limited: false, event_loop_max_ms: 65, own_start_lag_max_ms: 5 }
      return judge({ latencyMs: 560, failed: ['ms'], expression, generator, requests }).verdict
    }
    expect(judgeSlowest('response_time:max<500')).toBe('void')
    expect(judgeSlowest('http_req_duration:p(99.9)<500')).toBe('void')
    expect(judgeSlowest('response_time:p(99)<500')).toBe('failed')
    expect(judgeSlowest('response_time:p(95)<500', 40)).toBe('void')
    expect(judgeSlowest('response_time:p(90)<500', 40)).toBe('failed')
  })

  it('is void by any latency if an earlier version did not record how late this machine sent', () => {
    const { generator, ...parts } = { generator: { limited: true, event_loop_max_ms: 65 }, latencyMs: 7_606 }
    expect(judge({ ...parts, failed: ['ms'], generator }).verdict).toBe('void')
  })

  it('fails if the limit in flight delayed the schedule', () => {
    const behind = judge({ generator: { limited: true, waited: 50 }, attempted: 90 })
    expect(behind.verdict).toBe('failed')
    expect(behind.reasons).toEqual([
      'Only 90.0 % of the schedule was sent: too many requests were in flight.',
    ])
    expect(judge({ generator: { dropped: 50 }, attempted: 90 }).verdict).toBe('failed')
    expect(judge({ generator: { waited: 50 }, attempted: 99 }).verdict).toBe('held')
  })
})

/** Probes of a service that answers 94.3 a second; what is asked in a few seconds beyond that only queues. */
const probe = (level: number, answered: number, parts: Partial<CapacityProbe> = {}): CapacityProbe => ({
  run_id: 'r',
  level,
  verdict: level > 95 ? 'failed' : 'held',
  reasons: [],
  thresholds: [],
  succeeded_per_s: answered,
  answered_per_s: answered,
  failed_share: 0,
  latency_ms: null,
  ...parts,
})
const report = (
  probes: CapacityProbe[],
  pace: object = { kind: 'open', ratePerSecond: 80 },
  durationMs = 1_000,
) => {
  const load = loadSchema.parse({ pace, durationMs, thresholds: ['p(99)<500'] })
  const planned = planCapacity(load, { maxProbes: 25, maxTimeMs: 3_600_000, coolDownMs: 0 })
  if (!planned.ok) throw new Error(planned.mistake)
  return toCapacityReport(
    { name: 'n', connection: { baseUrl: 'http://localhost' } as never, load },
    planned.plan,
    {
      end: 'found',
      error: null,
      elapsedMs: 1,
      probes,
    },
  )
}

describe('the interval of a capacity', () => {
  it('begins at what the service answered where more was asked, if that is less than what held', () => {
    const found = report([probe(95, 94.6), probe(97.5, 94.3), probe(97.5, 94.9), probe(160, 60)])
    expect(found.interval).toEqual({ low: 94.3, high: 97.5 })
    expect(toCapacityView(found, 'terminal').interval).toBe(
      'All probes up to 95/s held. All probes from 97.5/s on failed. Where more was asked, the service answered 94.3/s at least.',
    )
  })

  it('begins at the highest level that held where the service answered that much, failed or says nothing', () => {
    const lowOf = (...probes: CapacityProbe[]) => report([probe(95, 95), ...probes]).interval.low
    expect(lowOf(probe(97.5, 96.2))).toBe(95)
    expect(lowOf(probe(97.5, 40, { failed_share: 0.5 }))).toBe(95)
    expect(lowOf(probe(97.5, 40, { verdict: 'void' }))).toBe(95)
    expect(lowOf(probe(97.5, 40, { answered_per_s: undefined }))).toBe(95)
    const inFlight = [probe(2, 90), probe(96, 40)]
    expect(report(inFlight, { kind: 'closed', concurrency: 2 }).interval.low).toBe(2)
  })
})

describe('before anybody acts on a capacity it is said', () => {
  const crossed = (expression: string, value: number): CapacityProbe['thresholds'][number] => {
    const [unit, limit] = expression.includes('rate') ? (['share', 0.01] as const) : (['ms', 300] as const)
    return { expression, value, limit, margin: limit - value, unit, ok: value < limit }
  }
  const of = (level: number, verdict: CapacityProbe['verdict'], ...thresholds: CapacityProbe['thresholds']) =>
    probe(level, level, { verdict, thresholds })
  const failing = (level: number, share: number) =>
    of(level, 'failed', crossed('http_req_failed:rate<0.01', share))
  const slow = (level: number, ms: number) => of(level, 'failed', crossed('response_time:p(95)<300', ms))

  it('that what failed was no worse at a much higher level, so that the load may not decide it', () => {
    const [caveat, ...others] = report([
      failing(20, 0.1),
      failing(10, 0.12),
      of(0.8, 'held'),
      failing(0.86, 0.2),
    ]).caveats
    expect(caveat).toMatch(
      /^What failed at 0\.86\/s was no worse at 20\/s: something other than the load may decide it/,
    )
    expect(others).toEqual([])
    expect(report([slow(20, 741), slow(10, 767), of(5, 'held'), slow(7.5, 851)]).caveats).toHaveLength(1)
  })

  it.each([
    ['got worse with the load', [slow(200, 5_763), of(50, 'held'), slow(95, 518)]],
    ['failed near to each other alone', [slow(97, 700), of(95, 'held'), slow(96, 750)]],
    ['was not answered in time', [probe(200, 94, { thresholds: slow(200, 400).thresholds }), slow(95, 400)]],
    ['failed otherwise at the higher one', [failing(200, 0.5), of(50, 'held'), slow(95, 400)]],
  ])('not of what %s', (_, probes) => {
    expect(report(probes).caveats).toEqual([])
  })

  it('that the service answered less than was asked, so that a queue grew', () => {
    const latency = (p50: number) => ({ latency_ms: { p50, count: 500 } as CapacityProbe['latency_ms'] })
    const asked = (answered: number, p50: number) =>
      report([probe(104, answered, { verdict: 'held', ...latency(p50) })], undefined, 5_000).caveats
    expect(asked(99, 130)).toEqual([
      'At 104/s the service answered 99/s: a queue grew, which a longer probe would not hold.',
    ])
    expect(asked(103, 130)).toEqual([])
    // Without a warm-up, as many are in flight at the end as the latency explains.
    expect(asked(99, 240)).toEqual([])
  })

  it('that probes had too few requests for a threshold', () => {
    const held = { ...crossed('http_req_failed:rate<0.01', 0), ok: true }
    const few = (count: number) =>
      report([
        probe(0.8, 0.8, { thresholds: [held], latency_ms: { count, p50: 9 } as CapacityProbe['latency_ms'] }),
      ])
    expect(few(4).caveats).toEqual([
      'Probes at 0.8/s had 4 requests each, too few for http_req_failed:rate<0.01: measure longer.',
    ])
    expect(few(100).caveats).toEqual([])
  })

  it('that a service has answered nothing any more', () => {
    const found = report([probe(4, 0, { verdict: 'held', answered_per_s: 4 }), probe(98, 0), probe(97, 0)])
    expect(found.caveats[0]).toMatch(/^The service answered nothing in the last 2 probes/)
  })
})

describe('the thresholds of a capacity', () => {
  const toThresholds = (pace: object, ...thresholds: string[]) =>
    toCapacityThresholds(loadSchema.parse({ pace, durationMs: 1000, thresholds })).map(
      ({ expression }) => expression,
    )
  const open = { kind: 'open', ratePerSecond: 10 }

  it('count latencies from the schedule where there is one and no metric is named', () => {
    expect(toThresholds(open, 'p(99)<500', 'max<900', 'http_req_duration:med<5', 'rate<0.2')).toEqual([
      'response_time:p(99)<500',
      'response_time:max<900',
      'http_req_duration:med<5',
      'rate<0.2',
    ])
    expect(toThresholds({ kind: 'closed', concurrency: 2 }, 'p(99)<500', 'rate<0.2')[0]).toBe('p(99)<500')
  })

  it('let less than 1 % of requests fail where none speaks of them', () => {
    expect(toThresholds(open, 'p(99)<500')[1]).toBe('http_req_failed:rate<0.01')
    expect(toThresholds(open, 'http_req_failed:rate<0.5')).toEqual(['http_req_failed:rate<0.5'])
  })
})
