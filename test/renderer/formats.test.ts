import { describe, expect, it } from 'vitest'
import { formatAgo } from '../../src/renderer/ui/format-time.ts'
import {
  formatAxisMs,
  formatBytes,
  formatMs,
  formatRate,
  formatShare,
  formatSpan,
} from '../../src/shared/messages/figure-text.ts'

describe('numbers with units', () => {
  it.each([
    [0.4249, '0.42 ms'],
    [9.994, '9.99 ms'],
    [9.996, '10.0 ms'],
    [99.94, '99.9 ms'],
    [124.4, '124 ms'],
    [999.4, '999 ms'],
    [1_204, '1.20 s'],
    [61_000, '61.0 s'],
  ])('writes %d ms as %s', (ms, text) => expect(formatMs(ms)).toBe(text))

  it.each([
    [0, '0'],
    [0.5, '0.5 ms'],
    [50, '50 ms'],
    [100, '100 ms'],
    [1_500, '1.5 s'],
    [20_000, '20 s'],
  ])('writes %d ms on an axis as %s, without needless zeros', (ms, text) => {
    expect(formatAxisMs(ms)).toBe(text)
  })

  it.each([
    [0, 100, '0 %'],
    [1, 1_000_000, '<0.1 %'],
    [123, 1_000, '12.3 %'],
    [999_999, 1_000_000, '>99.9 %'],
    [5, 5, '100 %'],
    [0, 0, '0 %'],
  ])('writes %d of %d as %s, never rounding to all or nothing', (part, all, text) => {
    expect(formatShare(part, all)).toBe(text)
  })

  it.each([
    [999, '999 B'],
    [1_500, '1.5 kB'],
    [999_950, '1.0 MB'],
    [999_999, '1.0 MB'],
    [114_000_000, '114 MB'],
  ])('writes %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

  it('gives slow rates one decimal and fast ones none', () => {
    expect([formatRate(3.149), formatRate(54_321.9)]).toEqual(['3.1', '54,322'])
  })
})

describe('spans of time', () => {
  it.each([
    [400, '<1 s'],
    [42_000, '42 s'],
    [185_000, '3 min 05 s'],
    [7_620_000, '2 h 07 min'],
    [3 * 86_400_000 + 4 * 3_600_000, '3 d 4 h'],
  ])('writes %d ms as %s', (ms, text) => expect(formatSpan(ms)).toBe(text))

  it('says how long ago', () => {
    const nowMs = Date.parse('2026-03-01T12:00:00Z')
    const ago = (minutes: number) => formatAgo(new Date(nowMs - minutes * 60_000).toISOString(), nowMs)
    expect([ago(0), ago(4), ago(130), ago(1_500)]).toEqual(['just now', '4 min ago', '2 h ago', 'yesterday'])
  })
})
