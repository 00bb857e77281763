import { vi } from 'vitest'

/** How long a test waits for an event, milliseconds: far more than it takes on a busy machine. */
const PATIENCE_MS = 20_000

/** Repeats `look` until it no longer throws, and returns its result. Throws its last error. */
export function waitFor<Found>(
  look: () => Found | Promise<Found>,
  { interval = 20, timeout = PATIENCE_MS }: { interval?: number; timeout?: number } = {},
): Promise<Found> {
  return vi.waitFor(look, { interval, timeout })
}
