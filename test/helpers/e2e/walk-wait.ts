/**
 * How long a walk waits for anything before it fails, milliseconds. It only matters for failures, so it is
 * long enough for a busy machine.
 */
export const WALK_WAIT_MS = 90_000
