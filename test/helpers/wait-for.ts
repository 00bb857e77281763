import { vi } from 'vitest'

/** How long a test waits for something that comes by itself, milliseconds: far more than it takes on a busy machine. */
const PATIENCE_MS = 20_000

/** Looks again and again until `look` throws no more, and returns what it gives. Throws what it threw last. */
export function waitFor<Found>(
  look: () => Found | Promise<Found>,
  { interval = 20, timeout = PATIENCE_MS }: { interval?: number; timeout?: number } = {},
): Promise<Found> {
  return vi.waitFor(look, { interval, timeout })
}
