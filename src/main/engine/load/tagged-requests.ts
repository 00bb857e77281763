import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import type { Load } from '../../../shared/load/load.ts'
import {
  addRequestSums,
  createRequestSums,
  mapTrends,
  type RequestSums,
  type TaggedMeasurements,
} from '../../../shared/load/metrics.ts'
import {
  createTagMatcher,
  formatTags,
  isOfAll,
  listRowTags,
  type TaggedRequest,
  type ThresholdTag,
} from '../../../shared/load/threshold-tags.ts'
import { readExpression, type Threshold } from '../../../shared/load/thresholds.ts'
import { SecondTimes } from '../sending/second-meter.ts'

/** A set of tags named by thresholds, and a test for requests that have all of them. */
export interface TagSet {
  name: string
  matches: (request: TaggedRequest) => boolean
}

export interface AddedRequest {
  isSuccess: boolean
  /** Whether it is the last try of its row. */
  isIteration: boolean
  /** Whether it ended within the measured time. */
  isWithin: boolean
  sentBytes: number
  receivedBytes: number
}

/** The sets of tags that thresholds name, each once, without tags that all requests have. */
function listTags(thresholds: readonly Threshold[]): (readonly ThresholdTag[])[] {
  const sets = thresholds.map(({ expression }) => readExpression(expression).tags)
  return [
    ...new Map(sets.filter((tags) => !tags.every(isOfAll)).map((tags) => [formatTags(tags), tags])).values(),
  ]
}

/** The tags of rows that thresholds name: column and value. */
export function listThresholdRowTags(thresholds: readonly Threshold[]): ThresholdTag[] {
  return listRowTags(listTags(thresholds))
}

/** The sets of tags that a load's thresholds name. `urls`: names that the requests' URL may have. */
export function createTagSets({ thresholds, pace }: Load, urls: readonly string[]): TagSet[] {
  const sets = listTags(thresholds)
  const rowTags = listRowTags(sets)
  const stages = pace.kind === 'stages' ? pace.stages.map(({ name }) => name) : []
  return sets.map((tags) => ({
    name: formatTags(tags),
    matches: createTagMatcher(tags, { urls, stages, rowTags }),
  }))
}

/** Sums of ended requests: of all, and of those within the measured time. */
export class SummedRequests {
  readonly all = createRequestSums()
  readonly within = createRequestSums()

  add(request: AddedRequest): void {
    addOne(this.all, request)
    if (request.isWithin) addOne(this.within, request)
  }

  merge({ all, within }: SummedRequests): void {
    addRequestSums(this.all, all)
    addRequestSums(this.within, within)
  }
}

function addOne(sums: RequestSums, { isSuccess, isIteration, sentBytes, receivedBytes }: AddedRequest): void {
  sums.requests += 1
  if (!isSuccess) sums.failed += 1
  if (isIteration) sums.iterations += 1
  sums.sentBytes += sentBytes
  sums.receivedBytes += receivedBytes
}

/** Sums of requests by the tags of thresholds; their size does not grow with the requests. */
export class TaggedRequests {
  readonly #parts: readonly { set: TagSet; sums: SummedRequests; times: SecondTimes }[]

  constructor(sets: readonly TagSet[]) {
    this.#parts = sets.map((set) => ({ set, sums: new SummedRequests(), times: new SecondTimes() }))
  }

  /** Counts a request; calls `addTimes` for each set of tags that it has. */
  add(tags: TaggedRequest, request: AddedRequest, addTimes: (times: SecondTimes) => void): void {
    for (const { set, sums, times } of this.#parts) {
      if (!set.matches(tags)) continue
      sums.add(request)
      addTimes(times)
    }
  }

  /** Adds everything that another instance with the same sets has counted. */
  merge(other: TaggedRequests): void {
    for (const [index, { sums, times }] of this.#parts.entries()) {
      const added = other.#parts[index]
      if (added === undefined) continue
      sums.merge(added.sums)
      times.latency.addAll(added.times.latency)
    }
  }

  toMeasurements(): ReadonlyMap<string, TaggedMeasurements> {
    return new Map(
      this.#parts.map(({ set, sums, times }) => [
        set.name,
        {
          all: sums.all,
          within: sums.within,
          latencies: mapTrends((metric) => times.latency.histogram(metric)),
        },
      ]),
    )
  }
}

/** The latencies that are kept of each stage. */
export const STAGE_METRICS = ['http_req_duration', 'succeeded_duration', 'response_time'] as const

export interface StageRequests {
  sums: SummedRequests
  latency: LatencyMeter
}

export class StagedRequests {
  readonly #stages = new Map<number, StageRequests>()

  of(stage: number): StageRequests {
    let found = this.#stages.get(stage)
    if (found === undefined) {
      found = { sums: new SummedRequests(), latency: new LatencyMeter() }
      this.#stages.set(stage, found)
    }
    return found
  }

  merge(other: StagedRequests): void {
    for (const [stage, { sums, latency }] of other.#stages) {
      const own = this.of(stage)
      own.sums.merge(sums)
      own.latency.addAll(latency)
    }
  }
}
