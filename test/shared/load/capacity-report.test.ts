import { describe, expect, it } from 'vitest'
import { planCapacity, toCapacityThresholds } from '../../../src/shared/load/capacity-plan.ts'
import { type CapacityProbe, judgeProbe, toCapacityReport } from '../../../src/shared/load/capacity-report.ts'
import { toCapacityView } from '../../../src/shared/load/capacity-view.ts'
import { loadSchema } from '../../../src/shared/load/load.ts'
import { createProbeSummary, type ProbeParts } from './probe-summary.ts'

const judge = (parts: ProbeParts) => judgeProbe(100, createProbeSummary(parts))

describe('a probe of a capacity', () => {
  it('holds where all thresholds hold, and fails where one does not', () => {
    expect(judge({})).toMatchObject({ verdict: 'held', reasons: [], failed_share: 0.1 })
    expect(judge({ failed: ['ms'] })).toMatchObject({
      verdict: 'failed',
      reasons: [expect.stringContaining('p(99)')],
    })
  })

  it('is void where the generator was limited and a latency failed, or the schedule was not sent', () => {
    const late = judge({ generator: { limited: true }, failed: ['ms'] })
    expect(late.verdict).toBe('void')
    expect(late.reasons[0]).toBe('It stalled.')
    expect(judge({ generator: { limited: true }, attempted: 90 }).verdict).toBe('void')
  })

  it('counts in spite of a limited generator where that cannot have decided it', () => {
    expect(judge({ generator: { limited: true } }).verdict).toBe('held')
    expect(judge({ generator: { limited: true }, failed: ['share'] }).verdict).toBe('failed')
  })

  it('fails where a latency misses its limit by more than a stall can explain, and is void by less', () => {
    const stalled = (latencyMs: number, generator: ProbeParts['generator'] = {}) => {
      const limited = { limited: true, event_loop_max_ms: 65, own_start_lag_max_ms: 5, ...generator }
      return judge({ latencyMs, failed: ['ms'], generator: limited })
    }
    expect(stalled(7_606).verdict).toBe('failed')
    expect(stalled(690).verdict).toBe('void')
    expect(stalled(7_606, { own_start_lag_max_ms: 3_000 }).verdict).toBe('void')
    // That other requests waited for the service takes nothing away from this machine's own lag.
    expect(stalled(7_606, { own_start_lag_max_ms: 3_000, waited: 1 }).verdict).toBe('void')
    expect(stalled(7_606, { own_start_lag_max_ms: 0, waited: 10 }).verdict).toBe('failed')
  })

  it('fails where a percentile misses its limit also without delays of this machine', () => {
    const delayed = (latencyMs: number, p95: number) => {
      const without = { response_time: { p95 } as never }
      const stalls = { limited: true, event_loop_max_ms: 900, own_start_lag_max_ms: 900 }
      const generator = { ...stalls, without_own_delays_ms: without }
      return judge({ latencyMs, failed: ['ms'], expression: 'response_time:p(95)<500', generator }).verdict
    }
    expect(delayed(1_197, 990)).toBe('failed')
    expect(delayed(697, 490)).toBe('void')
    // What was sent late is sent together, and waits for each other in the service.
    expect(delayed(800, 600)).toBe('void')
  })

  it('is void where only the slowest requests may have met a stall, which the whole does not show', () => {
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

  it('is void by any latency where an earlier version did not note how late this machine sent', () => {
    const { generator, ...parts } = { generator: { limited: true, event_loop_max_ms: 65 }, latencyMs: 7_606 }
    expect(judge({ ...parts, failed: ['ms'], generator }).verdict).toBe('void')
  })

  it('fails where requests in flight kept back the schedule', () => {
    const behind = judge({ generator: { limited: true, waited: 50 }, attempted: 90 })
    expect(behind.verdict).toBe('failed')
    expect(behind.reasons).toEqual([
      'Only 90.0 % of the schedule was sent: too many requests were in flight.',
    ])
    expect(judge({ generator: { dropped: 50 }, attempted: 90 }).verdict).toBe('failed')
    expect(judge({ generator: { waited: 50 }, attempted: 99 }).verdict).toBe('held')
  })
})

describe('the interval of a capacity', () => {
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
  const report = (probes: CapacityProbe[], pace: object = { kind: 'open', ratePerSecond: 80 }) => {
    const load = loadSchema.parse({ pace, durationMs: 1000, thresholds: ['p(99)<500'] })
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
