import { describe, expect, it } from 'vitest'
import { LoadWriter, readLoadGroups } from '../../../../src/main/engine/journal/load-record.ts'
import { LoadLedger, LoadRows } from '../../../../src/main/engine/load/load-ledger.ts'
import { readLoadSeconds, toLoadSecond } from '../../../../src/main/engine/load/load-results.ts'
import { LoadSeconds } from '../../../../src/main/engine/load/load-seconds.ts'
import type { SecondHealth } from '../../../../src/main/engine/load/load-threads.ts'
import { toStreamedSecond } from '../../../../src/main/engine/load/stream-second.ts'
import { loadSchema } from '../../../../src/shared/load/load.ts'
import { BUCKET_BOUNDS_MS } from '../../../../src/shared/load/streamed-second.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openReadyJournal } from '../journal/test-journal.ts'
import { toRecords } from './load-records.ts'

const REFUSED = { outcome: 'rejected', status: 429, errorCode: 'RATE_LIMITED', message: 'slow down' } as const

function toHealth(second: number, parts: Partial<SecondHealth> = {}): SecondHealth {
  return {
    second,
    sent: 10,
    retries: 0,
    dropped: 0,
    behind: 0,
    inFlightMax: 2,
    eventLoopMaxUs: 1_000,
    gcPauses: 0,
    gcMaxUs: 0,
    gcUs: 0,
    ...parts,
  }
}

function createSeconds(workers = 1) {
  const journal = openReadyJournal(3)
  const load = loadSchema.parse({
    pace: { kind: 'open', ratePerSecond: 20 },
    durationMs: 20_000,
    workers,
  })
  const ledger = new LoadLedger(() => {})
  const writer = new LoadWriter(journal)
  const { counters } = journal
  const seconds = new LoadSeconds({ load, ledger, rows: new LoadRows(3), writer, counters })
  seconds.begin(1_700_000_000)
  return {
    ledger,
    seconds,
    journal,
    close(last: number) {
      seconds.closeUpTo(last)
      journal.transact('process', () => seconds.write())
      seconds.committed()
    },
    read: () => [...readLoadSeconds(journal.db)].flat().map(toLoadSecond),
  }
}

