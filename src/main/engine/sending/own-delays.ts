import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import type { WithoutOwnDelays } from '../../../shared/run/run.ts'

/** Figures checked for this machine's own delays. */
const SHAPED_METRICS = ['http_req_duration', 'response_time'] as const

/** Percentiles that are judged, each with the number of requests from which it differs from the maximum. */
const SHAPED_PERCENTILES = [
  { point: 'p50', leastRequests: 2 },
  { point: 'p90', leastRequests: 10 },
  { point: 'p99', leastRequests: 100 },
] as const

/** The mean, judged from this number of requests on where it decides how many go out. */
const SHAPED_MEAN = { point: 'mean', leastRequests: 2 } as const

/**
 * What this machine may add to a figure before it counts: both limits must be exceeded. A figure is wrong
 * by about 1 ms then; the missing 0.1 ms is the allowance for timely reading.
 */
const SHAPED_SHARE = 0.1
const SHAPED_MS = 0.9

/** The latencies of a request, and what this machine added to them; microseconds. */
export interface OwnDelay {
  durationUs: number | null
  responseUs: number | null
  /** How late it was sent. */
  lagUs: number
  /** How long its answer may have lain unread. */
  unreadUs: number
}

/** The part of a start lag caused by this machine, not by the limit in flight or opening a connection. */
export function toOwnLagUs({
  lagUs,
  hasWaited,
  connectUs,
  blockedUs,
}: {
  lagUs: number | null
  hasWaited: boolean
  connectUs: number | null
  /** From handing over the request to its first byte sent. */
  blockedUs: number | null
}): number {
  if (lagUs === null || hasWaited) return 0
  return connectUs === null ? lagUs : Math.max(0, lagUs - (blockedUs ?? lagUs))
}

/** A figure that this machine may have shaped. */
export interface ShapedFigure {
  metric: (typeof SHAPED_METRICS)[number]
  /** The mean only where requests are sent as others end: their number a second follows from it. */
  point: (typeof SHAPED_PERCENTILES)[number]['point'] | 'mean'
  toldMs: number
  /** The figure without this machine's delays. */
  withoutMs: number
}

/**
 * Latencies without the delays of the sending machine: requests sent late, and answers that lay unread. A
 * figure that differs from this is not the service's alone (docs/load-tests.md §1).
 */
export class OwnDelays {
  readonly #without = new LatencyMeter()

  add({ durationUs, responseUs, lagUs, unreadUs }: OwnDelay): void {
    if (durationUs !== null) this.#without.record('http_req_duration', durationUs - unreadUs)
    if (responseUs !== null) this.#without.record('response_time', responseUs - lagUs - unreadUs)
  }

  addAll(other: OwnDelays): void {
    this.#without.addAll(other.#without)
  }

  /** These latencies in milliseconds, where measured. */
  toPercentiles(): WithoutOwnDelays {
    return Object.fromEntries(
      SHAPED_METRICS.flatMap((metric) => {
        const percentiles = this.#without.percentiles(metric)
        return percentiles === null ? [] : [[metric, percentiles]]
      }),
    )
  }

  /** The figures of `told` of which more than a tenth and about a millisecond may be this machine's. */
  listShaped(told: LatencyMeter): ShapedFigure[] {
    const hasSchedule = told.percentiles('response_time') !== null
    const points = hasSchedule ? SHAPED_PERCENTILES : [...SHAPED_PERCENTILES, SHAPED_MEAN]
    return SHAPED_METRICS.flatMap((metric) => {
      const [figures, without] = [told.percentiles(metric), this.#without.percentiles(metric)]
      if (figures === null || without === null) return []
      return points
        .filter(({ leastRequests }) => figures.count >= leastRequests)
        .map(({ point }) => ({ metric, point, toldMs: figures[point], withoutMs: without[point] }))
        .filter(({ toldMs, withoutMs }) => toldMs - withoutMs > Math.max(SHAPED_MS, withoutMs * SHAPED_SHARE))
    })
  }
}
