import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { toExitCode } from '../../../../src/main/cli/session/settle-run.ts'
import { formatLoadSummary } from '../../../../src/main/cli/summary/load-summary-text.ts'
import { formatLoadNextSteps } from '../../../../src/main/cli/summary/next-steps.ts'
import type { LoadReport } from '../../../../src/shared/load/load-report.ts'
import type { ThresholdResult } from '../../../../src/shared/load/thresholds.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import { buildLoadReport } from '../../engine/load/report/build-load-report.ts'
import { createPlainTerminal } from '../plain-terminal.ts'

const HELD: ThresholdResult = {
  expression: 'p(99)<500',
  value: 388,
  limit: 500,
  unit: 'ms',
  ok: true,
  margin: 112,
}
const CROSSED: ThresholdResult = { ...HELD, value: 612, ok: false, margin: -112 }

/** The summary that goes with a report. */
function toSummary(report: LoadReport, changes: Partial<RunSummary> = {}): RunSummary {
  const { counts, rates, generator } = report
  return {
    run_id: report.runId,
    name: report.name,
    operation: 'task',
    mode: 'sync',
    api: 'v1',
    state: report.state,
    stop_reason: report.stopReason,
    stop_advice: null,
    source: report.source,
    base_url: report.baseUrl,
    created_at: '2026-11-21T09:43:20.000Z',
    started_at: report.startedAt,
    ended_at: null,
    parent_run_id: null,
    whole_run: null,
    retries: [],
    sessions: [],
    to_repeat: { rows: 0 },
    rows: {
      read: 50,
      invalid: 0,
      succeeded: 45,
      rejected: 5,
      failed: 0,
      unknown: 0,
      overdue: 0,
      awaiting: 0,
      not_sent: 0,
    },
    requests: { ...counts, retried: 0 },
    throughput: {
      duration_s: report.durationMs / 1000,
      attempted_per_s: rates.attemptedPerS,
      succeeded_per_s: rates.succeededPerS,
    },
    latency_ms: report.latencyMs,
    triggered_rules: [],
    errors: [],
    warnings: [],
    retry_after: { answers: 0, waited_s: 0 },
    from_cache: { rows: 0 },
    result_lost: { rows: 0 },
    thresholds: report.thresholds,
    generator: {
      limited: generator.limited,
      dropped: generator.dropped,
      waited: generator.waited,
      start_lag_p99_ms: generator.startLagP99Ms,
      event_loop_max_ms: generator.eventLoopMaxMs,
    },
    ...changes,
  }
}

function show(report: LoadReport, columns = 110): string {
  return formatLoadSummary(createPlainTerminal(columns), toSummary(report), report)
}

