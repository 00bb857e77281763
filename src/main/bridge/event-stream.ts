import { setTimeout as wait } from 'node:timers/promises'

/** Something that has a newest picture, such as a run's snapshot. */
export interface EventSource<T> {
  /** The newest picture; null before the first. */
  read(): T | null
  /** Calls the listener at each new picture; returns a function that stops this. */
  onChange(listener: () => void): () => void
  /** Settles after the last picture; rejects with the error that ends the stream. */
  readonly ended: Promise<unknown>
}

/** How events are sent over a stream. */
export interface EventStreamOptions {
  clock: Clock
  gates: EventGates
  streamId: string
  /** Least time between two events, milliseconds. */
  intervalMs: number
  /** Aborts when the window closes or cancels the stream. */
  signal: AbortSignal
}

/** One event; sequences count up from 1. */
export interface SequencedEvent<T> {
  sequence: number
  value: T
}

/**
 * Yields the newest picture at once and then whenever there is a new one, never two within `intervalMs`, and the next
 * only after the one before was seen: pictures in between are skipped, none is queued. The last picture is always sent.
 */
export async function* streamEvents<T>(
  source: EventSource<T>,
  { clock, gates, streamId, intervalMs, signal }: EventStreamOptions,
): AsyncGenerator<SequencedEvent<T>, void> {
  let wake = Promise.withResolvers<void>()
  let isNew = source.read() !== null
  let isOver = false
  const stopListening = source.onChange(() => {
    isNew = true
    wake.resolve()
  })
  const noteEnd = () => {
    isOver = true
    wake.resolve()
  }
  const wakeUp = () => wake.resolve()
  source.ended.then(noteEnd, noteEnd)
  signal.addEventListener('abort', wakeUp)
  let sequence = 0
  let lastAt = Number.NEGATIVE_INFINITY
  try {
    while (!signal.aborted) {
      if (!isNew && !isOver) {
        await wake.promise
        wake = Promise.withResolvers<void>()
        continue
      }
      const dueInMs = lastAt + intervalMs - clock.now()
      if (isNew && dueInMs > 0) {
        await clock.wait(dueInMs, signal)
        continue
      }
      const value = isNew ? source.read() : null
      isNew = false
      if (value !== null) {
        lastAt = clock.now()
        sequence += 1
        yield { sequence, value }
        await gates.awaitSeen(streamId, sequence, signal)
      } else if (isOver) {
        await source.ended
        return
      }
    }
  } finally {
    stopListening()
    signal.removeEventListener('abort', wakeUp)
  }
}

/** Makes the gates of one connection; all start open. */
export function createEventGates() {
  const waiting = new Map<string, { sequence: number; open: () => void }>()
  return {
    /** Settles when the window has seen that event, or when the signal aborts. */
    awaitSeen(streamId: string, sequence: number, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      const open = () => {
        if (waiting.get(streamId)?.open === open) waiting.delete(streamId)
        signal.removeEventListener('abort', open)
        resolve()
      }
      waiting.set(streamId, { sequence, open })
      signal.addEventListener('abort', open)
      if (signal.aborted) open()
      return promise
    },
    /** Lets the next event of a stream through. */
    noteSeen(streamId: string, sequence: number): void {
      const gate = waiting.get(streamId)
      if (gate !== undefined && sequence >= gate.sequence) gate.open()
    },
  }
}

/** Holds back the next event of each stream until the window has seen the last one. */
export interface EventGates extends ReturnType<typeof createEventGates> {}

/** Time as the event streams see it. */
export interface Clock {
  /** Milliseconds from a monotonic clock. */
  now(): number
  /** Settles after that many milliseconds, or as soon as the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
}
