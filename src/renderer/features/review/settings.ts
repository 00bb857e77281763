import type { Destination } from '../../ui/connection/destination.ts'

/** Where to, how fast, how stubbornly. */
export interface Settings {
  destination: Destination
  /** Requests in flight. */
  concurrency: number
  /** Retries after the first try. */
  retries: number
  /** Longest wait for an answer, in seconds. */
  timeoutS: number
}

/** What a run starts with unless the person says otherwise. */
export const DEFAULT_SETTINGS: Settings = {
  destination: { kind: 'sandbox' },
  concurrency: 4,
  retries: 3,
  timeoutS: 60,
}

/** Time to send so many requests, in milliseconds, when each takes `answerMs` and `concurrency` are in flight. */
export function estimateDurationMs(requests: number, concurrency: number, answerMs: number): number {
  return Math.ceil(requests / Math.max(1, concurrency)) * answerMs
}
