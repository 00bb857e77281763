import { formatCount, formatCounted } from '../messages/figure-text.ts'
import type { Percentiles } from '../run/run.ts'
import { type CapacityUnit, formatLevel } from './capacity-level.ts'
import type { ProbeResult } from './capacity-search.ts'
import { type ThresholdResult, toNeededRequests } from './thresholds.ts'

/** Least ratio of the highest to the lowest failed level that shows whether failures grow with the load. */
const FAR_APART = 2
/** How many times further beyond its limit a threshold may be without being called worse. */
const NO_WORSE = 1.25
/** Least share of the requested rate that a service answers if it keeps up; the rest ends later. */
const ANSWERED_SHARE = 0.98
/** A queue has grown if this many times the requests usually in flight are missing. */
const IN_FLIGHT_TIMES = 1.2

/** A probe as far as it makes a capacity doubtful. */
interface CapacityProbe extends ProbeResult {
  thresholds: readonly ThresholdResult[]
  answered_per_s?: number | undefined
  failed_share: number | null
  latency_ms: Percentiles | null
}

/** What must be known before anybody acts on a capacity, a sentence each. `measuredMs`: of each probe. */
export function listCapacityCaveats(
  unit: CapacityUnit,
  capacity: number | null,
  probes: readonly CapacityProbe[],
  measuredMs: number,
): string[] {
  const told = probes.filter(({ verdict }) => verdict !== 'void')
  const atCapacity = told.filter(({ level, verdict }) => level === capacity && verdict === 'held')
  return [
    saySilent(told),
    sayNotByLoad(unit, told),
    ...(capacity === null
      ? []
      : [
          unit === 'rate' ? sayQueue(capacity, atCapacity, measuredMs) : null,
          sayFew(unit, capacity, atCapacity),
        ]),
  ].filter((sentence) => sentence !== null)
}

/** A service that is down fails at every level. */
function saySilent(probes: readonly CapacityProbe[]): string | null {
  const silent = probes.length - 1 - probes.findLastIndex(({ answered_per_s }) => answered_per_s !== 0)
  if (silent === 0) return null
  const last = silent === 1 ? 'last probe' : `last ${formatCount(silent)} probes`
  return `The service answered nothing in the ${last}: this may be an outage rather than an effect of the load.`
}

/** Failures that do not get worse as the load doubles are not caused by the load. */
function sayNotByLoad(unit: CapacityUnit, probes: readonly CapacityProbe[]): string | null {
  const failed = probes.filter(({ verdict }) => verdict === 'failed')
  const levels = failed.map(({ level }) => level)
  const [lowest, highest] = [Math.min(...levels), Math.max(...levels)]
  if (failed.length === 0 || highest < FAR_APART * lowest) return null
  const isKeptUp = ({ level, answered_per_s, failed_share }: CapacityProbe) =>
    unit === 'concurrency' || (failed_share ?? 0) > 0 || (answered_per_s ?? 0) >= ANSWERED_SHARE * level
  const [low, high] = [lowest, highest].map((level) => failed.filter((probe) => probe.level === level))
  if (low === undefined || high === undefined || !high.every(isKeptUp)) return null
  const crossed = high.flatMap(({ thresholds }) => thresholds.filter(({ ok }) => !ok))
  const before = low.flatMap(({ thresholds }) => thresholds.filter(({ ok }) => !ok))
  const isNoWorse = (result: ThresholdResult) =>
    before.some(
      ({ expression, margin }) =>
        expression === result.expression &&
        margin !== null &&
        result.margin !== null &&
        result.margin >= NO_WORSE * margin,
    )
  if (crossed.length === 0 || !crossed.every(isNoWorse)) return null
  return `What failed at ${formatLevel(unit, lowest)} was no worse at ${formatLevel(unit, highest)}: something other than the load may decide it; then this is not a capacity. Look at these probes first.`
}

/** A short probe can hold although a queue has begun to grow. */
function sayQueue(capacity: number, probes: readonly CapacityProbe[], measuredMs: number): string | null {
  const answered = toMiddle(probes.flatMap(({ answered_per_s }) => answered_per_s ?? []))
  const p50Ms = toMiddle(probes.flatMap(({ latency_ms }) => latency_ms?.p50 ?? []))
  if (answered === null || p50Ms === null || answered >= ANSWERED_SHARE * capacity) return null
  const missing = ((capacity - answered) * measuredMs) / 1000
  if (missing <= (IN_FLIGHT_TIMES * capacity * p50Ms) / 1000) return null
  return `At ${formatLevel('rate', capacity)} the service answered ${formatLevel('rate', answered)}: a queue grew, which a longer probe would not hold.`
}

/** A threshold about one request of a hundred needs a hundred of them. */
function sayFew(unit: CapacityUnit, capacity: number, probes: readonly CapacityProbe[]): string | null {
  const requests = toMiddle(probes.flatMap(({ latency_ms }) => latency_ms?.count ?? []))
  const [first] = probes
  if (requests === null || first === undefined) return null
  const few = first.thresholds.find((result) => requests < toNeededRequests(result))
  if (few === undefined) return null
  return `Probes at ${formatLevel(unit, capacity)} had ${formatCounted(requests, 'request')} each, too few for ${few.expression}: measure longer.`
}

function toMiddle(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? null
}
