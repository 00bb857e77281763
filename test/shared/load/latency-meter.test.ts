import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  LatencyMeter,
  listRecorded,
  recordUs,
  toLatencyBars,
  toPercentiles,
  toToolFormat,
} from '../../../src/shared/load/latency-meter.ts'

const toHistogram = (values: Iterable<number>) => {
  const histogram = createHistogram()
  for (const us of values) recordUs(histogram, us)
  return histogram
}

/** Integers that repeat for a seed, spread over six orders of magnitude. */
function* createSamples(count: number): Generator<number> {
  let state = 12_345
  for (let i = 0; i < count; i += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    yield Math.round(10 ** (1 + (6 * state) / 0x7fffffff))
  }
}

describe('percentiles', () => {
  test('agree with the sorted samples to three significant figures', () => {
    const samples = [...createSamples(20_000)].toSorted((a, b) => a - b)
    const percentiles = toPercentiles(toHistogram(samples))
    const exact = (p: number) => (samples[Math.ceil((p / 100) * samples.length) - 1] ?? 0) / 1000
    const pairs = [
      [percentiles?.p50, exact(50)],
      [percentiles?.p90, exact(90)],
      [percentiles?.p95, exact(95)],
      [percentiles?.p99, exact(99)],
      [percentiles?.p99_9, exact(99.9)],
      [percentiles?.max, exact(100)],
      [percentiles?.min, (samples[0] ?? 0) / 1000],
      [percentiles?.mean, samples.reduce((sum, us) => sum + us, 0) / samples.length / 1000],
    ]
    for (const [found = 0, expected = 0] of pairs) {
      expect(Math.abs(found - expected) / expected).toBeLessThan(0.002)
    }
    expect(percentiles?.count).toBe(20_000)
  })

  test('are missing if nothing was recorded', () => {
    expect(toPercentiles(createHistogram())).toBeNull()
  })

  test('count values below a microsecond as one, and above an hour as an hour', () => {
    expect(toPercentiles(toHistogram([0, -5, 0.4]))).toMatchObject({ count: 3, min: 0.001, max: 0.001 })
    const { count, max = 0 } = toPercentiles(toHistogram([9_999_999_999])) ?? {}
    expect(count).toBe(1)
    expect(max / 3_600_000).toBeCloseTo(1, 2)
  })

  test('survive being stored', () => {
    const histogram = toHistogram(createSamples(5_000))
    const stored = toPercentiles(decodeHistogram(encodeHistogram(histogram)))
    // A stored maximum is the upper edge of its step, at most a thousandth above.
    const { max = 0, ...others } = toPercentiles(histogram) ?? {}
    expect(stored).toMatchObject(others)
    expect(stored?.max).toBeGreaterThanOrEqual(max)
    expect(stored?.max).toBeLessThan(max * 1.001)
  })
})

describe('a meter', () => {
  test('keeps its series separate, and treats null as no sample', () => {
    const meter = new LatencyMeter()
    meter.record('http_req_duration', 1_000)
    meter.record('http_req_connecting', null)
    expect(meter.percentiles('http_req_duration')?.count).toBe(1)
    expect(meter.percentiles('http_req_connecting')).toBeNull()
    expect(meter.encode('http_req_connecting')).toBeNull()
    expect(meter.percentiles('start_lag')).toBeNull()
  })

  test('merges other meters without losing a sample, and leaves them unchanged', () => {
    const [total, first, second] = [new LatencyMeter(), new LatencyMeter(), new LatencyMeter()]
    for (const us of [1_000, 2_000]) first.record('http_req_duration', us)
    for (const us of [9_000]) second.record('http_req_duration', us)
    second.record('start_lag', 5)
    total.addAll(first)
    total.addAll(second)
    expect(total.percentiles('http_req_duration')).toMatchObject({ count: 3, min: 1 })
    expect(total.percentiles('start_lag')?.count).toBe(1)
    expect(first.percentiles('http_req_duration')?.count).toBe(2)
  })

  test('is empty after a reset', () => {
    const meter = new LatencyMeter()
    meter.record('http_req_duration', 1_000)
    meter.reset()
    expect(meter.percentiles('http_req_duration')).toBeNull()
    expect(meter.encode('http_req_duration')).toBeNull()
  })
})

