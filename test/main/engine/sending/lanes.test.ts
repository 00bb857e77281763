import PQueue from 'p-queue'
import { expect, onTestFinished, test } from 'vitest'
import { type Job, Lanes } from '../../../../src/main/engine/sending/lanes.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import type { ServiceClient } from '../../../../src/main/engine/service/service-client.ts'

const EXCHANGE: Exchange = {
  kind: 'breakdown',
  code: 'TEST',
  message: '',
  sent: true,
  status: null,
  timings: { sentAtUs: 0, durationUs: 0, waitingUs: null, connectUs: null, tlsUs: null },
}

interface TestLook {
  queue?: PQueue
  restMs?: number
}

/** Lanes over clients that answer on the test's command, and a supply of jobs. */
function createTestLanes(concurrency: number, jobs: number, { queue, restMs }: TestLook = {}) {
  const open: { client: number; end: () => void }[] = []
  const state = {
    left: jobs,
    taken: 0,
    asked: 0,
    clients: 0,
    destroyed: 0,
    ended: 0,
    mostOpen: 0,
    failsAt: 0,
  }
  const errors: string[] = []
  const lanes = new Lanes({
    concurrency,
    ...(queue === undefined ? {} : { queue }),
    createClient: (): ServiceClient => {
      state.clients += 1
      const client = state.clients
      return {
        send: (_, onEnd) => {
          open.push({ client, end: () => onEnd(EXCHANGE) })
          state.mostOpen = Math.max(state.mostOpen, open.length)
        },
        retire: () => {},
        destroy: async () => {
          state.destroyed += 1
        },
      }
    },
    take: (): Job | null => {
      state.asked += 1
      if (state.left === 0) return null
      state.left -= 1
      state.taken += 1
      return {
        ...(restMs === undefined ? {} : { restMs }),
        request: { method: 'GET', path: '/', body: null, isAnonymous: true },
        onEnd: () => {
          state.ended += 1
          if (state.ended === state.failsAt) throw new Error(`job ${state.ended}`)
        },
      }
    },
    onError: (error) => errors.push(String(error)),
  })
  onTestFinished(async () => {
    const closed = lanes.close()
    while (open.length > 0) open.shift()?.end()
    await closed
  })
  /** Ends the oldest request in flight; returns the client that carried it. */
  const endOne = (): number => {
    const request = open.shift()
    request?.end()
    return request?.client ?? 0
  }
  return { lanes, state, errors, open, endOne }
}

test('lanes take jobs only when they are open and woken', async () => {
  const { lanes, state } = createTestLanes(3, 10)
  lanes.wake(3)
  expect(state.asked).toBe(0)
  lanes.open()
  expect(state.asked).toBe(0)
  lanes.wake(2)
  await Promise.resolve()
  expect([state.taken, lanes.inFlight]).toEqual([2, 2])
})

test('requests in flight never exceed the concurrency, however often lanes are woken', async () => {
  const { lanes, state, open, endOne } = createTestLanes(3, 50)
  lanes.open()
  for (let i = 0; i < 10; i += 1) lanes.wake(10)
  await Promise.resolve()
  expect([open.length, lanes.inFlight, state.clients]).toEqual([3, 3, 3])
  while (state.ended < 40) endOne()
  expect([open.length, state.mostOpen, state.clients]).toEqual([3, 3, 3])
})

test('the queue alone limits the requests in flight', async () => {
  const unlimited = createTestLanes(3, 50, { queue: new PQueue() })
  unlimited.lanes.open()
  unlimited.lanes.wake(50)
  expect([unlimited.open.length, unlimited.lanes.inFlight]).toEqual([50, 50])
  const narrow = createTestLanes(50, 50, { queue: new PQueue({ concurrency: 2 }) })
  narrow.lanes.open()
  narrow.lanes.wake(50)
  expect([narrow.open.length, narrow.lanes.inFlight]).toEqual([2, 2])
})

test('lanes that are woken while all slots are taken leave nothing in the queue', async () => {
  const queue = new PQueue({ concurrency: 3 })
  const { lanes, state, open, endOne } = createTestLanes(3, 8, { queue })
  lanes.open()
  lanes.wake(50)
  lanes.wake(50)
  expect([open.length, queue.size]).toEqual([3, 0])
  while (open.length > 0) endOne()
  await settle()
  expect([state.ended, lanes.inFlight, queue.size, queue.pending]).toEqual([8, 0, 0, 0])
})

test('a lane that has just found nothing starts again if it is woken at the same moment', async () => {
  const { lanes, state, open, endOne } = createTestLanes(1, 1)
  lanes.open()
  lanes.wake(1)
  endOne()
  state.left = 1
  lanes.wake(1)
  await settle()
  expect([open.length, state.taken, state.clients]).toEqual([1, 2, 1])
})

test('a lane that rests after a job keeps its slot, and is not waited for at the end', async () => {
  const { lanes, state, open, endOne } = createTestLanes(2, 50, { restMs: 3_600_000 })
  lanes.open()
  lanes.wake(50)
  endOne()
  lanes.wake(50)
  await settle()
  expect([open.length, state.taken, lanes.inFlight, lanes.busy]).toEqual([1, 2, 1, 2])
  endOne()
  await lanes.close()
  expect([state.taken, lanes.busy]).toEqual([2, 0])
})

