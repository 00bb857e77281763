import type { Histogram } from 'hdr-histogram-js'
import { createHistogram, encodeHistogram, recordUs } from '../../../shared/load/latency-meter.ts'
import type { LoadErrorGroup, LoadStatus, LoadThrottling } from '../../../shared/load/load-report.ts'
import { toErrorKey } from '../../../shared/run/counts.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { LoadGroupRecord } from '../journal/load-record.ts'
import type { LoadErrorCause } from './load-threads.ts'
import { FLAG } from './request-record.ts'
import { SummedRequests } from './tagged-requests.ts'

/** Upper edges of the ranges of content sizes, bytes. */
const SIZES = [100, 1_000, 10_000, 100_000, Number.POSITIVE_INFINITY]
const SIZE_LABELS = ['up to 100 B', 'up to 1 kB', 'up to 10 kB', 'up to 100 kB', 'over 100 kB']

/** A request that ended, as it is counted; NaN for what it did not have. */
export interface EndedRequest {
  outcome: Outcome
  /** Sum of {@link FLAG}s. */
  flags: number
  /** Since measuring began, microseconds. */
  endUs: number
  durationUs: number
  connectUs: number
  status: number
  /** Undefined if it succeeded. */
  cause: LoadErrorCause | undefined
  /** As it is shown. */
  model: string
  contentBytes: number
  retryAfterMs: number
  waitedMs: number
  /** Whether it is the last try of its row. */
  isIteration: boolean
  sentBytes: number
  receivedBytes: number
}

interface Group {
  requests: number
  failed: number
  histogram: Histogram
}

/** Sums over requests, whose size does not grow with their number. */
export class LoadTally {
  readonly counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  /** Within the measured time, for rates. `retries` are part of `sent`. */
  readonly within = { sent: 0, retries: 0, ended: 0, answered: 0, succeeded: 0 }
  readonly throttling: LoadThrottling = { answers: 0, retryAfterAnswers: 0, askedS: 0 }
  readonly connections = { opened: 0, reused: 0 }
  readonly callbacks = {
    received: 0,
    doubled: 0,
    differing: 0,
    rejected: 0,
    ofRefused: 0,
    otherPost: 0,
    unreadable: 0,
    late: 0,
    overdue: 0,
  }
  /** Answered, whatever the answer. */
  answered = 0
  readonly sums = new SummedRequests()
  fromCache = 0
  /** Successful answers and callbacks that say nothing of the content. */
  noResult = 0
  /** Successful answers that lack a model that was requested. */
  missingModels = 0
  /** Successful answers that repeat nothing and name the task of another request. */
  sharedTasks = 0
  readonly echoes = { verified: 0, alike: 0, notVerifiable: 0, mismatched: 0 }
  waited = 0
  retried = 0
  /** Failed requests that bursts after stalls of this machine may explain. */
  mayBeOwnFailures = 0
  /** How long a Retry-After put off tries, milliseconds. */
  putOffMs = 0
  /** By status, and by error code within it. */
  readonly #statuses = new Map<number, Map<string | null, LoadStatus>>()
  readonly #errors = new Map<string, LoadErrorGroup>()
  readonly #sizes = new Map<string, Group>()
  readonly #models = new Map<string, Group>()

  get requests(): number {
    return this.counts.succeeded + this.failed
  }

  get failed(): number {
    const { rejected, failed, unknown } = this.counts
    return rejected + failed + unknown
  }

