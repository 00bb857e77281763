import { setTimeout as wait } from 'node:timers/promises'

/** Something with a latest value, such as a run's snapshot. */
export interface EventSource<T> {
  /** The latest value; null before the first. */
  read(): T | null
  /** Calls the listener for each new value; returns a function that removes the listener. */
  onChange(listener: () => void): () => void
  /** Resolves after the last value; rejects with the error that ends the stream. */
  readonly ended: Promise<unknown>
}

/** Listeners for the new values of an {@link EventSource}; `tell` calls them. */
export function createListeners() {
  const listeners = new Set<() => void>()
  return {
    tell(): void {
      for (const listener of listeners) listener()
    },
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
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

/** One event; sequence numbers start at 1. */
export interface SequencedEvent<T> {
  sequence: number
  value: T
}

/**
 * Yields the latest value at once, then whenever it changes, at most once per `intervalMs` and only after the
 * window has seen the previous one: values in between are skipped. The last value is always sent.
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

/** Creates the gates of one connection; all start open. */
export function createEventGates() {
  const waiting = new Map<string, { sequence: number; open: () => void }>()
  return {
    /** Settles when the window has seen that event, or the signal aborts. */
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

/** Holds back each stream's next event until the window has seen the last one. */
export interface EventGates extends ReturnType<typeof createEventGates> {}

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, or as soon as the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
}
