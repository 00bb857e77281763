import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import {
  formatProgressBlock,
  formatProgressLine,
} from '../../../../src/main/cli/progress/progress-reporter.ts'
import { formatThresholdMargin, type ThresholdResult } from '../../../../src/shared/load/thresholds.ts'
import type { LoadProgress } from '../../../../src/shared/run/snapshot.ts'
import { createPlainTerminal } from '../plain-terminal.ts'
import { createLoadSnapshot } from './load-snapshot.ts'

const CROSSED: ThresholdResult = {
  expression: 'http_req_failed:rate<0.01',
  value: 0.0081,
  limit: 0.001,
  unit: 'share',
  ok: false,
  margin: -0.0071,
}

const show = (load: Partial<LoadProgress> = {}, columns = 110, notice: string | null = null) =>
  formatProgressBlock(
    createPlainTerminal(columns),
    createLoadSnapshot(load, {
      notice: notice === null ? null : { code: null, reason: notice, advice: null },
    }),
  ).split('\n')

describe('the bar of a load test', () => {
  it('shows progress, rate against schedule, and success', () => {
    const [first = '', second = '', third = '', ...more] = show()
    expect(first).toMatch(/^Loading {2}█+░+ {2}25\.3 s of 1 min {2}198 of 200\/s {2}12 in flight$/)
    expect(second.trim()).toBe(
      '✔ 4,958 ok   ✖ 42 unsuccessful (0.8 %)   p50 24.1 ms   p95 48.2 ms   p99 61.0 ms',
    )
    expect(third.trim()).toBe('✓ p(99)<500 61.0 ms')
    expect(more).toEqual([])
  })

  it('shows failed thresholds first, and what makes the figures doubtful', () => {
    const lines = show({
      thresholds: [...createLoadSnapshot().load.thresholds, CROSSED],
      dropped: 3,
      limitedSeconds: 2,
      silentMs: 12_345,
    })
    expect(lines[2]?.trim()).toBe('✗ http_req_failed:rate<0.01 0.81 %   ✓ p(99)<500 61.0 ms')
    expect(lines[3]?.trim()).toBe('no answer for 12 s   generator-limited in 2 s   3 dropped')
  })

  it('marks a threshold that cannot be judged yet as not judged', () => {
    const waiting: ThresholdResult = { ...CROSSED, value: 0, margin: 0.001, unanswered: true, open: 12 }
    const [, , third = ''] = show({ thresholds: [waiting] })
    expect(third.trim()).toBe('✗ http_req_failed:rate<0.01 0 % (not judged)')
    const snapshot = createLoadSnapshot({ thresholds: [waiting] })
    expect(formatProgressLine(snapshot)).toContain('✗ http_req_failed:rate<0.01 0 % (not judged)')
    expect(formatThresholdMargin(waiting)).toBe(
      'not judged: 12 requests without an answer may still cross it',
    )
  })

  it('gives thresholds at most three lines', () => {
    const lines = show({ thresholds: Array.from({ length: 30 }, () => CROSSED) }, 80)
    expect(lines).toHaveLength(6)
    expect(lines.at(-1)?.trim()).toMatch(/^and \d+ more$/)
  })

  it('has its own words for warm-up, measuring, waiting and stopping', () => {
    const label = (load: Partial<LoadProgress>) => show(load)[0] ?? ''
    expect(label({ phase: 'warmup', elapsedMs: -3_200, achievedPerS: null })).toMatch(
      /^Warm-up .*measuring in 3\.2 s {2}200\/s/,
    )
    expect(label({ phase: 'stopping', elapsedMs: 61_000 })).toMatch(/^Stopping █+ {2}1 min of 1 min/)
    expect(label({ phase: 'stopping', elapsedMs: 61_000, awaited: 7 })).toMatch(/^Awaiting .*7 awaited/)
  })

  it('draws no bar if the duration is unknown', () => {
    const [first = ''] = show({ measuredMs: null, scheduledPerS: null })
    expect(first).toBe('Loading  25.3 s  198/s  12 in flight')
  })

  it.each([200, 110, 80, 60, 40, 24])('fits a terminal of %i columns', (columns) => {
    for (const phase of ['warmup', 'measuring', 'stopping'] as const) {
      const load = { phase, thresholds: [CROSSED, CROSSED], dropped: 12_345, limitedSeconds: 99, awaited: 5 }
      for (const line of show(load, columns, 'a notice that is rather long '.repeat(9))) {
        expect(stringWidth(line)).toBeLessThan(columns)
      }
    }
  })

  it('is plain ASCII where the terminal has no UTF-8', () => {
    const block = formatProgressBlock(createPlainTerminal(110, { LANG: 'C' }), createLoadSnapshot())
    expect(block).toMatch(/^[\n\x20-\x7e]*$/)
    expect(block).toContain('+ p(99)<500')
  })
})

describe('the line of a load test', () => {
  it('says the same where every line is kept', () => {
    expect(formatProgressLine(createLoadSnapshot())).toBe(
      'loading: 25.3 s of 1 min, 198/s sent, 200/s scheduled, 12 in flight, 5,000 requests, 42 unsuccessful, p50 24.1 ms, p95 48.2 ms, p99 61.0 ms, 1 of 1 threshold passed',
    )
    const bad = {
      thresholds: [CROSSED],
      dropped: 3,
      limitedSeconds: 2,
      awaited: 1,
      silentMs: 3_000,
      phase: 'stopping' as const,
    }
    expect(
      formatProgressLine(
        createLoadSnapshot(bad, { notice: { code: null, reason: 'a notice', advice: 'Do this.' } }),
      ),
    ).toMatch(
      /^awaiting: .*1 callback awaited, no answer for 3 s, 3 dropped, generator-limited in 2 s, 0 of 1 threshold passed, ✗ http_req_failed:rate<0.01 0.81 %, a notice\. Do this\.$/,
    )
  })
})
