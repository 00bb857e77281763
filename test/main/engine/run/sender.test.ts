import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { SenderOptions } from '../../../../src/main/engine/run/sender.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { openReadyJournal, readRecord, readStates } from '../journal/test-journal.ts'
import {
  createHeldClient,
  createTestSender,
  endAll,
  toRefusal,
  toStatus,
  toTestRequest,
  untilHeld,
} from './test-sender.ts'
import { toJudgement } from './to-judgement.ts'

const startTakingService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

function toSized(characters: number): ReturnType<SenderOptions['toRequest']> {
  return {
    request: { method: 'POST', path: '/', body: 'x'.repeat(characters), isAnonymous: false },
    rowKeys: [],
  }
}

test('a bug in judging an answer ends the sending with that error, and the other rows are kept', async () => {
  const server = await startTakingService()
  const { sender, journal } = createTestSender({
    rows: 30,
    baseUrl: server.baseUrl,
    judge: () => {
      throw new Error('a defect in judging')
    },
  })
  await expect(sender.send()).rejects.toThrow('a defect in judging')
  // Sent rows are below the watermark and unknown; no others are.
  expect(readRecord(journal).claimed).toBe(server.requests.length)
  expect(sender.inFlight).toBe(0)
})

test('a bug in building a request ends the sending with that error; the row was not sent and is pending', async () => {
  const server = await startTakingService()
  const { sender, journal } = createTestSender({
    rows: 30,
    baseUrl: server.baseUrl,
    parts: { pace: { kind: 'closed', concurrency: 1 } },
    toRequest: ({ item }) => {
      if (item === 5) throw new Error('a defect in building')
      return toTestRequest(item)
    },
  })
  await expect(sender.send()).rejects.toThrow('a defect in building')
  expect(readStates(journal).items).toEqual({
    1: 'succeeded',
    2: 'succeeded',
    3: 'succeeded',
    4: 'succeeded',
  })
  expect(readRecord(journal).claimed).toBe(4)
})

test('a row whose mark for another try found no space is pending and counted once', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.send(503, '') })
  let answers = 0
  let failures = 0
  const journal = openReadyJournal(1, {
    onCommit: (when) => {
      if (when === 'after' || answers === 0 || failures > 0) return
      failures += 1
      throw new Error('the disk of the test')
    },
  })
  const { sender } = createTestSender({
    journal,
    baseUrl: server.baseUrl,
    judge: () => {
      answers += 1
      return toJudgement({ outcome: 'unknown', repeat: 'ambiguous', status: 503 })
    },
  })
  await expect(sender.send()).rejects.toThrow('the disk of the test')
  expect(readStates(journal)).toEqual({ items: { 1: 'pending' }, counted: { pending: 1 } })
})

test('bodies in flight are limited, and one that exceeds the limit goes alone', async () => {
  const held: (() => void)[] = []
  let mostHeld = 0
  const { sender } = createTestSender({
    rows: 20,
    parts: { pace: { kind: 'closed', concurrency: 16 } },
    bodiesMax: 1_000,
    createClient: () => createHeldClient(held),
    // Three rows of 400 reach the limit; the last row exceeds it.
    toRequest: ({ item }) => toSized(item === 20 ? 5_000 : 400),
  })
  const ended = sender.send()
  for (let ends = 0; ends < 20; ends += 1) {
    await untilHeld(held, 1)
    mostHeld = Math.max(mostHeld, held.length)
    held.shift()?.()
  }
  expect(await ended).toMatchObject({ kind: 'done' })
  expect(mostHeld).toBe(3)
})

test('released bodies wake as many lanes as there is room for', async () => {
  const held: (() => void)[] = []
  const { sender } = createTestSender({
    rows: 12,
    parts: { pace: { kind: 'closed', concurrency: 10 } },
    bodiesMax: 1_000,
    createClient: () => createHeldClient(held),
    toRequest: ({ item }) => toSized(item === 1 ? 5_000 : 10),
  })
  const ended = sender.send()
  await untilHeld(held, 1)
  expect(held).toHaveLength(1)
  held.shift()?.()
  await untilHeld(held, 10)
  expect(held).toHaveLength(10)
  expect(await endAll(held, ended)).toMatchObject({ kind: 'done' })
})

test('the cells of a row are released once its request is built', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held: (() => void)[] = []
  const cells: WeakRef<string[]>[] = []
  const { sender } = createTestSender({
    rows: 4,
    createClient: () => createHeldClient(held),
    toRequest: ({ item, rows }) => {
      for (const row of rows) cells.push(new WeakRef(row.cells))
      return toTestRequest(item)
    },
  })
  const ended = sender.send()
  await untilHeld(held, 4)
  collect()
  expect(cells.map((ref) => ref.deref())).toEqual([undefined, undefined, undefined, undefined])
  await endAll(held, ended)
})

test('rows keep their retries while the service is away, and one request at a time probes it', async () => {
  const open: number[] = []
  let inFlight = 0
  let sent = 0
  const { sender, journal } = createTestSender({
    rows: 100,
    parts: { pace: { kind: 'closed', concurrency: 16 }, retry: { limit: 1, baseMs: 1, maxMs: 1 } },
    createClient: () => {
      const held: (() => void)[] = []
      const client = createHeldClient(held)
      return {
        ...client,
        send: (request, onEnd) => {
          sent += 1
          inFlight += 1
          open.push(inFlight)
          // It is available for one request, and refuses the next 16.
          const isRefused = sent > 1 && sent <= 17
          client.send(request, (exchange) => {
            inFlight -= 1
            onEnd(isRefused ? toRefusal() : exchange)
          })
          setImmediate(() => held.shift()?.())
        },
      }
    },
  })
  expect(await sender.send()).toMatchObject({ kind: 'done' })
  expect(readStates(journal).counted).toEqual({ succeeded: 100 })
  expect(journal.counters.get('request', 'failed')).toBe(16)
  // A probe that is refused, one that is answered, and then more and more.
  expect(open.slice(15, 20)).toEqual([expect.any(Number), 1, 1, 1, 2])
})

const LAST_TRIES = [
  { what: 'then cannot be sent', last: toRefusal(), outcome: 'failed' },
  { what: 'is then refused for the pace', last: toStatus(429), outcome: 'rejected' },
  { what: 'is then refused for the key', last: toStatus(401), outcome: 'rejected' },
] as const

for (const { what, last, outcome } of LAST_TRIES) {
  test(`a row that may have been accepted and ${what} is unknown`, async () => {
    const exchanges: Exchange[] = [toStatus(503), last]
    const { sender, journal } = createTestSender({
      rows: 1,
      parts: { retry: { limit: 1, baseMs: 1, maxMs: 1 } },
      createClient: () => ({
        send: (_, onEnd) => {
          const exchange = exchanges.shift()
          if (exchange !== undefined) setImmediate(() => onEnd(exchange))
        },
        retire: () => {},
        destroy: async () => {},
      }),
    })
    expect(await sender.send()).toMatchObject({ kind: 'done' })
    expect(readStates(journal)).toEqual({ items: { 1: 'unknown' }, counted: { unknown: 1 } })
    const { message } = journal.db.prepare('SELECT message FROM result').get() ?? {}
    expect(message).toMatch(/; an earlier try may have been taken$/)
    const tries = journal.db.prepare('SELECT outcome FROM attempt ORDER BY number').all()
    expect(tries.map((attempt) => attempt['outcome'])).toEqual(['unknown', outcome])
  })
}
