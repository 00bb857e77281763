import {
  type Load,
  toArrivalSchedule,
  toConcurrencySchedule,
  toMaxInFlight,
} from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'

/** A request that may go out now. */
export interface LoadTurn {
  /** Its number in the load, from 0; the warm-up's numbers come after all others. */
  sequence: number
  isMeasured: boolean
  /** When it was due, milliseconds since measuring began; null at a closed pace. */
  dueMs: number | null
}

/** Decides when a thread's share of the requests goes out. Times are milliseconds since measuring began. */
export interface LoadPacer {
  /** Most requests in flight at a time. */
  concurrencyAt(ms: number): number
  /** Number of requests that may go out now; Infinity if only the number in flight limits them. */
  countReady(ms: number): number
  /** The next request; null if none may go out. */
  take(ms: number): LoadTurn | null
  /** Whether no further requests follow. */
  isOver(ms: number): boolean
}

/** First number of the warm-up's requests, beyond those of any load. */
export const WARMUP_SEQUENCE = 1e12

/** The number of the request that goes out before everything else, beyond those of any warm-up. */
export const FIRST_SEQUENCE = 2e12

/** The post_id of a request; the first of the load and of the warm-up have number 1. */
export function toLoadPostId(runToken: string, sequence: number): string {
  if (sequence === FIRST_SEQUENCE) return `${runToken}-first`
  return isWarmup(sequence)
    ? `${runToken}-warmup-${sequence - WARMUP_SEQUENCE + 1}`
    : `${runToken}-${sequence + 1}`
}

/** Whether a number is one of the warm-up or {@link FIRST_SEQUENCE}; neither is measured. */
export function isWarmup(sequence: number): boolean {
  return sequence >= WARMUP_SEQUENCE
}

/** One thread's share of a number, as even as possible. */
function toShare(n: number, { index, count }: { index: number; count: number }): number {
  return Number.isFinite(n) ? Math.max(0, Math.ceil((n - index) / count)) : n
}

/** The pacer of one of several threads. Requests are dealt out in turn: thread 0 has numbers 0, N, 2N, … */
export function createLoadPacer(
  load: Load,
  timeoutMs: number,
  share: { index: number; count: number },
): LoadPacer {
  return isOpen(load.pace) ? createOpenPacer(load, timeoutMs, share) : createClosedPacer(load, share)
}

/** The schedule is absolute: request i is due when the integral of the rate reaches i, whatever happens. */
function createOpenPacer(load: Load, timeoutMs: number, share: { index: number; count: number }): LoadPacer {
  const schedule = toArrivalSchedule(load)
  const cap = Math.max(1, toShare(toMaxInFlight(load, timeoutMs), share))
  const total = toShare(schedule.total, share)
  const warmupRate = load.warmupMs > 0 ? schedule.rateAt(0) : 0
  const warmupTotal = toShare(Math.floor((warmupRate * load.warmupMs) / 1000), share)
  let warmed = 0
  let taken = 0
  const toSequence = (n: number) => n * share.count + share.index
  const toWarmupDueMs = (n: number) => (toSequence(n) * 1000) / warmupRate - load.warmupMs
  const countWarmup = (ms: number) => {
    if (ms < -load.warmupMs || warmupTotal === 0) return 0
    return Math.min(warmupTotal, toShare(Math.floor(((ms + load.warmupMs) * warmupRate) / 1000) + 1, share))
  }
  return {
    concurrencyAt: () => cap,
    countReady: (ms) => {
      // Warm-up requests still unsent when measuring begins are not made up for.
      if (ms < 0) return countWarmup(ms) - warmed
      return toShare(schedule.countDue(ms), share) - taken
    },
    take(ms) {
      if (ms < 0) {
        if (warmed >= countWarmup(ms)) return null
        const dueMs = toWarmupDueMs(warmed)
        const sequence = WARMUP_SEQUENCE + toSequence(warmed)
        warmed += 1
        return { sequence, isMeasured: false, dueMs }
      }
      const sequence = toSequence(taken)
      const dueMs = schedule.dueMs(sequence)
      if (dueMs > ms) return null
      taken += 1
      return { sequence, isMeasured: true, dueMs }
    },
    isOver: (ms) => taken >= total && ms >= 0,
  }
}

function createClosedPacer(load: Load, share: { index: number; count: number }): LoadPacer {
  const schedule = toConcurrencySchedule(load)
  const requests = toShare(load.requests ?? Infinity, share)
  let warmed = 0
  let taken = 0
  return {
    concurrencyAt: (ms) => toShare(schedule.concurrencyAt(Math.max(0, ms)), share),
    countReady: (ms) => (ms < -load.warmupMs || (ms >= 0 && taken >= requests) ? 0 : Infinity),
    take(ms) {
      if (ms < -load.warmupMs || ms >= schedule.durationMs || taken >= requests) return null
      const isMeasured = ms >= 0
      const n = isMeasured ? taken++ : warmed++
      const sequence = n * share.count + share.index
      return { sequence: isMeasured ? sequence : WARMUP_SEQUENCE + sequence, isMeasured, dueMs: null }
    },
    isOver: (ms) => ms >= schedule.durationMs || taken >= requests,
  }
}