describe('the bars of a distribution', () => {
  test('hold every sample, and follow each other without gaps, each wider by the same ratio', () => {
    const samples = [...createSamples(3_000)]
    const bars = toLatencyBars(toHistogram(samples))
    expect(bars.length).toBeGreaterThan(55)
    expect(bars.length).toBeLessThanOrEqual(61)
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(samples.length)
    const ratio = (bars[0]?.upToMs ?? 0) / (bars[0]?.fromMs ?? 1)
    for (const [i, { fromMs, upToMs }] of bars.entries()) {
      expect(upToMs / fromMs).toBeCloseTo(ratio, 6)
      if (i > 0) expect(fromMs).toBeCloseTo(bars[i - 1]?.upToMs ?? 0, 6)
    }
    expect(bars[0]?.count).toBeGreaterThan(0)
    expect(bars.at(-1)?.count).toBeGreaterThan(0)
  })

  test('put each sample into the bar that it lies in', () => {
    const samplesUs = [100, 150, 300, 10_000, 99_000]
    const filled = toLatencyBars(toHistogram(samplesUs)).filter(({ count }) => count > 0)
    expect(filled.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1])
    for (const [index, us] of samplesUs.entries()) {
      // Three figures are measured.
      expect(filled[index]?.fromMs).toBeLessThanOrEqual((us / 1000) * 1.001)
      expect(filled[index]?.upToMs).toBeGreaterThanOrEqual((us / 1000) * 0.999)
    }
  })

  test('are missing if nothing was recorded', () => {
    expect(toLatencyBars(createHistogram())).toEqual([])
  })

  test('recorded values are listed in ascending order, including repeated ones', () => {
    const histogram = toHistogram([30, 10, 30, 20])
    const expected = [
      { us: 10, count: 1 },
      { us: 20, count: 1 },
      { us: 30, count: 2 },
    ]
    expect([...listRecorded(histogram)]).toEqual(expected)
    expect([...listRecorded(histogram)]).toEqual(expected)
  })
})

describe('an encoded histogram', () => {
  test('is unchanged after decoding, even with counts of a million in each slot', () => {
    const histogram = createHistogram()
    let state = 1
    for (let us = 1; us < 3_600_000_000; us += Math.max(1, Math.floor(us / 1_000))) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      histogram.recordValueWithCount(us, 1_000_000 + (state % 1_000_000))
    }
    expect(decodeHistogram(encodeHistogram(histogram)).totalCount).toBe(histogram.totalCount)
  })

  test('that would unpack to far more than any stored one is refused before it is unpacked', () => {
    const packed = deflateSync(Buffer.alloc(200_000_000), { level: 9 })
    const head = Buffer.from('1c84931400000000', 'hex')
    head.writeInt32BE(packed.length, 4)
    const text = Buffer.concat([head, packed]).toString('base64')
    expect(() => decodeHistogram(text)).toThrow('a histogram is longer than any that was ever stored')
  })
})

test('a stored histogram keeps its exact minimum and maximum, and other tools can read it', () => {
  const stored = encodeHistogram(toHistogram([1_234_567, 612_345, 900_000]))
  const summed = createHistogram()
  summed.add(decodeHistogram(stored))
  expect(toPercentiles(summed)).toMatchObject({ min: 612.345, max: 1_234.567, p99: 1_234.567 })
  // Other tools accept no byte more than the format says.
  const plain = atob(toToolFormat(stored))
  const length = new DataView(Uint8Array.from(plain, (char) => char.charCodeAt(0)).buffer).getUint32(4)
  expect(plain).toHaveLength(8 + length)
  const { min, max } = toPercentiles(decodeHistogram(toToolFormat(stored))) ?? {}
  expect([min, max]).toEqual([611.84, 1_234.943])
  expect(toToolFormat(toToolFormat(stored))).toBe(toToolFormat(stored))
})

test('a minimum or maximum that does not fit a stored histogram is ignored', () => {
  const stored = encodeHistogram(toHistogram([612_345]))
  const bytes = atob(stored)
  const forged = btoa(`${bytes.slice(0, -4)}\xff\xff\xff\xff`)
  expect(toPercentiles(decodeHistogram(forged))?.max).toBe(612.351)
})
