import { describe, expect, it, test } from 'vitest'
import type { LoadCallbacks } from '../../../../src/main/engine/load/load-callbacks.ts'
import { LoadLedger, LoadRows, toRowEnding } from '../../../../src/main/engine/load/load-ledger.ts'
import { LoadTally } from '../../../../src/main/engine/load/load-tally.ts'
import { decodeHistogram } from '../../../../src/shared/load/latency-meter.ts'
import type { Outcome } from '../../../../src/shared/run/item-state.ts'
import { OUTCOMES } from '../../../../src/shared/run/item-state.ts'
import { type TestRequest, toRecords } from './load-records.ts'

const START_MS = 1_700_000_000_000

function createLedger() {
  const ends: Parameters<LoadCallbacks['noteEnd']>[] = []
  const ledger = new LoadLedger((...end) => ends.push(end))
  ledger.begin(START_MS)
  return { ledger, ends }
}

/** All figures of a tally; for groups, the number of requests in their distribution. */
function toFigures(tally: LoadTally) {
  const { statuses, errors } = tally
  const groups = tally.listGroups().map(({ by, label, requests, failed, histogram }) => {
    const timed = histogram === null ? 0 : decodeHistogram(histogram).totalCount
    return [by, label, requests, failed, timed]
  })
  return { ...tally, statuses, errors, groups }
}

/** All reported requests, once their seconds are over. */
function closeAll(ledger: LoadLedger): LoadTally {
  for (let second = 0; second <= ledger.lastSecond; second += 1) ledger.close(second)
  return ledger.total
}

const REFUSED = { outcome: 'rejected', status: 429, errorCode: 'RATE_LIMITED', message: 'slow down' } as const
const BROKEN = { outcome: 'failed', status: null, errorCode: 'ECONNREFUSED', message: 'refused' } as const