describe('the seconds of a load', () => {
  it('are closed when they are over and every thread has reported them', () => {
    const { seconds } = createSeconds(2)
    expect(seconds.lastOver(2_500)).toBe(-1)
    seconds.noteHealth(0, toHealth(0))
    seconds.noteHealth(0, toHealth(1))
    expect(seconds.lastOver(2_500)).toBe(-1)
    seconds.noteHealth(1, toHealth(0))
    expect(seconds.lastOver(2_500)).toBe(0)
    seconds.noteHealth(1, toHealth(1))
    expect(seconds.lastOver(1_999)).toBe(0)
    expect(seconds.lastOver(2_000)).toBe(1)
  })

  it('do not wait for a thread that has ended, nor for ever for a silent one', () => {
    const { seconds } = createSeconds(2)
    seconds.noteHealth(0, toHealth(0))
    seconds.noteEnd(1)
    expect(seconds.lastOver(5_000)).toBe(0)
    expect(createSeconds().seconds.lastOver(30_000)).toBe(19)
  })

  it('sum what all threads sent, scheduled, dropped and measured', () => {
    const { seconds, ledger, close, read } = createSeconds(2)
    ledger.add(
      toRecords([
        { endMs: 500, durationMs: 20, lagMs: 1 },
        { endMs: 1_700, durationMs: 30, lagMs: 1 },
      ]),
    )
    for (const second of [0, 1]) {
      seconds.noteHealth(0, toHealth(second))
      seconds.noteHealth(1, toHealth(second, { sent: 9, dropped: 1 }))
    }
    close(1)
    const [first, last] = read()
    expect(first).toMatchObject({
      second: 0,
      scheduled: 20,
      counts: { sent: 19, succeeded: 1 },
      dropped: 1,
      inFlight: 4,
      limited: false,
    })
    expect(last?.latencyMs.http_req_duration).toMatchObject({ count: 1 })
    expect(seconds.total.percentiles('http_req_duration')?.count).toBe(2)
    expect(seconds).toMatchObject({ count: 2, sent: 38, dropped: 2, sentRecently: 19, limited: 0 })
  })

  it('separate start lag caused by the limit in flight from that of this machine', () => {
    const { seconds, ledger, close } = createSeconds()
    ledger.add(
      toRecords([
        { endMs: 500, lagMs: 900, flags: ['timed', 'waited'] },
        { endMs: 600, lagMs: 40 },
        { endMs: 1_500, lagMs: 20 },
      ]),
    )
    for (const second of [0, 1]) seconds.noteHealth(0, toHealth(second))
    close(1)
    expect(seconds.total.percentiles('start_lag')?.max).toBeGreaterThan(800)
    expect(seconds.ownLagMaxUs / 40_000).toBeCloseTo(1, 2)
  })

  it('are written in full once the disk accepts them again', () => {
    const { seconds, ledger, journal, close, read } = createSeconds()
    const refused = { errors: [[0, REFUSED] as [number, typeof REFUSED]] }
    ledger.add(toRecords([{ endMs: 500 }, { endMs: 600, outcome: 'rejected', error: 0 }], refused))
    seconds.closeUpTo(0)
    const fails = () =>
      journal.transact('process', () => {
        seconds.write()
        throw new Error('the disk is full')
      })
    expect(fails).toThrow('the disk is full')
    ledger.add(toRecords([{ endMs: 1_500 }, { endMs: 1_600, outcome: 'rejected', error: 0 }]))
    close(1)
    expect(read().map(({ second, counts }) => [second, counts.succeeded, counts.rejected])).toEqual([
      [0, 1, 1],
      [1, 1, 1],
    ])
    const counted = (kind: 'request' | 'state' | 'error') =>
      Object.fromEntries(journal.counters.entries(kind))
    expect(counted('request')).toMatchObject({ succeeded: 2, rejected: 2 })
    expect(counted('state')).toEqual({ rejected: 1 })
    expect(Object.values(counted('error'))).toEqual([2])
    const stored = journal.db.prepare("SELECT value, n FROM facet WHERE kind = 'request' AND n <> 0").all()
    expect(stored.map(({ value, n }) => [value, n])).toEqual([
      ['rejected', 2],
      ['succeeded', 2],
    ])
    expect(readLoadGroups(journal.db).map(({ requests }) => requests)).toEqual([4, 4])
  })

  it('have nothing scheduled after the load was ended early', () => {
    const { seconds, close, read } = createSeconds()
    seconds.endSchedule(1_499)
    close(2)
    expect(read().map(({ scheduled }) => scheduled)).toEqual([20, 10, 0])

    const early = createSeconds()
    early.seconds.endSchedule(-500)
    early.close(1)
    expect(early.read().map(({ scheduled }) => scheduled)).toEqual([0, 0])
  })

  it('exclude the warm-up', () => {
    const { seconds, close } = createSeconds()
    seconds.noteHealth(0, toHealth(-2, { eventLoopMaxUs: 900_000 }))
    seconds.noteHealth(0, toHealth(0))
    close(0)
    expect(seconds).toMatchObject({ sent: 10, limited: 0 })
  })

  it('include a stall that is reported after its second was closed', () => {
    const { seconds, close, read } = createSeconds()
    close(0)
    seconds.noteHealth(0, toHealth(0, { eventLoopMaxUs: 1_200_000 }))
    seconds.noteHealth(0, toHealth(1))
    close(1)
    expect(read().map(({ eventLoopMaxMs, counts }) => [eventLoopMaxMs, counts.sent])).toEqual([
      [0, 0],
      [1_200, 20],
    ])
  })

  it('with one limited second make a limited load only if its latencies show it', () => {
    onlyInLongForm()
    const { seconds, ledger, close, read } = createSeconds()
    const addSecond = (second: number, unreadMs: number) => {
      const endMs = second * 1000 + 500
      ledger.add(
        toRecords(Array.from({ length: 100 }, () => ({ endMs, durationMs: 20 + unreadMs, unreadMs }))),
      )
      seconds.noteHealth(0, toHealth(second))
      close(second)
    }
    addSecond(0, 30)
    expect(seconds.limitedReasons).toEqual([
      '30.0 ms of the 50.0 ms of http_req_duration p50 may be delays of this machine.',
      'Without delays of this machine, up to 150 % more requests a second may have gone out.',
    ])
    for (let second = 1; second <= 150; second += 1) addSecond(second, 0)
    expect(read().flatMap(({ limited, second }) => (limited ? [second] : []))).toEqual([0])
    expect(seconds.limited).toBe(1)
    expect(seconds.limitedReasons).toEqual([])
    expect(seconds.behind).toBe(0)
  })

  it('are counted separately if too little of the schedule went out', () => {
    const { seconds, close, read } = createSeconds()
    for (const [second, behind] of [2, 3, 20].entries()) {
      seconds.noteHealth(0, toHealth(second, { behind }))
      close(second)
    }
    expect(read().map(({ limited }) => limited)).toEqual([false, true, true])
    expect(seconds.behind).toBe(2)
  })
})

describe('a second as it is told', () => {
  it('counts what is exactly at the bound of a bucket in it', () => {
    const { ledger, seconds } = createSeconds()
    ledger.add(toRecords(BUCKET_BOUNDS_MS.map((durationMs) => ({ endMs: 500, durationMs }))))
    seconds.closeUpTo(0)
    const [closed] = seconds.unwritten
    if (closed === undefined) throw new Error('no second was closed')
    const { buckets } = toStreamedSecond(closed, { runId: 'run', startMs: 0 })
    expect(buckets.http_req_duration?.counts).toEqual([...BUCKET_BOUNDS_MS.map(() => 1), 0])
  })
})
