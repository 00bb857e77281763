import { CALLBACK_MAX_BYTES } from '../../../shared/options/callback-options.ts'

const MIB = 1024 * 1024

/** Default limits beyond which a receiver refuses callbacks. */
export const RECEIVER_LIMITS = {
  /** Largest callback that is taken, bytes. */
  maxBytes: CALLBACK_MAX_BYTES,
  /** Callbacks that may be in progress at once, from their head to their answer. */
  maxWaiting: 1_000,
  /** Bytes of bodies that may be held at once; one callback of the largest size always fits. */
  maxWaitingBytes: 64 * MIB,
  /** Connections at once; further ones are closed at once. */
  maxConnections: 5_000,
  /** Longest time for a request's head, milliseconds. */
  headTimeoutMs: 10_000,
  /** Longest time for a whole request, milliseconds. */
  requestTimeoutMs: 60_000,
  /** How often these times are checked, milliseconds. */
  checkEveryMs: 1_000,
  /** How often a standby receiver checks whether the holder is gone, milliseconds. */
  standbyEveryMs: 1_000,
  /** Longest time a self-test waits for the arrival, milliseconds. */
  selfTestTimeoutMs: 10_000,
  /** Files that the media host may send at once. */
  maxMediaFiles: 200,
  /** Longest time in which a client reads nothing of a file, milliseconds; a tenth of it if others wait. */
  mediaStallMs: 20_000,
}

export type ReceiverLimits = typeof RECEIVER_LIMITS
