import { PerformanceObserver } from 'node:perf_hooks'
import type { Load } from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { countSent, type LoadState } from '../journal/load-record.ts'
import { EventLoopWatch, STALL_LIMIT_US } from '../sending/second-meter.ts'
import type { OpenSecond } from './load-ledger.ts'
import type { SecondHealth } from './load-threads.ts'

/** Watches the thread it runs in: a stall is one sample, so each second's maximum is what tells of it. */
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

  /** A timer came this late, which the sampling may tell of only in the next second. */
  noteLate(lateUs: number): void {
    this.#lateUs = Math.max(this.#lateUs, lateUs)
  }

  /** What was seen since the last call. */
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

/** Share of the schedule that must have gone out, and how far behind a slow schedule may be, requests. */
const ACHIEVED_SHARE = 0.98
const BEHIND_MIN = 2

/** Why a second was shaped by the generator and not by the service. */
export type LimitCause = 'lag' | 'event_loop' | 'behind'

/** How all sending threads together did in a second. */
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

/** Why the generator, not the service, shaped a second; empty where it did not (docs/load-tests.md §1). */
export function findLimits(
  second: OpenSecond,
  health: Omit<SecondHealth, 'second'>,
  scheduled: number | null,
): LimitCause[] {
  const causes: LimitCause[] = []
  // Where nothing was due any more, what ends was sent, or kept waiting, in an earlier second.
  const wasDue = scheduled === null || scheduled > 0
  if (wasDue && second.times.isSentLate()) causes.push('lag')
  if (health.eventLoopMaxUs > STALL_LIMIT_US) causes.push('event_loop')
  const behindMax = Math.max(BEHIND_MIN, (scheduled ?? 0) * (1 - ACHIEVED_SHARE))
  if (scheduled !== null && health.behind > behindMax) causes.push('behind')
  return causes
}

/** The reasons in words, a sentence each, from how many seconds each cause limited. */
export function describeLimits(seconds: ReadonlyMap<LimitCause, number>, eventLoopMaxUs: number): string[] {
  const count = (cause: LimitCause) => {
    const n = seconds.get(cause) ?? 0
    return `${n} ${n === 1 ? 'second' : 'seconds'}`
  }
  return [
    ...(seconds.has('event_loop')
      ? [
          `The sending thread stood still for more than 50 ms in ${count('event_loop')}, at most ${Math.round(eventLoopMaxUs / 1000)} ms.`,
        ]
      : []),
    ...(seconds.has('lag')
      ? [
          `Requests went out late in ${count('lag')}: the start lag's p99 was above 5 ms and a tenth of the median.`,
        ]
      : []),
    ...(seconds.has('behind')
      ? [`Less than 98 % of the schedule went out in ${count('behind')}, though there was room in flight.`]
      : []),
  ]
}

/** How the machine did that sent a load, as far as its journal's state tells. */
export type LoadHealth = Omit<LoadReport['generator'], 'startLagP99Ms' | 'eventLoopMaxMs'>

/** How the machine did that sent a load (docs/load-tests.md §1); `state` is null before its first second is over. */
export function toLoadHealth(load: Load, state: LoadState | null): LoadHealth {
  const scheduled = isOpen(load.pace) ? (state?.scheduled ?? null) : null
  const sent = (state === null ? 0 : countSent(state).first) + (state?.dropped ?? 0)
  const achievedShare = scheduled === null || scheduled === 0 ? null : Math.min(1, sent / scheduled)
  const reasons = [...(state?.limitedReasons ?? [])]
  // What waited for the cap until the end was the service's doing; it is not more than waited before.
  const isOwn = scheduled !== null && state !== null && scheduled - sent > state.waited
  if (achievedShare !== null && achievedShare < ACHIEVED_SHARE && isOwn) {
    reasons.push(`Only ${Math.floor(achievedShare * 1000) / 10} % of the schedule went out.`)
  }
  return {
    limited: reasons.length > 0,
    limitedSeconds: state?.limitedSeconds ?? 0,
    reasons,
    dropped: state?.dropped ?? 0,
    waited: state?.waited ?? 0,
    gcPauses: state?.gc.pauses ?? 0,
    gcMaxMs: state === null ? null : state.gc.maxUs / 1000,
    achievedShare,
    workers: load.workers,
  }
}
