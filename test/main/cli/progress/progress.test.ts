import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import {
  createProgressReporter,
  formatProgressBlock,
  formatProgressLine,
} from '../../../../src/main/cli/progress/progress-reporter.ts'
import type { RunSnapshot } from '../../../../src/shared/run/snapshot.ts'
import { createPlainTerminal } from '../plain-terminal.ts'
import { createKeptContext } from '../run-in-process.ts'

const CALLBACKS = {
  received: 30,
  settled: 30,
  early: 0,
  late: 0,
  doubled: 0,
  differing: 0,
  other_post: 0,
  unreadable: 0,
}

const zero = { count: 10, min: 1, mean: 2, p50: 2, p90: 30, p95: 48.2, p99: 60, p99_9: 70, max: 80 }

function createSnapshot(changes: Partial<RunSnapshot> = {}): RunSnapshot {
  return {
    runId: 'r1',
    phase: 'running',
    bytes: { read: 500, total: 1000 },
    problems: { errors: 0, warnings: 0 },
    rows: {
      read: 5573,
      invalid: 1,
      succeeded: 2871,
      rejected: 12,
      failed: 3,
      unknown: 2,
      overdue: 0,
      awaiting: 0,
      not_sent: 2684,
    },
    requests: { sent: 2900, succeeded: 2871, rejected: 20, failed: 5, unknown: 4, retried: 12 },
    inFlight: 4,
    ratePerSecond: { current: 214, mean: 210 },
    etaMs: 12_400,
    elapsedMs: 13_600,
    latencyMs: zero,
    triggeredRules: [],
    errors: [],
    warnings: [],
    retryAfter: { answers: 0, waitedMs: 0 },
    toRepeat: 0,
    slowdown: null,
    answers: {},
    callbacks: null,
    load: null,
    notice: null,
    ...changes,
  }
}

describe('the bar', () => {
  it('shows the progress of the run and the outcome of its rows', () => {
    const [first = '', second = ''] = formatProgressBlock(createPlainTerminal(110), createSnapshot()).split(
      '\n',
    )
    expect(first).toMatch(/^Sending {2}█+░+ {3}51 % {2}2,888 of 5,572 rows {2}12 s left$/)
    expect(second.trim()).toBe(
      '✔ 2,871 ok   ✖ 12 rejected   ▲ 3 failed   ? 2 unknown   – 1 invalid   214/s   p95 48.2 ms',
    )
  })

  it.each([200, 110, 80, 60, 40, 24])('fits a terminal of %i columns', (columns) => {
    for (const phase of ['intake', 'ready', 'running', 'paused', 'draining', 'awaiting', 'ended'] as const) {
      const snapshot = createSnapshot({
        phase,
        notice: {
          code: 'throttled',
          reason: 'a notice that is rather long for a terminal '.repeat(9),
          advice: null,
        },
      })
      for (const line of formatProgressBlock(createPlainTerminal(columns), snapshot).split('\n')) {
        expect(stringWidth(line)).toBeLessThan(columns)
      }
    }
  })

  it('is full only when every row is settled', () => {
    const almost = createSnapshot()
    almost.rows = { ...almost.rows, succeeded: 5554, not_sent: 1 }
    expect(formatProgressBlock(createPlainTerminal(110), almost)).toContain('░')
    const whole = createSnapshot()
    whole.rows = { ...whole.rows, succeeded: 5555, not_sent: 0 }
    expect(formatProgressBlock(createPlainTerminal(110), whole)).not.toContain('░')
    expect(formatProgressBlock(createPlainTerminal(110), whole)).toContain('100 %')
  })

  it('is plain ASCII where the terminal has no UTF-8', () => {
    const block = formatProgressBlock(createPlainTerminal(110, { LANG: 'C' }), createSnapshot())
    expect(block).toMatch(/^[\x20-\x7e\n]*$/)
  })

  it('shows what is left in flight while the run stops', () => {
    const block = formatProgressBlock(createPlainTerminal(110), createSnapshot({ phase: 'draining' }))
    expect(block).toContain('Stopping')
    expect(block).toContain('4 in flight')
  })
})

describe('a run whose results come as callbacks', () => {
  const awaiting = createSnapshot({ phase: 'awaiting', inFlight: 0, callbacks: CALLBACKS })
  awaiting.rows = { ...awaiting.rows, awaiting: 2_684, overdue: 7, not_sent: 0 }

  it('shows how many are still to come, and how many came too late', () => {
    const [first = '', second = ''] = formatProgressBlock(createPlainTerminal(130), awaiting).split('\n')
    expect(first).toMatch(/^Awaiting █+░+ {3}51 %/)
    expect(second).toContain('? 7 overdue')
    expect(second).toContain('… 2,684 awaiting')
    expect(second).not.toContain('/s')
  })

  it('says so in a log, too', () => {
    expect(formatProgressLine(awaiting)).toBe(
      'awaiting: 2,895 of 5,572 rows (51 %), 2,871 ok, 12 rejected, 3 failed, 2 unknown, 2,684 awaiting, 7 overdue, p95 48.2 ms, 12 s left',
    )
  })
})

describe('a run that cannot send as fast as its plan allows', () => {
  const throttled = createSnapshot({
    slowdown: { kind: 'throttled', pacePerS: 198.2, nextTryAtMs: null, givesUpAtMs: null },
  })
  const reason = 'connection refused by 127.0.0.1:8080; check the port and that the service is running'
  const givesUpAtMs = new Date(2026, 10, 22, 14, 0, 30).getTime()
  const unreachable = createSnapshot({
    slowdown: { kind: 'unreachable', reason, givesUpAtMs },
    etaMs: null,
  })

  it('says so in the bar, with the pace or the time at which it gives up', () => {
    const terminal = createPlainTerminal(130)
    expect(formatProgressBlock(terminal, throttled)).toContain(
      'throttled by the service: sending at most 198/s',
    )
    const block = formatProgressBlock(terminal, unreachable)
    expect(block).toContain(
      'cannot reach the service: connection refused by 127.0.0.1:8080; trying again until 14:00:30',
    )
    expect(block).not.toContain('left')
  })

  it('says so in the line for logs', () => {
    expect(formatProgressLine(throttled)).toContain(', throttled by the service: sending at most 198/s')
    expect(formatProgressLine(unreachable)).toMatch(/trying again until 14:00:30$/)
  })
})

describe('the line for logs', () => {
  it('is written repeatedly during a run, each time with its progress', async () => {
    const { context, stderr } = createKeptContext({ lineEveryMs: 1 })
    const reporter = createProgressReporter(context, { quiet: false })
    for (const etaMs of [12_400, 9_400]) {
      reporter.update(createSnapshot({ etaMs }))
      await expect.poll(stderr).toMatch(new RegExp(`^sending: .+, ${Math.floor(etaMs / 1000)} s left$`, 'm'))
    }
    reporter.finish()
  })

  it('names every count with its word', () => {
    expect(formatProgressLine(createSnapshot())).toBe(
      'sending: 2,888 of 5,572 rows (51 %), 2,871 ok, 12 rejected, 3 failed, 2 unknown, 214/s, p95 48.2 ms, 12 s left',
    )
  })

  it('reports how much of the source is read', () => {
    expect(
      formatProgressLine(createSnapshot({ phase: 'intake', problems: { errors: 2, warnings: 0 } })),
    ).toBe('reading: 5,573 rows, 500 B of 1.0 kB, 2 problems')
  })
})
