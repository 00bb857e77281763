import type { Fault, LatencyMode } from './behaviour.ts'

/** A share from 0 to 1 in the notation of a setting, such as `2.5%`. */
function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(4))}%`
}

/**
 * Modes of a latency in the sandbox's notation, such as `40ms±10ms|200ms@5%`; the first has the share that
 * the others leave.
 */
export function formatLatency(modes: readonly LatencyMode[]): string {
  return modes
    .map(({ baseMs, jitterMs, share }, index) => {
      const time = jitterMs === 0 ? `${baseMs}ms` : `${baseMs}ms±${jitterMs}ms`
      return index === 0 ? time : `${time}@${formatShare(share)}`
    })
    .join('|')
}

/** The moment of a kind of fault, unless its name says another. */
export function toUsualMoment(kind: Fault['kind']): Fault['moment'] {
  if (kind === 'stall') return 'either'
  return kind === 'status' || kind === 'reset' || kind === 'html' ? 'before' : 'after'
}

/** Whether a fault can happen both before and after a request takes effect. */
export function hasMoment(kind: Fault['kind']): boolean {
  return kind === 'status' || kind === 'reset' || kind === 'stall'
}

/** A fault in the sandbox's notation, such as `429=3%,retry-after=1`. */
export function formatFault({
  kind,
  share,
  moment,
  status,
  retryAfterS,
  tries,
  stallMs,
}: Omit<Fault, 'name'>): string {
  const stem = kind === 'status' ? (status ?? '5xx') : kind
  const suffix = hasMoment(kind) && moment !== toUsualMoment(kind) ? `-${moment}` : ''
  return [
    `${stem}${suffix}=${formatShare(share)}`,
    ...(kind === 'status' && retryAfterS !== null ? [`retry-after=${retryAfterS}`] : []),
    ...(kind === 'html' && status !== null && status !== 200 ? [`status=${status}`] : []),
    ...(kind === 'stall' && stallMs !== null ? [`for=${stallMs}ms`] : []),
    ...(tries === null ? [] : [`tries=${tries}`]),
  ].join(',')
}

/** The modes of a latency as bars on an axis of milliseconds that ends a little after the slowest answer. */
export function toLatencyBars(modes: readonly LatencyMode[]): {
  endMs: number
  bars: { fromMs: number; toMs: number; share: number }[]
} {
  const slowest = Math.max(...modes.map(({ baseMs, jitterMs }) => baseMs + jitterMs), 0)
  return {
    endMs: slowest === 0 ? 1 : slowest * 1.1,
    bars: modes.map(({ baseMs, jitterMs, share }) => ({
      fromMs: baseMs - jitterMs,
      toMs: baseMs + jitterMs,
      share,
    })),
  }
}
