/**
 * What keeps a run from sending as fast as its plan allows. Times are Unix milliseconds.
 *
 * `throttled`: the service answers 429. `pacePerS` is the pace that it is sent at, requests per second; null while it
 * answers nothing but 429 and only single probes go out, the next at `nextTryAtMs`. The run stops at `givesUpAtMs`;
 * null while other answers come, too.
 *
 * `unreachable`: requests do not reach the service, for `reason`. The run stops at `givesUpAtMs`.
 */
export type Slowdown =
  | { kind: 'throttled'; pacePerS: number | null; nextTryAtMs: number | null; givesUpAtMs: number | null }
  | { kind: 'unreachable'; reason: string; givesUpAtMs: number }

/** Says a slowdown in a line: `throttled by the service: sending 198/s`. Times are local, `HH:MM:SS`. */
export function formatSlowdown(slowdown: Slowdown): string {
  if (slowdown.kind === 'unreachable') {
    // What to check is for the end of the run; here the cause is enough.
    const cause = slowdown.reason.split('; ')[0]
    return `cannot reach the service: ${cause}; trying again until ${formatClock(slowdown.givesUpAtMs)}`
  }
  const { pacePerS, nextTryAtMs, givesUpAtMs } = slowdown
  if (pacePerS !== null) return `throttled by the service: sending at most ${formatPace(pacePerS)}/s`
  const parts = [
    'throttled: the service answers only 429',
    ...(nextTryAtMs === null ? [] : [`next try at ${formatClock(nextTryAtMs)}`]),
    ...(givesUpAtMs === null ? [] : [`giving up at ${formatClock(givesUpAtMs)}`]),
  ]
  return parts.join('; ')
}

/** Requests per second, for people: `0.4`, `12`, `198`. */
export function formatPace(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1) : String(Math.round(perSecond))
}

function formatClock(ms: number): string {
  const date = new Date(ms)
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
