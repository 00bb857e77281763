/** Holds back each event stream of a connection until the window has seen the event before. */
export interface EventGates {
  /** Settles when the event of that sequence was seen, or the signal is given. */
  awaitSeen(streamId: string, sequence: number, signal: AbortSignal): Promise<void>
  /** Lets the next event of a stream through. */
  noteSeen(streamId: string, sequence: number): void
}

/** Makes the gates of one connection; all start open. */
export function createEventGates(): EventGates {
  const waiting = new Map<string, { sequence: number; open: () => void }>()
  return {
    awaitSeen(streamId, sequence, signal) {
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
    noteSeen(streamId, sequence) {
      const gate = waiting.get(streamId)
      if (gate !== undefined && sequence >= gate.sequence) gate.open()
    },
  }
}