describe('the summary of a load test', () => {
  it('begins with the run if the generator kept up, and then has thresholds before any other number', () => {
    const text = show(buildLoadReport({}, { thresholds: [HELD, CROSSED] }))
    expect(text).toMatch(/^posts\.csv at 200 a second · threshold failed · 1 min measured\n/)
    const parts = ['Thresholds', 'Requests', 'Latency in ms', 'Statuses', 'Connections', 'Generator']
    const at = parts.map((part) => text.indexOf(`\n${part}`))
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(at.every((index) => index > 0)).toBe(true)
    expect(text).toContain('✓ p(99)<500  388 ms  112 ms under the limit of 500 ms')
    expect(text).toContain('✗ p(99)<500  612 ms  112 ms over the limit of 500 ms')
    expect(text).toMatch(/Generator +kept up: schedule sent 100 %/)
  })

  it('begins with the generator, before any number, if that was the limit', () => {
    const text = show(buildLoadReport({ seconds: 30, limited: [3, 4] }))
    expect(text).toMatch(
      /^▲ Latencies may include delays of this machine \(generator-limited in 2 of 30 seconds\)\n/,
    )
    expect(text.slice(0, text.indexOf('posts.csv at'))).toContain('close other programs')
    expect(text.indexOf('start_lag p99 was 39 ms')).toBeLessThan(text.indexOf('posts.csv at'))
  })

  it('says for how many limited seconds the schedule is the reason, even if the whole test kept up', () => {
    const report = buildLoadReport()
    const generator = { ...report.generator, limitedSeconds: 3, behindSeconds: 1 }
    expect(show({ ...report, generator }).replaceAll(/\s+/g, ' ')).toContain(
      'kept up: schedule sent 100 %, generator-limited 3 of 60 seconds (1 of them sent less than 98 % of the schedule on time)',
    )
  })

  it('does not call the longest stall 0 ms where this machine may have added delays', () => {
    const report = buildLoadReport()
    const stalled = (limited: boolean) => ({ ...report.generator, limited, eventLoopMaxMs: 0 })
    expect(show({ ...report, generator: stalled(false) })).toContain('longest stall 0 ms')
    expect(show({ ...report, generator: stalled(true) })).not.toContain('longest stall')
  })

  it('keeps scheduled, sent, answered and succeeded apart', () => {
    const report = buildLoadReport(
      { failingFrom: 30 },
      { rates: { scheduledPerS: 200, attemptedPerS: 198, answeredPerS: 150, succeededPerS: 142 } },
    )
    const text = show(report)
    expect(text).toMatch(/Requests +scheduled +200\/s\n +sent +198\/s +12,000 in total\n/)
    expect(text).toMatch(/answered +150\/s +12,000 in total\n +succeeded +142\/s +11,400 in total, 95\.0 %\n/)
    expect(text).toMatch(/600 rejected/)
    expect(text).toMatch(/Errors +600 rejected +429 RATE_LIMITED: too many requests, wait 1 second/)
    expect(text).toContain('in seconds 30 to 59')
  })

  it('flags percentiles affected by drops, missing callbacks, waiting and the cache', () => {
    const { generator } = buildLoadReport()
    const text = show(
      buildLoadReport(
        {},
        {
          generator: { ...generator, dropped: 7, waited: 90 },
          fromCache: 11_000,
          callbacks: { received: 10, doubled: 1, rejected: 2, overdue: 3, outstanding: 4 },
        },
      ),
      80,
    )
    const after = text.slice(text.indexOf('Latency in ms'))
    expect(after).toContain('! 7 dropped requests have no latency')
    expect(after).toContain('! 7 callbacks did not arrive')
    expect(after).toContain("! 11,000 answers came from the service's cache")
    expect(after).toContain('! 90 requests waited because too many were in flight')
    expect(text).toMatch(/Callbacks +10 received, 2 with an error, 1 duplicate, 3 overdue, 4\s+outstanding/)
  })

  it('accounts for throttling separately', () => {
    const throttling = { answers: 600, retryAfterAnswers: 500, askedS: 90 }
    expect(show(buildLoadReport({}, { throttling }))).toMatch(
      /Throttling +600 answers with status 429 \(5\.0 %\), 500 answers with Retry-After, 1 min 30 s in total/,
    )
    expect(show(buildLoadReport())).not.toContain('Throttling')
  })

  it('says that without a threshold nothing fails', () => {
    expect(show(buildLoadReport({ failingFrom: 0 })).replaceAll(/\s+/g, ' ')).toContain(
      'No thresholds set: 1,200 of 12,000 requests did not succeed, which does not fail the test.',
    )
    expect(show(buildLoadReport())).not.toContain('Thresholds')
  })

  it('says that the test fails if no request succeeded, unless a failed threshold says so', () => {
    const counts = { sent: 40, succeeded: 0, rejected: 40, failed: 0, unknown: 0 }
    const said = 'None of 40 requests succeeded, which fails the test even without a threshold on failures.'
    const lenient = { ...HELD, expression: 'http_req_failed:rate<=1' }
    for (const thresholds of [[], [HELD], [lenient]]) {
      const text = show(buildLoadReport({}, { counts, thresholds })).replaceAll(/\s+/g, ' ')
      expect(text).toContain(said)
      expect(text).not.toContain('does not fail the test')
    }
    const crossed = { ...HELD, expression: 'http_req_failed:rate<0.5', ok: false }
    expect(show(buildLoadReport({}, { counts, thresholds: [crossed] }))).not.toContain(
      'requests succeeded, which',
    )
  })

  it('says that failures do not fail the test without a threshold on them', () => {
    const failing = (expression: string) =>
      show(buildLoadReport({ failingFrom: 0 }, { thresholds: [{ ...HELD, expression }] })).replaceAll(
        /\s+/g,
        ' ',
      )
    expect(failing('p(99)<500')).toContain(
      'No threshold is about failures: 1,200 of 12,000 requests did not succeed',
    )
    expect(failing('http_req_duration{status:200}:p(99)<500')).toContain('No threshold is about failures')
    expect(failing('http_req_failed:rate<0.5')).not.toContain('on failures')
    for (const expression of ['rate<0.5', 'checks:rate>0.5', 'http_reqs{status:429}:count<5000'])
      expect(failing(expression)).not.toContain('about failures')
    expect(show(buildLoadReport({}, { thresholds: [HELD] }))).not.toContain('on failures')
  })

  it('says that nothing was sent, and has no latencies then', () => {
    const none = { sent: 0, succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
    const text = show(
      buildLoadReport({ seconds: 0 }, { counts: none, startedAt: null, latencyMs: {}, statuses: [] }),
    )
    expect(text).toMatch(/Requests +none sent/)
    expect(text).not.toMatch(/Latency|Generator/)
  })

  it('shows only what k6 reports about a k6 run', () => {
    const { generator } = buildLoadReport()
    const text = show(
      buildLoadReport(
        { failingFrom: 10 },
        {
          plan: ['measured by k6'],
          connections: { opened: 0, reused: 0 },
          generator: { ...generator, startLagP99Ms: null, eventLoopMaxMs: null, gcPauses: 0, gcMaxMs: null },
        },
      ),
    )
    expect(text).toContain('measured by k6')
    expect(text).not.toMatch(/Connections|Generator|Thresholds/)
  })

  it.each([110, 80])('fits a terminal of %i columns', (columns) => {
    const report = buildLoadReport(
      { limited: [1], failingFrom: 10 },
      {
        thresholds: [HELD, CROSSED, { ...CROSSED, expression: 'http_req_duration:p(99.9)<=500' }],
        stopReason:
          'the threshold p(99)<500 ended the load after 12 s: 612 ms, 112 ms over the limit of 500 ms',
        groups: ['up to 100 B', 'up to 1 kB'].map((label) => ({
          by: 'size' as const,
          label,
          requests: 6_000,
          failed: 300,
          httpReqDurationMs: null,
        })),
      },
    )
    for (const line of show(report, columns).split('\n'))
      expect(stringWidth(line)).toBeLessThanOrEqual(columns)
  })

  it('shows nothing that a terminal would obey', () => {
    const errors = [
      {
        outcome: 'rejected' as const,
        status: 400,
        errorCode: 'X\u001b[2J',
        message: 'bad \u001b]0;title\u0007',
        requests: 1,
        firstSecond: 0,
        lastSecond: 0,
      },
    ]
    const statuses = [{ status: 400, errorCode: '\u001b[31m', requests: 1 }]
    const text = show(buildLoadReport({}, { errors, statuses, name: 'n\u001b[1m' }))
    expect(text).not.toContain('\u001b')
    expect(text).toContain('\\u{1b}')
  })
})

describe('what to do after a load test', () => {
  const next = (changes: Partial<RunSummary>) =>
    formatLoadNextSteps(createPlainTerminal(200), toSummary(buildLoadReport(), changes)).join('\n')

  it('is a report and a comparison, never sending its rows again', () => {
    expect(next({})).toMatch(/export \S+ report\.html .*\n.*compare EARLIER/)
    expect(next({ state: 'interrupted' })).not.toMatch(/resume|retry/)
    expect(next({ state: 'running' })).toMatch(/show/)
  })
})

describe('the exit code of a load test', () => {
  const exit = (changes: Partial<RunSummary>) => toExitCode(toSummary(buildLoadReport(), changes))

  it.each([
    ['every threshold held', { thresholds: [HELD] }, 0],
    ['none was given, whatever the answers were', { thresholds: [] }, 0],
    ['one was crossed', { thresholds: [HELD, CROSSED] }, 99],
    ['one ended the load', { thresholds: [CROSSED], state: 'stopped' }, 99],
    ['it was interrupted', { thresholds: [CROSSED], state: 'interrupted' }, 130],
    ['it stopped for another reason', { thresholds: [HELD], state: 'stopped' }, 1],
  ] as const)('if %s', (_, changes, code) => {
    expect(exit({ ...changes, thresholds: [...changes.thresholds] })).toBe(code)
  })

  it('is bad input if no row could be sent', () => {
    const rows = { ...toSummary(buildLoadReport()).rows, read: 3, invalid: 3, succeeded: 0, rejected: 0 }
    expect(exit({ rows, thresholds: [] })).toBe(2)
  })
})
