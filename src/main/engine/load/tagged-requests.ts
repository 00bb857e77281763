import type { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { type TaggedMeasurements, TREND_METRICS } from '../../../shared/load/metrics.ts'
import { formatTags, type ThresholdTag } from '../../../shared/load/threshold-parser.ts'
import { readExpression, type Threshold } from '../../../shared/load/thresholds.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import { SecondTimes } from '../sending/second-meter.ts'

/** A request as far as tags tell it from others. */
interface TaggedRequest {
  outcome: Outcome
  /** NaN where there was no answer. */
  status: number
  /** Whether it ended within the measured time. */
  isWithin: boolean
}

interface Part {
  tags: readonly ThresholdTag[]
  requests: number
  failed: number
  requestsWithin: number
  times: SecondTimes
}

/** The tags that thresholds name, each set of them once. */
export function listTagSets(thresholds: readonly Threshold[]): (readonly ThresholdTag[])[] {
  const sets = thresholds.map(({ expression }) => readExpression(expression).tags)
  return [...new Map(sets.filter((tags) => tags.length > 0).map((tags) => [formatTags(tags), tags])).values()]
}

/** What requests with the tags of thresholds came to, in a size that does not grow with their number. */
export class TaggedRequests {
  readonly #parts: Part[]

  constructor(sets: readonly (readonly ThresholdTag[])[]) {
    this.#parts = sets.map((tags) => ({
      ...{ tags, requests: 0, failed: 0, requestsWithin: 0 },
      times: new SecondTimes(),
    }))
  }

  /** Counts a request; `addTimes` is called for each set of tags that it has. */
  add(request: TaggedRequest, addTimes: (times: SecondTimes) => void): void {
    for (const part of this.#parts) {
      if (!part.tags.every((tag) => hasTag(request, tag))) continue
      part.requests += 1
      if (request.outcome !== 'succeeded') part.failed += 1
      if (request.isWithin) part.requestsWithin += 1
      addTimes(part.times)
    }
  }

  /** Counts everything that another has counted, of the same sets. */
  merge(other: TaggedRequests): void {
    for (const [index, part] of this.#parts.entries()) {
      const added = other.#parts[index]
      if (added === undefined) continue
      part.requests += added.requests
      part.failed += added.failed
      part.requestsWithin += added.requestsWithin
      part.times.latency.addAll(added.times.latency)
    }
  }

  toMeasurements(): ReadonlyMap<string, TaggedMeasurements> {
    return new Map(
      this.#parts.map(({ tags, requests, failed, requestsWithin, times }) => [
        formatTags(tags),
        { requests, failed, requestsWithin, latencies: listDistributions(times.latency) },
      ]),
    )
  }
}

/** Every distribution that has samples. */
export function listDistributions(latency: LatencyMeter): TaggedMeasurements['latencies'] {
  return Object.fromEntries(
    TREND_METRICS.map((series) => [series, latency.histogram(series)] as const).filter(
      ([, histogram]) => histogram !== null,
    ),
  )
}

function hasTag({ outcome, status }: TaggedRequest, { name, value }: ThresholdTag): boolean {
  if (name === 'status') return (Number.isNaN(status) ? 0 : status) === Number(value)
  return (outcome === 'succeeded') === (value === 'true')
}
