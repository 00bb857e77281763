import { PerformanceObserver } from 'node:perf_hooks'
import type { Load } from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import { countSent, type LoadState } from '../journal/load-record.ts'
import type { ShapedFigure } from '../sending/own-delays.ts'
import { EventLoopWatch } from '../sending/second-meter.ts'
import type { OpenSecond } from './load-ledger.ts'
import type { SecondHealth } from './load-threads.ts'

/** Watches its own thread. A stall is a single sample, so only each second's maximum shows it. */
export class GeneratorWatch {
  readonly #eventLoop = new EventLoopWatch()
  readonly #collections: PerformanceObserver
  #pauses = 0
  #maxUs = 0
  #sumUs = 0
  #lateUs = 0

  constructor() {
    this.#collections = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        const us = Math.round(duration * 1000)
        this.#pauses += 1
        this.#sumUs += us
        this.#maxUs = Math.max(this.#maxUs, us)
      }
    })
    this.#collections.observe({ entryTypes: ['gc'] })
  }

  /** Notes a timer's lateness, which the sampling may only see in the next second. */
  noteLate(lateUs: number): void {
    this.#lateUs = Math.max(this.#lateUs, lateUs)
  }

  /** Observations since the last call. */
  take(): Pick<SecondHealth, 'eventLoopMaxUs' | 'gcPauses' | 'gcMaxUs' | 'gcUs'> {
    const seen = {
      eventLoopMaxUs: Math.max(this.#eventLoop.longestStallUs, Math.round(this.#lateUs)),
      gcPauses: this.#pauses,
      gcMaxUs: this.#maxUs,
      gcUs: this.#sumUs,
    }
    this.#eventLoop.reset()
    this.#lateUs = 0
    this.#pauses = 0
    this.#maxUs = 0
    this.#sumUs = 0
    return seen
  }

  close(): void {
    this.#eventLoop.close()
    this.#collections.disconnect()
  }
}

/** Least share of the schedule that must go out, and how many requests a slow schedule may lag behind. */
const ACHIEVED_SHARE = 0.98
const BEHIND_MIN = 2

/** Health of all sending threads together in one second. */
export function mergeHealth(all: readonly SecondHealth[]): Omit<SecondHealth, 'second'> {
  const sum = (read: (health: SecondHealth) => number) => all.reduce((total, one) => total + read(one), 0)
  const max = (read: (health: SecondHealth) => number) => Math.max(0, ...all.map(read))
  return {
    sent: sum(({ sent }) => sent),
    retries: sum(({ retries }) => retries),
    dropped: sum(({ dropped }) => dropped),
    behind: sum(({ behind }) => behind),
    inFlightMax: sum(({ inFlightMax }) => inFlightMax),
    eventLoopMaxUs: max(({ eventLoopMaxUs }) => eventLoopMaxUs),
    gcPauses: sum(({ gcPauses }) => gcPauses),
    gcMaxUs: max(({ gcMaxUs }) => gcMaxUs),
    gcUs: sum(({ gcUs }) => gcUs),
  }
}

/** Whether too little of the schedule went out in a second, though there was room. */
export function isBehind({ behind }: Pick<SecondHealth, 'behind'>, scheduled: number | null): boolean {
  return scheduled !== null && behind > Math.max(BEHIND_MIN, scheduled * (1 - ACHIEVED_SHARE))
}

/** Whether this machine, not the service, shaped a second's figures or send rate (docs/load-tests.md §1). */
export function isLimited(
  second: OpenSecond,
  health: Pick<SecondHealth, 'behind'>,
  scheduled: number | null,
): boolean {
  return second.times.isShaped || isBehind(health, scheduled)
}

/**
 * What this machine may have added to the figures of a load: one sentence per metric, on its largest
 * addition, and one on the requests a second that may be missing for it where each waits for another's end.
 */
export function describeShaped(figures: readonly ShapedFigure[], { thinkTime }: Load): string[] {
  const added = ({ toldMs, withoutMs }: ShapedFigure) => toldMs - withoutMs
  const percentiles = figures.filter(({ point }) => point !== 'mean')
  const latencies = [...Map.groupBy(percentiles, ({ metric }) => metric).values()].map((ofMetric) => {
    const most = ofMetric.reduce((one, other) => (added(other) > added(one) ? other : one))
    return `${formatMs(added(most))} of the ${formatMs(most.toldMs)} of ${most.metric} ${most.point} may be delays of this machine.`
  })
  const thinkMs = thinkTime === undefined ? 0 : (thinkTime.minMs + thinkTime.maxMs) / 2
  // A mean twice as long is half as many requests (Little's law).
  const rates = figures
    .filter(({ point }) => point === 'mean')
    .map(({ toldMs, withoutMs }) => Math.round(100 * ((toldMs + thinkMs) / (withoutMs + thinkMs) - 1)))
    .filter((percent) => percent >= 10)
    .map(
      (percent) =>
        `Without delays of this machine, up to ${percent} % more requests a second may have gone out.`,
    )
  return [...latencies, ...rates]
}

/** The sending machine's health during a load, as far as the journal's state shows it. */
export type LoadHealth = Omit<LoadReport['generator'], 'startLagP99Ms' | 'eventLoopMaxMs'>

/** This machine's health in a load (docs/load-tests.md §1); `state` is null before its first second ends. */
export function toLoadHealth(load: Load, state: LoadState | null): LoadHealth {
  const scheduled = isOpen(load.pace) ? (state?.scheduled ?? null) : null
  const sent = state === null ? 0 : countSent(state).first
  const dropped = state?.dropped ?? 0
  const achievedShare = scheduled === null || scheduled === 0 ? null : Math.min(1, sent / scheduled)
  // Requests are dropped by plan. Those still unsent because of the cap are the service's doing; there are at
  // most `waited` of them.
  const missing = (scheduled ?? 0) - sent - dropped
  const isOwn = missing > (scheduled ?? 0) * (1 - ACHIEVED_SHARE) && missing > (state?.waited ?? 0)
  const reasons = [...(state?.limitedReasons ?? [])]
  if (achievedShare !== null && isOwn) {
    reasons.push(`Only ${Math.floor(achievedShare * 1000) / 10} % of the schedule went out.`)
  }
  const behindSeconds = state?.behindSeconds ?? 0
  const limited = reasons.length > 0
  if (limited && behindSeconds > 0)
    reasons.push(`${formatCounted(behindSeconds, 'second')} sent less than 98 % of the schedule on time.`)
  return {
    limited,
    limitedSeconds: state?.limitedSeconds ?? 0,
    ...(state?.behindSeconds !== undefined && { behindSeconds }),
    reasons,
    dropped,
    waited: state?.waited ?? 0,
    gcPauses: state?.gc.pauses ?? 0,
    gcMaxMs: state === null ? null : state.gc.maxUs / 1000,
    achievedShare,
    workers: load.workers,
  }
}
