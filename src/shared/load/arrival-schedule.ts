import { type Stage, toTotalMs } from './load-pace.ts'

/**
 * When each request of an open pace is due. Request i, counted from 0, is due when the integral of the rate
 * reaches i, on one absolute time line: errors never add up, however long it lasts. Times are milliseconds
 * since the load began.
 */
export interface ArrivalSchedule {
  /** When the schedule ends; nothing is due from then on. */
  readonly durationMs: number
  /** Requests due in all. */
  readonly total: number
  /** The integral of the rate up to a time: how many requests should be sent by then, with fractions. */
  plannedAt(ms: number): number
  /** How many requests are due by a time, inclusive. */
  countDue(ms: number): number
  /** When request i is due. Infinity for those past the last. */
  dueMs(index: number): number
  /** Requests a second at a time; 0 before and after. */
  rateAt(ms: number): number
}

/** Counts at the edges of stages are whole multiples of this fraction of a request, so they are exact. */
const UNITS_PER_REQUEST = 2_000_000n

/** A number of requests, whole and fractional part apart, so that hours at high rates stay exact. */
interface ExactCount {
  whole: number
  fraction: number
}

interface Segment {
  startMs: number
  durationMs: number
  /** Requests a second. */
  from: number
  to: number
  /** The integral at the segment's start and end. */
  start: ExactCount
  end: ExactCount
}

/**
 * The schedule of stages whose levels are requests a second with at most three decimals. With `limit`, it
 * ends when that many requests have been due.
 */
export function createArrivalSchedule(
  stages: readonly Stage[],
  { limit = Infinity }: { limit?: number } = {},
): ArrivalSchedule {
  const segments = toSegments(stages)
  const last = segments.at(-1)
  const total = Math.min(limit, last === undefined ? 0 : ceil(last.end))
  const endMs = last === undefined ? 0 : last.startMs + last.durationMs
  const timeOf = (index: number) => findTimeMs(segments, index) ?? endMs
  const durationMs = total < limit ? endMs : timeOf(limit)
  const dueMs = (index: number) => (index < total ? timeOf(index) : Infinity)
  return {
    durationMs,
    total,
    dueMs,
    plannedAt: (ms) => Math.min(limit, countAt(segments, Math.min(ms, durationMs))),
    countDue(ms) {
      if (ms < 0) return 0
      // The integral gives it up to the last bit of a float; the due times themselves decide.
      let count = Math.min(total, Math.floor(countAt(segments, Math.min(ms, durationMs))) + 1)
      while (count < total && dueMs(count) <= ms) count += 1
      while (count > 0 && dueMs(count - 1) > ms) count -= 1
      return count
    },
    rateAt(ms) {
      const segment = ms < durationMs ? findSegment(segments, ms) : undefined
      if (segment === undefined) return 0
      return segment.from + ((segment.to - segment.from) * (ms - segment.startMs)) / segment.durationMs
    },
  }
}

function toSegments(stages: readonly Stage[]): Segment[] {
  let units = 0n
  let startMs = 0
  return stages.map(({ from, to, durationMs }) => {
    const start = toExact(units)
    // Thousandths of requests a second, averaged over the stage, times milliseconds: millionths of a request.
    units += BigInt(Math.round(from * 1000) + Math.round(to * 1000)) * BigInt(durationMs)
    const segment = { startMs, durationMs, from, to, start, end: toExact(units) }
    startMs += durationMs
    return segment
  })
}

function toExact(units: bigint): ExactCount {
  return {
    whole: Number(units / UNITS_PER_REQUEST),
    fraction: Number(units % UNITS_PER_REQUEST) / Number(UNITS_PER_REQUEST),
  }
}

function ceil({ whole, fraction }: ExactCount): number {
  return fraction > 0 ? whole + 1 : whole
}

/** When the integral reaches a whole number; null if it never does. */
function findTimeMs(segments: readonly Segment[], index: number): number | null {
  // A request at the very edge belongs to the later stage, and to the first one that sends anything at all.
  const segment = segments.find(({ end }) => end.whole > index || (end.whole === index && end.fraction > 0))
  if (segment === undefined) return null
  const { startMs, start, end, from, to, durationMs } = segment
  const change = (to - from) / (durationMs / 1000)
  if (change < 0) {
    // Computed back from the end: if the rate falls to zero, precision is needed there.
    const left = end.whole - index + end.fraction
    const backMs = (2000 * left) / (to + Math.sqrt(to * to - 2 * change * left))
    return Math.max(startMs, startMs + durationMs - backMs)
  }
  const past = index - start.whole - start.fraction
  if (past <= 0) return startMs
  return startMs + (2000 * past) / (from + Math.sqrt(from * from + 2 * change * past))
}

function countAt(segments: readonly Segment[], ms: number): number {
  if (ms <= 0) return 0
  const segment = findSegment(segments, ms) ?? segments.at(-1)
  if (segment === undefined) return 0
  const s = Math.min(ms - segment.startMs, segment.durationMs) / 1000
  const change = (segment.to - segment.from) / (segment.durationMs / 1000)
  return segment.start.whole + (segment.start.fraction + segment.from * s + (change * s * s) / 2)
}

function findSegment(segments: readonly Segment[], ms: number): Segment | undefined {
  return segments.find(({ startMs, durationMs }) => ms >= startMs && ms < startMs + durationMs)
}

/** The schedule of stages whose levels are requests in flight; in between, the nearest whole number. */
export function createConcurrencySchedule(stages: readonly Stage[]) {
  const segments = toSegments(stages)
  const durationMs = toTotalMs(stages)
  return {
    durationMs,
    /** Most requests that are ever in flight. */
    peak: Math.max(0, ...stages.flatMap(({ from, to }) => [from, to])),
    /** Whole requests in flight at a time, milliseconds since the load began; 0 before and after. */
    concurrencyAt(ms: number): number {
      const segment = findSegment(segments, ms)
      if (segment === undefined) return 0
      const { from, to } = segment
      return Math.round(from + ((to - from) * (ms - segment.startMs)) / segment.durationMs)
    },
  }
}

/** How many requests are in flight at each time of a closed pace. */
export interface ConcurrencySchedule extends ReturnType<typeof createConcurrencySchedule> {}
