/**
 * How long a walk waits for one thing that it needs before it fails, milliseconds. It bounds nothing but a failure, so it
 * is long enough for a machine with much other work.
 */
export const WALK_WAIT_MS = 90_000
