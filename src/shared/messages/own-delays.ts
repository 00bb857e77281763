/** Says, without a full stop, that not only the service shaped latencies (docs/load-tests.md §1). */
export const MAY_INCLUDE_DELAYS = 'Latencies may include delays of this machine'

/** What that means, and what to do about it. */
export const ABOUT_DELAYS =
  'No request was lost and all counts are right; latencies may be too high, and rates too low. This is common if a fast service, such as the sandbox, runs on the same machine. For exact latencies, close other programs, lower the pace or send from another machine.'

/**
 * Whether the longest stall is shown. It is sampled, so 0 ms next to delays of this machine only means that
 * no sample met what delayed.
 */
export function isStallShown(isLimited: boolean, stallMs: number | null): stallMs is number {
  return stallMs !== null && !(isLimited && stallMs === 0)
}
