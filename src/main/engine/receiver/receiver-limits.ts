import { CALLBACK_MAX_BYTES } from '../../../shared/options/callback-options.ts'

/** Limits beyond which a receiver refuses callbacks. */
export interface ReceiverLimits {
  /** Largest callback that is taken, bytes. */
  maxBytes: number
  /** Callbacks that may be on their way in at once, from their head to their answer. */
  maxWaiting: number
  /** Bytes of bodies that may be held at once; one callback of the largest size always fits. */
  maxWaitingBytes: number
  /** Connections at once; further ones are closed at once. */
  maxConnections: number
  /** Longest time for a request's head, milliseconds. */
  headTimeoutMs: number
  /** Longest time for a whole request, milliseconds. */
  requestTimeoutMs: number
  /** How often these times are checked, milliseconds. */
  checkEveryMs: number
  /** How often a receiver that stands by checks whether the holder is gone, milliseconds. */
  standbyEveryMs: number
  /** Longest time a self-test waits for the arrival, milliseconds. */
  selfTestTimeoutMs: number
  /** Files that the media host sends at once. */
  maxMediaFiles: number
  /** Longest time in which a client reads nothing of a file, milliseconds; a tenth of it while others wait. */
  mediaStallMs: number
}

const MIB = 1024 * 1024

/** Default limits of a receiver. */
export const RECEIVER_LIMITS: ReceiverLimits = {
  maxBytes: CALLBACK_MAX_BYTES,
  maxWaiting: 1_000,
  maxWaitingBytes: 64 * MIB,
  maxConnections: 5_000,
  headTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkEveryMs: 1_000,
  standbyEveryMs: 1_000,
  selfTestTimeoutMs: 10_000,
  maxMediaFiles: 200,
  mediaStallMs: 20_000,
}