describe('the ledger', () => {
  it('counts requests by outcome in the second in which they ended', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords(
        [
          { endMs: 10 },
          { endMs: 999 },
          { endMs: 1_000, outcome: 'rejected', status: 429, error: 0 },
          { endMs: 2_500, outcome: 'failed', status: null, error: 1 },
        ],
        {
          errors: [
            [0, REFUSED],
            [1, BROKEN],
          ],
        },
      ),
    )
    expect(ledger.lastSecond).toBe(2)
    expect(ledger.close(0).tally.counts).toEqual({ succeeded: 2, rejected: 0, failed: 0, unknown: 0 })
    expect(ledger.close(1).tally.counts).toMatchObject({ succeeded: 0, rejected: 1 })
    expect(ledger.close(2).tally.counts).toMatchObject({ failed: 1 })
    expect(ledger.close(3).tally.counts).toEqual({ succeeded: 0, rejected: 0, failed: 0, unknown: 0 })
    expect(ledger).toMatchObject({ requests: 4, failed: 2 })
  })

  it('says nothing of the callback of a refused try that another follows', () => {
    const { ledger, ends } = createLedger()
    const refused = { sequence: 0, endMs: 10, outcome: 'rejected', status: 429, error: 0 } as const
    ledger.add(
      toRecords(
        [
          { ...refused, isRepeated: true },
          { ...refused, outcome: 'unknown', isRepeated: true },
          { sequence: 0, endMs: 30, flags: ['acknowledged'] },
          { ...refused, sequence: 1 },
        ],
        { errors: [[0, REFUSED]] },
      ),
    )
    expect(ends.map(([item, , promise]) => `${item} ${promise}`)).toEqual([
      '1 unknown',
      '1 given',
      '2 refused',
    ])
  })

  it('counts reports about a closed second in the next one, so that nothing is lost', () => {
    const { ledger } = createLedger()
    ledger.close(0)
    ledger.close(1)
    ledger.add(toRecords([{ endMs: 500 }, { endMs: 1_200 }]))
    expect(ledger.close(2).tally.counts.succeeded).toBe(2)
  })

  it('separates latencies by metric, timeouts with the elapsed time', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords(
        [
          { endMs: 100, durationMs: 20, waitingMs: 18, connectMs: 3, responseMs: 25, lagMs: 5 },
          { endMs: 300, durationMs: 200, status: null, outcome: 'unknown', error: 0 },
          // Nothing was sent, so it has no duration.
          { endMs: 310, durationMs: 1, flags: [], outcome: 'failed', status: null, error: 1 },
        ],
        {
          errors: [
            [0, { outcome: 'unknown', status: null, errorCode: 'TIMEOUT', message: 'late' }],
            [1, BROKEN],
          ],
        },
      ),
    )
    const { latency } = ledger.close(0).times
    expect(latency.percentiles('http_req_duration')).toMatchObject({ count: 2, max: expect.closeTo(200, 0) })
    expect(latency.percentiles('http_req_waiting')?.count).toBe(1)
    expect(latency.percentiles('http_req_connecting')?.p50).toBeCloseTo(3, 1)
    expect(latency.percentiles('response_time')?.p50).toBeCloseTo(25, 0)
    expect(latency.percentiles('start_lag')?.p50).toBeCloseTo(5, 1)
  })

  it('attributes unexplained lag to the generator only', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords([
        { endMs: 100, lagMs: 1 },
        { endMs: 110, lagMs: 400, flags: ['timed', 'waited'] },
        { endMs: 120, lagMs: 30, connectMs: 29, blockedMs: 29.5 },
      ]),
    )
    const second = ledger.close(0)
    expect(second.times.latency.percentiles('start_lag')?.count).toBe(3)
    expect(second.times.ownLagMaxUs).toBe(1_000)
    expect(ledger.total.waited).toBe(1)
  })

  it('counts what failed in bursts after stalls of this machine', () => {
    const { ledger } = createLedger()
    const refused = { outcome: 'rejected', status: 429, error: 0 } as const
    ledger.add(
      toRecords(
        [
          { endMs: 1, flags: ['timed', 'inBurst'] },
          { endMs: 2, flags: ['timed', 'inBurst'], ...refused },
          { endMs: 3, ...refused },
          { endMs: 1_100, flags: ['timed', 'inBurst'], ...refused },
        ],
        { errors: [[0, REFUSED]] },
      ),
    )
    expect(closeAll(ledger)).toMatchObject({ failed: 3, mayBeOwnFailures: 2 })
  })

  it('counts throttling, the cache, connections, retries and statuses', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords(
        [
          { endMs: 1, connectMs: 1, flags: ['timed', 'fromCache'] },
          { endMs: 2, flags: ['timed', 'retry'] },
          { endMs: 3, outcome: 'rejected', status: 429, error: 0, retryAfterMs: 1_500 },
          { endMs: 4, outcome: 'rejected', status: 429, error: 0 },
          { endMs: 5, outcome: 'rejected', status: 503, error: 1, retryAfterMs: 500 },
        ],
        {
          errors: [
            [0, REFUSED],
            [1, { ...REFUSED, status: 503, errorCode: null }],
          ],
        },
      ),
    )
    const total = closeAll(ledger)
    expect(total.throttling).toEqual({ answers: 2, retryAfterAnswers: 2, askedS: 2 })
    expect(total.connections).toEqual({ opened: 1, reused: 4 })
    expect(total).toMatchObject({ requests: 5, failed: 3, answered: 5, fromCache: 1, retried: 1 })
    expect(total.statuses).toEqual([
      { status: 200, errorCode: null, requests: 2 },
      { status: 429, errorCode: 'RATE_LIMITED', requests: 2 },
      { status: 503, errorCode: null, requests: 1 },
    ])
  })

  it('groups errors by cause over all threads, with their times', () => {
    const { ledger } = createLedger()
    // Each thread numbers its own causes.
    ledger.add(
      toRecords([{ endMs: 5_100, outcome: 'failed', status: null, error: 7 }], { errors: [[7, BROKEN]] }),
    )
    ledger.add(
      toRecords([{ endMs: 1_100, outcome: 'failed', status: null, error: 0 }], {
        index: 1,
        errors: [[0, BROKEN]],
      }),
    )
    expect(closeAll(ledger).errors).toEqual([{ ...BROKEN, requests: 2, firstSecond: 1, lastSecond: 5 }])
  })

  it('groups by content size, and by model up to a limit', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords(
        [
          { endMs: 1, contentBytes: 100, model: 0 },
          { endMs: 2, contentBytes: 101, model: 1 },
          { endMs: 3, contentBytes: 1e9, model: 1, outcome: 'rejected', status: 400, error: 0 },
        ],
        {
          models: [
            [0, ''],
            [1, 'visual, ocr'],
          ],
          errors: [[0, { ...REFUSED, status: 400 }]],
        },
      ),
    )
    const groups = closeAll(ledger)
      .listGroups()
      .map(({ by, label, requests, failed }) => ({
        by,
        label,
        requests,
        failed,
      }))
    expect(groups).toEqual(
      expect.arrayContaining([
        { by: 'size', label: 'up to 100 B', requests: 1, failed: 0 },
        { by: 'size', label: 'up to 1 kB', requests: 1, failed: 0 },
        { by: 'size', label: 'over 100 kB', requests: 1, failed: 1 },
        { by: 'model', label: "(the service's choice)", requests: 1, failed: 0 },
        { by: 'model', label: 'visual, ocr', requests: 2, failed: 1 },
      ]),
    )
    const many = Array.from({ length: 300 }, (_, i): [number, string] => [i, `model ${i}`])
    const { ledger: other } = createLedger()
    other.add(
      toRecords(
        many.map(([model]) => ({ endMs: 1, model })),
        { models: many },
      ),
    )
    // A model with its own group has it in every second, however many others that second has.
    other.add(
      toRecords(
        many.toReversed().map(([model]) => ({ endMs: 1_001, model })),
        { models: [] },
      ),
    )
    const models = closeAll(other)
      .listGroups()
      .filter(({ by }) => by === 'model')
      .map(({ label, requests }) => [label, requests])
    const named = Array.from({ length: 50 }, (_, i) => [`model ${i}`, 2])
    expect(new Map(models as [string, number][])).toEqual(
      new Map([...(named as [string, number][]), ['(further models)', 500]]),
    )
  })

  it('counts an answer whatever it says, but not a truncated one, and no connection if nothing was sent', () => {
    const { ledger } = createLedger()
    ledger.add(
      toRecords(
        [
          { endMs: 1, outcome: 'unknown', status: 500, error: 0 },
          { endMs: 2, outcome: 'unknown', status: 200, isCut: true, error: 0 },
          { endMs: 3, outcome: 'failed', status: null, flags: [], error: 0 },
        ],
        { errors: [[0, BROKEN]] },
      ),
    )
    expect(ledger.close(0).tally.within).toEqual({ sent: 3, retries: 0, ended: 3, answered: 1, succeeded: 0 })
    expect(ledger.total.answered).toBe(1)
    expect(ledger.total.connections).toEqual({ opened: 0, reused: 2 })
  })

  it('computes rates from what was sent and what ended within the measured time only', () => {
    const { ledger } = createLedger()
    ledger.endMeasuring(1_000)
    ledger.add(
      toRecords(
        [
          { endMs: 900 },
          { endMs: 1_000, outcome: 'rejected', status: 429, error: 0 },
          { endMs: 1_001 },
          { endMs: 1_002, flags: ['timed', 'retry'] },
          // Waited for a free slot, and went out when the time was over.
          { endMs: 1_500, durationMs: 499 },
        ],
        { errors: [[0, REFUSED]] },
      ),
    )
    expect(ledger.close(0).tally.within).toEqual({ sent: 1, retries: 0, ended: 1, answered: 1, succeeded: 1 })
    expect(ledger.close(1).tally.within).toEqual({ sent: 3, retries: 1, ended: 1, answered: 1, succeeded: 0 })
    expect(ledger.requests).toBe(5)
    expect(ledger.lastEndUs).toBe(1_500_000)
    // Stopping earlier shortens the measured time; nothing extends it.
    ledger.endMeasuring(2_000)
    ledger.add(toRecords([{ endMs: 1_500 }]))
    expect(ledger.close(2).tally.within).toEqual({ sent: 0, retries: 0, ended: 0, answered: 0, succeeded: 0 })
  })

  it('totals the closed seconds, and nothing of the open ones', () => {
    const { ledger } = createLedger()
    const told: TestRequest[] = [
      { endMs: 100, connectMs: 2, model: 1 },
      { endMs: 900, outcome: 'rejected', status: 429, error: 0, retryAfterMs: 500 },
      { endMs: 1_100, flags: ['timed', 'retry', 'fromCache'], contentBytes: 5_000 },
      { endMs: 1_200, outcome: 'failed', status: null, flags: [], error: 1 },
      { endMs: 2_500, model: 1, contentBytes: 5_000 },
    ]
    ledger.add(
      toRecords(told, {
        models: [
          [0, ''],
          [1, 'ocr'],
        ],
        errors: [
          [0, REFUSED],
          [1, BROKEN],
        ],
      }),
    )
    expect(ledger).toMatchObject({ requests: 5, failed: 2 })
    expect(toFigures(ledger.total)).toEqual(toFigures(new LoadTally()))

    const first = ledger.close(0).tally
    expect(toFigures(ledger.total)).toEqual(toFigures(first))
    expect(toFigures(first)).toMatchObject({
      counts: { succeeded: 1, rejected: 1 },
      answered: 2,
      connections: { opened: 1, reused: 1 },
      throttling: { answers: 1, retryAfterAnswers: 1, askedS: 0.5 },
      errors: [{ ...REFUSED, requests: 1 }],
    })

    ledger.close(1)
    ledger.close(2)
    expect(toFigures(ledger.total)).toMatchObject({
      counts: { succeeded: 3, rejected: 1, failed: 1, unknown: 0 },
      within: { sent: 5, retries: 1, ended: 5, answered: 4, succeeded: 3 },
      answered: 4,
      retried: 1,
      fromCache: 1,
      connections: { opened: 1, reused: 3 },
      groups: [
        ['size', 'up to 100 B', 3, 2, 2],
        ['size', 'up to 10 kB', 2, 0, 2],
        ['model', 'ocr', 2, 0, 2],
        ['model', "(the service's choice)", 3, 2, 2],
      ],
    })
  })

  it('tells what each end means for the callback of its request, and when that was sent', () => {
    const { ledger, ends } = createLedger()
    ledger.add(
      toRecords(
        [
          { sequence: 4, endMs: 100, durationMs: 40, flags: ['timed', 'acknowledged'] },
          { sequence: 5, endMs: 100, outcome: 'rejected', status: 400, error: 0 },
          { sequence: 6, endMs: 200, durationMs: 50, outcome: 'unknown', status: null, error: 1 },
        ],
        {
          errors: [
            [0, REFUSED],
            [1, { ...BROKEN, outcome: 'unknown' }],
          ],
        },
      ),
    )
    expect(ends).toEqual([
      [5, START_MS * 1000 + 60_000, 'given'],
      [6, START_MS * 1000 + 90_000, 'refused'],
      [7, START_MS * 1000 + 150_000, 'unknown'],
    ])
    ledger.addCallback(70_000, START_MS * 1000 + 1_200_000)
    expect(ledger.close(0).times.latency.percentiles('callback_latency')).toBeNull()
    ledger.countCallback('received', START_MS * 1000 + 1_200_000)
    ledger.countCallback('rejected', START_MS * 1000 + 2_200_000)
    const second = ledger.close(1)
    expect(second.times.latency.percentiles('callback_latency')).toMatchObject({ count: 1 })
    expect(ledger.total.callbacks).toMatchObject({ received: 1, doubled: 0, rejected: 0, overdue: 0 })
  })
})

const end = (position: number, outcome: Outcome) => toRowEnding(position, OUTCOMES.indexOf(outcome))

test('each row of a load counts with its last request', () => {
  const rows = new LoadRows(1_000_000)
  rows.take([end(0, 'succeeded'), end(1, 'rejected'), end(999_999, 'failed'), end(0, 'unknown')])
  expect(rows.counts).toEqual({ succeeded: 0, rejected: 1, failed: 1, unknown: 1 })
  rows.take([end(0, 'succeeded'), end(1, 'rejected')])
  expect(rows.counts).toEqual({ succeeded: 1, rejected: 1, failed: 1, unknown: 0 })
})