test('zero concurrency stops sending, and raising it continues', async () => {
  const { lanes, state, open, endOne } = createTestLanes(2, 50)
  lanes.open()
  lanes.wake(2)
  lanes.setConcurrency(0)
  while (open.length > 0) endOne()
  await settle()
  lanes.wake(5)
  await settle()
  expect([open.length, state.taken, lanes.concurrency]).toEqual([0, 2, 0])
  lanes.setConcurrency(1)
  await settle()
  expect([open.length, state.taken, lanes.concurrency]).toEqual([1, 3, 1])
})

test('a lane continues on its own while there are jobs, over its own connection', async () => {
  const { lanes, state, endOne } = createTestLanes(1, 3)
  lanes.open()
  lanes.wake(1)
  await Promise.resolve()
  expect([endOne(), endOne(), endOne(), state.ended, lanes.inFlight]).toEqual([1, 1, 1, 3, 0])
})

test('the lane that waited least is woken first, so that a slow pace uses few connections', async () => {
  const { lanes, state, open, endOne } = createTestLanes(4, 4)
  lanes.open()
  lanes.wake(4)
  await Promise.resolve()
  while (open.length > 0) endOne()
  await settle()
  const carriers: number[] = []
  for (let i = 0; i < 5; i += 1) {
    state.left = 1
    lanes.wake(1)
    carriers.push(endOne())
    await settle()
  }
  expect(carriers).toEqual([4, 4, 4, 4, 4])
})

test('waking asks no lane twice in vain', async () => {
  const { lanes, state } = createTestLanes(2, 0)
  lanes.open()
  lanes.wake(2)
  await Promise.resolve()
  state.asked = 0
  lanes.wake(2)
  expect(state.asked).toBeLessThanOrEqual(2)
})

test('added concurrency is used at once', async () => {
  const { lanes, open } = createTestLanes(2, 50)
  lanes.open()
  lanes.wake(2)
  await Promise.resolve()
  lanes.setConcurrency(5)
  await Promise.resolve()
  expect([open.length, lanes.concurrency]).toEqual([5, 5])
})

test('less concurrency ends lanes after their current job', async () => {
  const { lanes, state, open, endOne } = createTestLanes(5, 50)
  lanes.open()
  lanes.wake(5)
  await Promise.resolve()
  lanes.setConcurrency(2)
  expect(open.length).toBe(5)
  for (let i = 0; i < 3; i += 1) endOne()
  await settle()
  expect([open.length, state.taken]).toEqual([2, 5])
  endOne()
  await settle()
  expect([open.length, state.taken]).toEqual([2, 6])
})

test('less concurrency ends waiting lanes first, and more of it reuses their connections', async () => {
  const { lanes, state, open, endOne } = createTestLanes(4, 4)
  lanes.open()
  lanes.wake(4)
  await Promise.resolve()
  while (open.length > 0) endOne()
  lanes.setConcurrency(1)
  state.left = 20
  lanes.wake(4)
  await settle()
  expect(open.length).toBe(1)
  lanes.setConcurrency(4)
  await settle()
  expect([open.length, state.clients, state.mostOpen]).toEqual([4, 4, 4])
})

test('closing waits for requests in flight, and takes nothing more', async () => {
  const { lanes, state, open, endOne } = createTestLanes(3, 50)
  lanes.open()
  lanes.wake(3)
  await Promise.resolve()
  let isClosed = false
  const closed = lanes.close().then(() => {
    isClosed = true
  })
  await settle()
  expect(isClosed).toBe(false)
  while (open.length > 0) endOne()
  await closed
  expect([state.taken, state.ended, lanes.inFlight]).toEqual([3, 3, 0])
  lanes.wake(3)
  expect(state.taken).toBe(3)
})

test('reopened lanes use their old connections; destroying closes each of them', async () => {
  const { lanes, state, open, endOne } = createTestLanes(2, 2)
  lanes.open()
  lanes.wake(2)
  await Promise.resolve()
  while (open.length > 0) endOne()
  await lanes.close()
  state.left = 2
  lanes.open()
  lanes.wake(2)
  await settle()
  expect([open.length, state.clients]).toEqual([2, 2])
  while (open.length > 0) endOne()
  await lanes.close()
  await lanes.destroy()
  expect(state.destroyed).toBe(2)
})

test('an error in a job is reported and ends only its lane; the lanes can still be closed', async () => {
  const { lanes, state, errors, open, endOne } = createTestLanes(2, 50)
  lanes.open()
  lanes.wake(2)
  await Promise.resolve()
  state.failsAt = 1
  expect(endOne).not.toThrow()
  expect([errors, open.length, lanes.inFlight]).toEqual([['Error: job 1'], 1, 1])
  endOne()
  expect([open.length, lanes.inFlight]).toEqual([1, 1])
  const closed = lanes.close()
  endOne()
  await closed
  expect(lanes.inFlight).toBe(0)
})

/** Lets the queue's own promises settle. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
