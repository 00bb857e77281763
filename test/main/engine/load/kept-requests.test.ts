import { describe, expect, it } from 'vitest'
import { RequestKeeper, SampleSlots } from '../../../../src/main/engine/load/kept-requests.ts'
import type { KeptRequest } from '../../../../src/main/engine/load/load-threads.ts'
import type { LoadSample } from '../../../../src/shared/load/load-report.ts'
import { createDraw } from '../../../helpers/seeded-draw.ts'

function toSample(row: number, outcome: KeptRequest['sample']['outcome'] = 'succeeded') {
  return {
    sentMs: row,
    row,
    postId: `run-1-${row}`,
    outcome,
    status: 200,
    errorCode: null,
    message: null,
    taskId: null,
    request: '{}',
    response: '{}',
    httpReqDurationMs: 1,
    httpReqWaitingMs: 1,
    httpReqConnectingMs: null,
    httpReqTlsHandshakingMs: null,
    responseTimeMs: null,
    startLagMs: null,
  } satisfies KeptRequest['sample']
}

interface Load {
  sampleSize: number
  errorLimit?: number
  requests: number
  threads?: number
  isError?: (row: number) => boolean
}

/** The kept requests of a load by slot, and how many requests were built in full for them. */
function keep({ sampleSize, errorLimit = 0, requests, threads = 1, isError = () => false }: Load, seed = 1) {
  const slots = new SampleSlots({ sampleSize, errorLimit })
  const kept = new Map<number, LoadSample>()
  let handedOver = 0
  const keepers = Array.from(
    { length: threads },
    (_, index) => new RequestKeeper({ sampleSize, errorLimit }, createDraw(seed * 100 + index)),
  )
  for (let row = 0; row < requests; row += 1) {
    const outcome = isError(row) ? 'rejected' : 'succeeded'
    const keeper = keepers[row % threads]
    const chosen = keeper?.consider(outcome) ?? null
    if (chosen !== null) keeper?.keep(chosen, toSample(row, outcome))
    // As in a load, requests are handed over in batches and written in batches.
    if (row % 97 !== 0 && row !== requests - 1) continue
    for (const keeper of keepers) {
      const part = keeper.take()
      handedOver += part.length
      slots.add(part)
    }
    for (const [slot, sample] of slots.changed) kept.set(slot, sample)
    slots.committed()
  }
  return { kept, handedOver }
}

describe('requests that are kept whole', () => {
  it('are all requests if there are few', () => {
    const { kept } = keep({ sampleSize: 50, requests: 20 })
    expect([...kept.values()].map(({ row }) => row)).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect([...kept.values()].every((sample) => sample.kept === 'sample')).toBe(true)
  })

  it.each([1, 3])('are as many as the plan says, however many more there were (%i threads)', (threads) => {
    const { kept, handedOver } = keep({ sampleSize: 100, requests: 20_000, threads })
    expect(kept.size).toBe(100)
    expect(new Set([...kept.values()].map(({ row }) => row)).size).toBe(100)
    // Nearly all are excluded before they are built: the transferred data does not grow with the load.
    expect(handedOver).toBeLessThan(100 * threads * 12)
  })

  it('are sampled evenly from the whole load', () => {
    const tenths = new Array<number>(10).fill(0)
    for (let seed = 1; seed <= 40; seed += 1) {
      for (const { row } of keep({ sampleSize: 50, requests: 2_000, threads: 2 }, seed).kept.values()) {
        const tenth = Math.floor(row / 200)
        tenths[tenth] = (tenths[tenth] ?? 0) + 1
      }
    }
    expect(tenths.reduce((sum, n) => sum + n, 0)).toBe(2_000)
    // 200 from each tenth, with a standard deviation of less than 14.
    for (const n of tenths) expect(Math.abs(n - 200)).toBeLessThan(60)
  })

  it('include the first errors, up to their limit, in addition to the sample', () => {
    const isError = (row: number) => row % 10 === 0
    const { kept } = keep({ sampleSize: 5, errorLimit: 7, requests: 1_000, isError })
    const errors = [...kept].filter(([slot]) => slot >= 5)
    expect(errors.map(([slot, { row, kept: why }]) => [slot, row, why])).toEqual(
      Array.from({ length: 7 }, (_, i) => [5 + i, i * 10, 'error']),
    )
    expect(kept.size).toBe(12)
  })

  it('are none if the plan wants none', () => {
    expect(keep({ sampleSize: 0, requests: 500, isError: () => true })).toEqual({
      kept: new Map(),
      handedOver: 0,
    })
  })
})
