import { describe, expect, it } from 'vitest'
import {
  type Clock,
  createEventGates,
  type EventSource,
  streamEvents,
} from '../../../src/main/bridge/event-stream.ts'

/** A clock that stands still until it is moved. */
function createStillClock(): Clock & { advance(ms: number): Promise<void> } {
  let atMs = 0
  let waiting: { untilMs: number; resolve: () => void }[] = []
  return {
    now: () => atMs,
    wait: (ms) => new Promise((resolve) => waiting.push({ untilMs: atMs + ms, resolve })),
    async advance(ms) {
      atMs += ms
      const due = waiting.filter(({ untilMs }) => untilMs <= atMs)
      waiting = waiting.filter(({ untilMs }) => untilMs > atMs)
      for (const { resolve } of due) resolve()
      await settle()
    },
  }
}

/** Lets every promise that can settle settle. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

function createSource<T>(first: T | null) {
  let value = first
  const listeners = new Set<() => void>()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  const source: EventSource<T> = {
    read: () => value,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ended: ended.promise,
  }
  const tell = (next: T) => {
    value = next
    for (const listener of listeners) listener()
  }
  return { source, tell, end: ended.resolve, fail: ended.reject, listeners }
}

function open<T>(first: T | null) {
  const clock = createStillClock()
  const gates = createEventGates()
  const over = new AbortController()
  const { source, ...rest } = createSource(first)
  const options = { clock, gates, streamId: 's', intervalMs: 100, signal: over.signal }
  const told: T[] = []
  let state: 'going on' | 'ended' | 'failed' = 'going on'
  // Reads as the transport does: asks for the next event once the previous one is sent.
  const reading = (async () => {
    for await (const { value } of streamEvents(source, options)) told.push(value)
  })().then(
    () => {
      state = 'ended'
    },
    () => {
      state = 'failed'
    },
  )
  const see = async () => {
    gates.noteSeen('s', told.length)
    await settle()
  }
  return { ...rest, clock, over, told, see, reading, state: () => state }
}

describe('an event stream', () => {
  it('sends the newest snapshot at once, then at most one per interval, skipping those between', async () => {
    const { clock, tell, told, see } = open<number>(0)
    await settle()
    expect(told).toEqual([0])
    await see()
    for (let value = 1; value <= 1000; value += 1) {
      tell(value)
      if (value % 10 === 0) await clock.advance(1)
      await see()
    }
    // A thousand snapshots in a tenth of a second become one event, the newest.
    expect(told).toEqual([0, 1000])
    tell(1001)
    await clock.advance(99)
    expect(told).toHaveLength(2)
    await clock.advance(1)
    expect(told).toEqual([0, 1000, 1001])
  })

  it('buffers nothing for a reader that has not read the previous event, then sends the newest', async () => {
    const { clock, tell, told, see } = open<number>(0)
    await settle()
    for (let value = 1; value <= 50; value += 1) {
      tell(value)
      await clock.advance(100)
    }
    expect(told).toEqual([0])
    await see()
    expect(told).toEqual([0, 50])
    await see()
    await clock.advance(1000)
    expect(told).toEqual([0, 50])
  })

  it('sends the last snapshot before it ends', async () => {
    const { clock, tell, told, see, end, state } = open<string>('first')
    await settle()
    tell('last')
    end()
    await see()
    await clock.advance(100)
    expect(told).toEqual(['first', 'last'])
    expect(state()).toBe('going on')
    await see()
    expect(state()).toBe('ended')
  })

  it("ends with its source's error, after the last snapshot", async () => {
    const { clock, tell, told, see, fail, state } = open<string>('first')
    await settle()
    tell('last')
    fail(new Error('the disk is full'))
    await see()
    await clock.advance(100)
    await see()
    expect(told).toEqual(['first', 'last'])
    expect(state()).toBe('failed')
  })

  it('waits for the first snapshot', async () => {
    const { tell, told } = open<string>(null)
    await settle()
    expect(told).toEqual([])
    tell('there')
    await settle()
    expect(told).toEqual(['there'])
  })

  it('releases its source when the window is gone, whatever it waits for', async () => {
    const { over, listeners, reading, told } = open<number>(0)
    await settle()
    expect([told, listeners.size]).toEqual([[0], 1])
    over.abort()
    await reading
    expect(listeners.size).toBe(0)
  })
})

describe('event gates', () => {
  it('open for events that were seen, and ignore unknown streams and events', async () => {
    const gates = createEventGates()
    let isOpen = false
    gates.awaitSeen('a', 2, new AbortController().signal).then(() => {
      isOpen = true
    })
    gates.noteSeen('b', 2)
    gates.noteSeen('a', 1)
    await settle()
    expect(isOpen).toBe(false)
    gates.noteSeen('a', 2)
    await settle()
    expect(isOpen).toBe(true)
  })
})