  /** Answers by status and error code, most first. */
  get statuses(): LoadStatus[] {
    return [...this.#listStatuses()].sort((a, b) => b.requests - a.requests)
  }

  /** What did not succeed by cause, most first. */
  get errors(): LoadErrorGroup[] {
    return [...this.#errors.values()].sort((a, b) => b.requests - a.requests)
  }

  /** Requests by content size and by model, only the groups that one of `those` tallies has, too. */
  listGroups(those: readonly LoadTally[] = [this]): LoadGroupRecord[] {
    return [
      ...[...this.#sizes]
        .filter(([label]) => those.some((one) => one.#sizes.has(label)))
        .map(toGroupRecord('size')),
      ...[...this.#models]
        .filter(([label]) => those.some((one) => one.#models.has(label)))
        .map(toGroupRecord('model')),
    ]
  }

  /** Counts one request; `measuredUs`: end of the measured time, on the clock of its `endUs`. */
  add(request: EndedRequest, measuredUs: number): void {
    const { outcome, flags, endUs, durationUs, status, cause, retryAfterMs, waitedMs } = request
    this.counts[outcome] += 1
    if (flags & FLAG.answered) this.answered += 1
    if (flags & FLAG.fromCache) this.fromCache += 1
    if (flags & FLAG.noResult) this.noResult += 1
    if (flags & FLAG.missingModels) this.missingModels += 1
    if (flags & FLAG.sharedTask) this.sharedTasks += 1
    if (flags & FLAG.verified) this.echoes.verified += 1
    if (flags & FLAG.alike) this.echoes.alike += 1
    if (flags & FLAG.unverifiable) this.echoes.notVerifiable += 1
    if (flags & FLAG.mismatched) this.echoes.mismatched += 1
    if (flags & FLAG.waited) this.waited += 1
    if (flags & FLAG.retry) this.retried += 1
    if (flags & FLAG.inBurst && outcome !== 'succeeded') this.mayBeOwnFailures += 1
    this.#addWithin(request, measuredUs)
    const { isIteration, sentBytes, receivedBytes } = request
    const isSuccess = outcome === 'succeeded'
    this.sums.add({ isSuccess, isIteration, isWithin: endUs <= measuredUs, sentBytes, receivedBytes })
    if (!Number.isNaN(request.connectUs)) this.connections.opened += 1
    else if (flags & FLAG.sent) this.connections.reused += 1
    if (status === 429) this.throttling.answers += 1
    if (!Number.isNaN(retryAfterMs)) {
      this.throttling.retryAfterAnswers += 1
      this.throttling.askedS += retryAfterMs / 1000
    }
    if (!Number.isNaN(waitedMs)) this.putOffMs += waitedMs
    this.#addStatus(status, cause?.errorCode ?? null, 1)
    if (cause !== undefined) {
      const second = Math.max(0, Math.floor(endUs / 1e6))
      this.#addError({ ...cause, requests: 1, firstSecond: second, lastSecond: second })
    }
    const timedUs = flags & FLAG.timed ? durationUs : null
    addToGroup(this.#sizeGroup(request.contentBytes), outcome, timedUs)
    addToGroup(groupOf(this.#models, request.model), outcome, timedUs)
  }

  merge(other: LoadTally): void {
    addNumbers(this.counts, other.counts)
    addNumbers(this.within, other.within)
    addNumbers(this.throttling, other.throttling)
    addNumbers(this.connections, other.connections)
    addNumbers(this.callbacks, other.callbacks)
    this.answered += other.answered
    this.sums.merge(other.sums)
    this.fromCache += other.fromCache
    this.noResult += other.noResult
    this.missingModels += other.missingModels
    this.sharedTasks += other.sharedTasks
    addNumbers(this.echoes, other.echoes)
    this.waited += other.waited
    this.retried += other.retried
    this.mayBeOwnFailures += other.mayBeOwnFailures
    this.putOffMs += other.putOffMs
    for (const { status, errorCode, requests } of other.#listStatuses()) {
      this.#addStatus(status ?? Number.NaN, errorCode, requests)
    }
    for (const group of other.#errors.values()) this.#addError(group)
    for (const [label, group] of other.#sizes) mergeGroup(groupOf(this.#sizes, label), group)
    for (const [label, group] of other.#models) mergeGroup(groupOf(this.#models, label), group)
  }

  #addWithin({ outcome, flags, endUs, durationUs }: EndedRequest, measuredUs: number): void {
    if (endUs - durationUs <= measuredUs) {
      this.within.sent += 1
      if (flags & FLAG.retry) this.within.retries += 1
    }
    if (endUs > measuredUs) return
    this.within.ended += 1
    if (flags & FLAG.answered) this.within.answered += 1
    if (outcome === 'succeeded') this.within.succeeded += 1
  }

  *#listStatuses(): Generator<LoadStatus> {
    for (const codes of this.#statuses.values()) yield* codes.values()
  }

  #addStatus(status: number, errorCode: string | null, requests: number): void {
    const codes = this.#statuses.get(status) ?? new Map<string | null, LoadStatus>()
    this.#statuses.set(status, codes)
    const known = codes.get(errorCode)
    if (known !== undefined) known.requests += requests
    else codes.set(errorCode, { status: Number.isNaN(status) ? null : status, errorCode, requests })
  }

  #addError(group: LoadErrorGroup): void {
    const { outcome, status, errorCode, message } = group
    const key = toErrorKey(outcome, status, errorCode, message)
    const known = this.#errors.get(key)
    if (known === undefined) {
      this.#errors.set(key, { ...group })
      return
    }
    known.requests += group.requests
    known.firstSecond = Math.min(known.firstSecond, group.firstSecond)
    known.lastSecond = Math.max(known.lastSecond, group.lastSecond)
  }

  #sizeGroup(bytes: number): Group {
    return groupOf(this.#sizes, SIZE_LABELS[SIZES.findIndex((edge) => bytes <= edge)] ?? '')
  }
}

function groupOf(groups: Map<string, Group>, label: string): Group {
  let group = groups.get(label)
  if (group === undefined) {
    group = { requests: 0, failed: 0, histogram: createHistogram() }
    groups.set(label, group)
  }
  return group
}

function addToGroup(group: Group, outcome: EndedRequest['outcome'], durationUs: number | null): void {
  group.requests += 1
  if (outcome !== 'succeeded') group.failed += 1
  if (durationUs !== null) recordUs(group.histogram, durationUs)
}

function mergeGroup(group: Group, { requests, failed, histogram }: Group): void {
  group.requests += requests
  group.failed += failed
  group.histogram.add(histogram)
}

function toGroupRecord(by: LoadGroupRecord['by']): (entry: [string, Group]) => LoadGroupRecord {
  return ([label, { requests, failed, histogram }]) => ({
    by,
    label,
    requests,
    failed,
    histogram: histogram.totalCount === 0 ? null : encodeHistogram(histogram),
  })
}

function addNumbers<Numbers extends Record<keyof Numbers, number>>(sums: Numbers, others: Numbers): void {
  for (const name of Object.keys(sums) as (keyof Numbers)[]) {
    sums[name] = (sums[name] + others[name]) as Numbers[keyof Numbers]
  }
}
