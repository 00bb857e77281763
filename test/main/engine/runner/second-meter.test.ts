import { expect, onTestFinished, test } from 'vitest'
import { SecondMeter } from '../../../../src/main/engine/runner/second-meter.ts'
import { LatencyMeter } from '../../../../src/shared/latency-meter.ts'

/** A meter whose clock the test moves, in microseconds. */
function createMeter(startUs: number) {
  const clock = { us: startUs }
  const meter = new SecondMeter({ total: new LatencyMeter(), nowUs: () => clock.us })
  onTestFinished(() => meter.close())
  const end = (atUs: number, durationUs = 1_000) => {
    clock.us = atUs
    const timings = { durationUs, waitingUs: null, connectUs: null, tlsUs: null }
    meter.note('succeeded', { sentAtUs: atUs - durationUs, ...timings }, null)
  }
  return { meter, clock, end }
}

test('a second is taken once it is over, with all that ended in it', () => {
  const { meter, clock, end } = createMeter(10_000_000)
  end(10_100_000)
  end(10_999_999)
  expect(meter.take()).toEqual([])
  end(11_000_000)
  const [second, ...more] = meter.take()
  expect(second).toMatchObject({ at: 10, succeeded: 2 })
  expect(more).toEqual([])
  expect(meter.ratePerSecond).toBe(2)
  clock.us = 13_000_000
  expect(meter.take()).toMatchObject([{ at: 11, succeeded: 1 }])
  expect(meter.ratePerSecond).toBe(0)
  expect(meter.total.percentiles('http_req_duration')?.count).toBe(3)
})

test('what ends in a second after its first part was taken is taken as a further part', () => {
  const { meter, end } = createMeter(10_000_000)
  end(10_100_000)
  expect(meter.take(true)).toMatchObject([{ at: 10, succeeded: 1 }])
  end(10_200_000)
  end(10_300_000)
  expect(meter.take(true)).toMatchObject([{ at: 10, succeeded: 2 }])
  end(11_000_000)
  expect(meter.take(true)).toMatchObject([{ at: 11, succeeded: 1 }])
  expect(meter.ratePerSecond).toBe(3)
  expect(meter.total.percentiles('http_req_duration')?.count).toBe(4)
})

test('seconds whose transaction was undone are taken again, before later ones', () => {
  const { meter, end } = createMeter(10_000_000)
  end(10_100_000)
  end(11_100_000)
  const taken = meter.take()
  end(12_100_000)
  meter.giveBack(taken)
  expect(meter.take().map(({ at }) => at)).toEqual([10, 11])
})
