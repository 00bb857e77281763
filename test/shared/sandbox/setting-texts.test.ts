import { describe, expect, it } from 'vitest'
import { parseFaults } from '../../../src/main/sandbox/faults.ts'
import { parseLatency } from '../../../src/main/sandbox/latency.ts'
import { formatFault, formatLatency, toLatencyBars } from '../../../src/shared/sandbox/setting-texts.ts'

describe('settings of the sandbox that a window writes', () => {
  it.each([
    '5xx=3%',
    '429=3%,retry-after=1',
    '503-after=0.5%,tries=2',
    'reset-after=1%',
    'stall=2%,for=1500ms',
    'stall-before=2%',
    'html=1%,status=502',
    'broken-json=12.5%',
    'truncated=100%',
  ])('write %s as the sandbox reads it', (text) => {
    expect(parseFaults([text]).map(formatFault)).toEqual([text])
  })

  it.each(['0ms', '40ms', '110ms±70ms', '20ms|200ms±50ms@5%', '0ms|1ms@33.3333%|2ms@0.5%'])(
    'write the latency %s as the sandbox reads it',
    (text) => {
      expect(formatLatency(parseLatency(text))).toBe(text)
    },
  )

  it('draw each mode of a latency where its answers come', () => {
    const { endMs, bars } = toLatencyBars(parseLatency('20ms|200ms±50ms@5%'))
    expect(endMs).toBeCloseTo(275)
    expect(bars).toEqual([
      { fromMs: 20, toMs: 20, share: 0.95 },
      { fromMs: 150, toMs: 250, share: 0.05 },
    ])
    expect(toLatencyBars(parseLatency('0')).endMs).toBeGreaterThan(0)
  })
})
