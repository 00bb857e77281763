import { describe, expect, test } from 'vitest'
import { createPacer } from '../../../../src/main/engine/sending/pace.ts'

describe('a closed pace', () => {
  test('is limited only by requests in flight', () => {
    const pacer = createPacer({ kind: 'closed', concurrency: 7 })
    pacer.start(0)
    expect(pacer.concurrency).toBe(7)
    expect(pacer.due(0)).toBe(Infinity)
    expect(pacer.take()).toBeNull()
    expect(pacer.due(0)).toBe(Infinity)
  })
})

describe('an open pace', () => {
  const openPacer = (ratePerSecond: number) => {
    const pacer = createPacer({ kind: 'open', ratePerSecond, maxInFlight: 3 })
    pacer.start(1_000)
    return pacer
  }

  test('has its limit in flight', () => {
    expect(openPacer(10).concurrency).toBe(3)
  })

  test('has the first request due at once, and the next one interval later', () => {
    const pacer = openPacer(10)
    expect(pacer.due(999)).toBe(0)
    expect(pacer.due(1_000)).toBe(1)
    expect(pacer.due(1_099)).toBe(1)
    expect(pacer.due(1_100)).toBe(2)
    expect(pacer.due(1_950)).toBe(10)
  })

  test('counts what was taken', () => {
    const pacer = openPacer(10)
    expect(pacer.take()).toBe(1_000)
    expect(pacer.due(1_050)).toBe(0)
    expect(pacer.due(1_250)).toBe(2)
    expect(pacer.take()).toBe(1_100)
    expect(pacer.due(1_250)).toBe(1)
  })

  test('keeps an absolute schedule: however late it is read, lateness does not add up', () => {
    const pacer = openPacer(1_000 / 3)
    let nowMs = 1_000
    for (let i = 0; i < 1_000; i += 1) {
      // Always read 2.9 ms too late.
      nowMs = Math.max(nowMs, 1_000 + i * 3) + 2.9
      expect(pacer.due(nowMs)).toBeGreaterThanOrEqual(1)
      expect(pacer.take()).toBeCloseTo(1_000 + i * 3, 6)
    }
  })

  test('does not catch up after a pause', () => {
    const pacer = openPacer(10)
    pacer.take()
    pacer.start(50_000)
    expect(pacer.due(50_000)).toBe(1)
    expect(pacer.take()).toBe(50_000)
    expect(pacer.due(50_099)).toBe(0)
  })
})
