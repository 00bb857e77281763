import { expect, inject, it } from 'vitest'
import { KeptLatencies } from '../../../../src/main/engine/journal/latency-series.ts'
import { readLatency, SecondWriter } from '../../../../src/main/engine/journal/seconds.ts'
import { LatencyMeter } from '../../../../src/shared/load/latency-meter.ts'
import { openTestJournal } from './test-journal.ts'

const FIRST_AT = 1_700_000_000
/** Seconds after which all are reread, which takes nearly all of the time. */
const READ_EVERY = inject('isLong') ? 11 : 115

function openSeconds() {
  const journal = openTestJournal()
  const writer = new SecondWriter(journal)
  const write = (second: number, us: number, callbackUs: number | null = null) => {
    const latency = new LatencyMeter()
    latency.record('http_req_duration', us)
    latency.record('callback_latency', callbackUs)
    const nothing = { rejected: 0, failed: 0, unknown: 0, eventLoopMaxUs: null, generatorLimited: false }
    journal.transact('process', () =>
      writer.write({ at: FIRST_AT + second, succeeded: 1, ...nothing, latency }),
    )
  }
  return { write, view: { file: 'run.journal', db: journal.db } }
}

it('repeatedly requested latencies equal reread ones, whichever second grew', () => {
  const { write, view } = openSeconds()
  const kept = new KeptLatencies()
  const expectSame = () => {
    const series = kept.read(view)
    expect(series).toEqual(new KeptLatencies().read(view))
    const all = readLatency(view.db)
    for (const metric of ['http_req_duration', 'callback_latency'] as const) {
      const bars = series.bars[metric]?.reduce((sum, { count }) => sum + count, 0)
      expect(all.histogram(metric)?.totalCount).toBe(bars)
    }
    return series
  }
  expect(expectSame()).toEqual({ seconds: [], bars: {} })
  for (let second = 0; second < 230; second += second === 40 ? 7 : 1) {
    write(second, 1_000 + second, second % 3 === 0 ? 5_000 : null)
    if (second % READ_EVERY === 0 || second > 220) expectSame()
  }
  // The newest second grows while it lasts, and recovery adds to the last ones of a session that was cut off.
  for (const second of [229, 225, 100, 0]) {
    write(second, 90_000)
    const { seconds } = expectSame()
    expect(seconds.find((shown) => shown.second === second)?.latencyMs.http_req_duration?.max).toBeCloseTo(
      90,
      0,
    )
  }
  write(-10, 1_000)
  expect(expectSame().seconds.at(1)?.second).toBe(10)
  const waiting = kept.read(view, ['http_req_waiting'])
  expect(waiting.bars).toEqual({})
  expect(kept.read(view).bars.http_req_duration?.reduce((sum, { count }) => sum + count, 0)).toBe(229)
})
