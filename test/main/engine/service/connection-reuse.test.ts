import { expect, test, vi } from 'vitest'
import { ConnectionReuse, type ReuseEnd } from '../../../../src/main/engine/service/connection-reuse.ts'

/** When a reuse that is asked for now is granted, on the clock of `performance.now()`. */
async function ask(reuse: ConnectionReuse, answeredMs = performance.now()): Promise<number> {
  await new Promise<void>((resolve) => reuse.wait({ onTurn: resolve }, answeredMs, performance.now()))
  return performance.now()
}

/** A reuse of an origin that keeps its connections. */
function createTrusted(onEnded?: (why: ReuseEnd) => void): ConnectionReuse {
  const reuse = new ConnectionReuse(onEnded)
  reuse.noteOpen(10)
  return reuse
}

test('the first requests of an origin wait until it could have closed its connections', async () => {
  const reuse = new ConnectionReuse()
  const startMs = performance.now()
  const grants = await Promise.all(Array.from({ length: 9 }, () => ask(reuse, startMs)))
  expect(Math.min(...grants.slice(0, 8)) - startMs).toBeGreaterThanOrEqual(3)
  expect((grants[8] ?? 0) - startMs).toBeGreaterThanOrEqual(9)
})

test('connections that die at the same time count once against an origin, and further closings end reuse', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const reuse = createTrusted(onEnded)
  const { epoch } = reuse
  for (let i = 0; i < 64; i += 1) reuse.noteDeath(epoch)
  expect(reuse.isEnded).toBe(false)
  reuse.noteDeath(reuse.epoch)
  reuse.noteIdleClosing(3)
  expect(reuse.isEnded).toBe(false)
  reuse.noteIdleClosing(3)
  reuse.noteIdleClosing(3)
  expect(reuse.isEnded).toBe(true)
  expect(onEnded.mock.calls).toEqual([['closed']])
})

test('an origin that lost a request is trusted again after 1,000 answers', () => {
  const reuse = createTrusted()
  for (let round = 0; round < 10; round += 1) {
    reuse.noteDeath(reuse.epoch)
    reuse.noteDeath(reuse.epoch)
    for (let i = 0; i < 1_000; i += 1) reuse.noteAnswer()
  }
  expect(reuse.isEnded).toBe(false)
})

test('a service may close connections that have idled for long, and those of an origin that is trusted', () => {
  const untried = new ConnectionReuse()
  const trusted = createTrusted()
  for (let i = 0; i < 10; i += 1) {
    untried.noteIdleClosing(60_000)
    trusted.noteIdleClosing(1)
  }
  expect([untried.isEnded, trusted.isEnded]).toEqual([false, false])
})

test('an unsolicited answer ends connection reuse at once', () => {
  const onEnded = vi.fn<(why: ReuseEnd) => void>()
  const reuse = createTrusted(onEnded)
  reuse.noteStray()
  reuse.noteStray()
  expect(reuse.isEnded).toBe(true)
  expect(onEnded.mock.calls).toEqual([['stray']])
})
