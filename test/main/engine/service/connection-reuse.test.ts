import { expect, test, vi } from 'vitest'
import { ConnectionReuse, type ReuseEnd } from '../../../../src/main/engine/service/connection-reuse.ts'

/** When a reuse requested now is granted, on the clock of `performance.now()`. */
async function ask(reuse: ConnectionReuse, answeredMs = performance.now()): Promise<number> {
  await new Promise<void>((resolve) => reuse.wait({ onTurn: resolve }, answeredMs, performance.now()))
  return performance.now()
}

/** A reuse for an origin that keeps its connections. */
function createTrusted(onEnded?: (why: ReuseEnd) => void): ConnectionReuse {
  const reuse = new ConnectionReuse(onEnded)
  reuse.noteOpen(10)
  return reuse
}

test('the first requests to an origin wait for the time in which it might close its connections', async () => {
  const reuse = new ConnectionReuse()
  const startMs = performance.now()
  const grants = await Promise.all(Array.from({ length: 9 }, () => ask(reuse, startMs)))
  expect(Math.min(...grants.slice(0, 8)) - startMs).toBeGreaterThanOrEqual(3)
  expect((grants[8] ?? 0) - startMs).toBeGreaterThanOrEqual(9)
})

/**
 * The behaviour of one service on a clock that only the test moves, with one request after another on one
 * connection.
 */
function createOrigin(onEnded?: (why: ReuseEnd) => void) {
  const reuse = createTrusted(onEnded)
  let nowMs = 0
  let answeredMs: number | null = null
  const send = (isAnswered: boolean, tookMs = 1) => {
    const sentMs = nowMs
    nowMs += tookMs
    if (isAnswered) reuse.noteAnswer(sentMs, answeredMs)
    else reuse.noteDeath(sentMs, answeredMs, nowMs)
    answeredMs = isAnswered && !reuse.isEnded(nowMs) ? nowMs : null
  }
  return {
    reuse,
    answer: (tookMs?: number) => send(true, tookMs),
    drop: (tookMs?: number) => send(false, tookMs),
    close() {
      nowMs += 1
      if (answeredMs !== null) reuse.noteIdleClosing(answeredMs, nowMs)
      answeredMs = null
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    isEnded: () => reuse.isEnded(nowMs),
  }
}

test('connections that end at the same time count once against an origin', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const reuse = createTrusted(onEnded)
  for (let i = 0; i < 64; i += 1) reuse.noteDeath(100, 99, 110)
  for (let i = 0; i < 64; i += 1) reuse.noteIdleClosing(105, 111)
  expect(reuse.isEnded(111)).toBe(false)
  expect(onEnded).not.toHaveBeenCalled()
})

test('a service that closes after each answer gets a new connection for each request, and another chance later', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const origin = createOrigin(onEnded)
  const serve = (count: number, isClosing: boolean) => {
    for (let i = 0; i < count; i += 1) {
      origin.answer()
      if (isClosing) origin.close()
    }
  }
  serve(5, true)
  expect(origin.isEnded()).toBe(true)
  origin.pass(10_000)
  expect(origin.isEnded()).toBe(false)
  serve(5, true)
  origin.pass(10_000)
  expect(origin.isEnded()).toBe(true)
  origin.pass(10_000)
  serve(1_000, false)
  expect(origin.isEnded()).toBe(false)
  expect(onEnded.mock.calls).toEqual([['closed'], ['closed']])
  serve(20, true)
  expect(onEnded.mock.calls.at(-1)).toEqual(['closed'])
  expect(origin.isEnded()).toBe(true)
})

test.each([
  ['at once', 1],
  ['after a while', 200],
])('drops during a request, %s, do not end reuse, however many they are', (_when, tookMs) => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const origin = createOrigin(onEnded)
  for (let i = 1; i <= 10_000; i += 1) {
    if (i % 100 === 0) origin.drop(tookMs)
    else origin.answer()
  }
  expect(onEnded).not.toHaveBeenCalled()
})

test('drops end reuse for a while if only requests on used connections are dropped', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const origin = createOrigin(onEnded)
  for (let i = 0; i < 5; i += 1) {
    origin.answer()
    origin.drop(50)
  }
  expect(onEnded.mock.calls).toEqual([['dropped']])
  expect(origin.isEnded()).toBe(true)
  origin.pass(10_000)
  expect(origin.isEnded()).toBe(false)
})

test('new connections that are dropped as often as used ones do not end reuse', () => {
  const origin = createOrigin()
  for (let i = 0; i < 300; i += 1) {
    origin.answer()
    origin.answer()
    origin.drop(50)
    origin.drop(50)
  }
  expect(origin.isEnded()).toBe(false)
})

test('a service may close connections that were idle for long', () => {
  const reuse = new ConnectionReuse()
  for (let i = 0; i < 10; i += 1) reuse.noteIdleClosing(i * 60_000, (i + 1) * 60_000)
  expect(reuse.isEnded(600_000)).toBe(false)
})

test('requests wait for a close after an answer until connections have been kept, but not for drops', async () => {
  const reuse = createTrusted()
  const waitedMs = async () => {
    const nowMs = performance.now()
    return (await ask(reuse, nowMs)) - nowMs
  }
  reuse.noteDeath(100, 99, 101)
  expect(await waitedMs()).toBeGreaterThanOrEqual(9)
  for (let i = 0; i < 100; i += 1) reuse.noteAnswer(200 + i, 190 + i)
  const isAwaited = vi.spyOn(globalThis, 'setTimeout')
  await waitedMs()
  reuse.noteDeath(400, 399, 401)
  reuse.noteDeath(500, 490, 501)
  reuse.noteDeath(600, 599, 601)
  await waitedMs()
  expect(isAwaited).not.toHaveBeenCalled()
  isAwaited.mockRestore()
})

test('an unsolicited answer ends connection reuse at once', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const reuse = createTrusted(onEnded)
  reuse.noteStray()
  reuse.noteStray()
  expect(reuse.isEnded(Number.MAX_SAFE_INTEGER)).toBe(true)
  expect(onEnded.mock.calls).toEqual([['stray']])
})
