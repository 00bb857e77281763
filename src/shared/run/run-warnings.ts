import type { RunWarning } from './run.ts'

const REUSE_ENDED: Record<string, string> = {
  closed:
    'The service closes connections after an answer without saying so. Each request now opens a new connection, which lowers the rate.',
  stray:
    'The service sent answers that no request asked for. Each request now opens a new connection. Check the answers of the first rows: one may belong to another row.',
}

/** Warnings of a run; `reuseEnded`: by why connections are no longer reused, in how many threads. */
export function toRunWarnings(reuseEnded: ReadonlyMap<string, number> | undefined): RunWarning[] {
  return Object.entries(REUSE_ENDED)
    .filter(([why]) => (reuseEnded?.get(why) ?? 0) > 0)
    .map(([, message]) => ({ code: 'CONNECTIONS_NOT_REUSED', message }))
}
