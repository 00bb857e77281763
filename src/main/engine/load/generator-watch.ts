import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { SecondHealth } from './load-messages.ts'

/** How often the event loop's delay is sampled, milliseconds; a sample includes this interval. */
const SAMPLING_MS = 10

/** Watches the thread it runs in: a stall is one sample, so each second's maximum is what tells of it. */
export class GeneratorWatch {
  readonly #eventLoop = monitorEventLoopDelay({ resolution: SAMPLING_MS })
  readonly #collections: PerformanceObserver
  #pauses = 0
  #maxUs = 0
  #sumUs = 0
  #lateUs = 0

  constructor() {
    this.#eventLoop.enable()
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
    const sampledUs = Math.round(this.#eventLoop.max / 1000 - SAMPLING_MS * 1000)
    const seen = {
      eventLoopMaxUs: Math.max(0, sampledUs, Math.round(this.#lateUs)),
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
    this.#eventLoop.disable()
    this.#collections.disconnect()
  }
}
