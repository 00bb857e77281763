import type { Outcome } from '../../../shared/run/item-state.ts'
import { OUTCOMES } from '../../../shared/run/item-state.ts'
import { toOwnLagUs } from '../sending/own-delays.ts'
import { SecondTimes } from '../sending/second-meter.ts'
import { TIMEOUT_CODE } from '../service/exchange.ts'
import { AnswerSilence } from './answer-silence.ts'
import type { CallbackCount, LoadCallbacks } from './load-callbacks.ts'
import { LoadTally } from './load-tally.ts'
import type { LoadErrorCause, LoadUpdate } from './load-threads.ts'
import { FIELD, FLAG, RECORD_NUMBERS } from './request-record.ts'
import {
  type AddedRequest,
  StagedRequests,
  SummedRequests,
  TaggedRequests,
  type TagSet,
} from './tagged-requests.ts'

/** Most models counted separately; further ones are counted together. */
const MODELS_MAX = 50
const FURTHER_MODELS = '(further models)'
const SERVICE_DECIDES = "(the service's choice)"

type Records = Extract<LoadUpdate, { kind: 'records' }>

/** Requests that ended in one second. */
export interface OpenSecond {
  tally: LoadTally
  times: SecondTimes
  tagged: TaggedRequests
  staged: StagedRequests
  /** In the order in which their ends were reported. */
  rows: RowEnding[]
}

/** Requests that wait for an answer, as they would count if none came. */
export type UnansweredRequests = Pick<OpenSecond, 'times' | 'tagged'> & { sums: SummedRequests }

/** Causes and models, by the numbers that one thread uses for them. */
interface ThreadNames {
  causes: Map<number, LoadErrorCause>
  models: Map<number, string>
}

/**
 * Adds up the records of all sending threads, per second and in total, in memory that does not grow with the
 * load. The total covers closed seconds, like everything written of a load, so that all figures describe the
 * same moment.
 */
export class LoadLedger {
  #startMs = 0
  /** Called for each try that ended, except a refused one that another follows. */
  readonly #onEnded: LoadCallbacks['noteEnd']
  readonly #seconds = new Map<number, OpenSecond>()
  readonly #threads: ThreadNames[] = []
  readonly #models = new Set<string>()
  /** The second of the last record; null once a second was closed. */
  #open: { number: number; second: OpenSecond } | null = null
  #closedUpTo = -1
  /** Requests that end later count in no rate, microseconds since measuring began. */
  #measuredUs = Number.POSITIVE_INFINITY
  /** When the last request ended, microseconds since measuring began; 0 before the first. */
  lastEndUs = 0
  /** Requests reported so far, and those that did not succeed, including open seconds. */
  requests = 0
  failed = 0
  readonly silence = new AnswerSilence()
  /** All closed seconds. */
  readonly total = new LoadTally()
  readonly tagged: TaggedRequests
  readonly staged = new StagedRequests()
  readonly #tagSets: readonly TagSet[]
  readonly #toStage: ((sequence: number, sentMs: number) => number) | null

  /**
   * `tagSets`: tags whose requests are also counted separately. `toStage`: the stage number of a request,
   * from its number in the load and when it was sent, milliseconds since measuring began; null if the pace
   * has no stages.
   */
  constructor(
    onEnded: LoadCallbacks['noteEnd'],
    tagSets: readonly TagSet[] = [],
    toStage: ((sequence: number, sentMs: number) => number) | null = null,
  ) {
    this.#onEnded = onEnded
    this.#tagSets = tagSets
    this.#toStage = toStage
    this.tagged = new TaggedRequests(tagSets)
  }

  /** Sets when measuring begins, by the load's clock. Call this before adding anything. */
  begin(startMs: number): void {
    this.#startMs = startMs
  }

  /** Sets when the measured time ends, milliseconds after it began; the earliest end counts. */
  endMeasuring(ms: number): void {
    this.#measuredUs = Math.min(this.#measuredUs, ms * 1000)
  }

  /** Adds the records that a thread handed over. */
  add({ index, records, errors, models }: Records): void {
    const names = this.#threads[index] ?? { causes: new Map(), models: new Map() }
    this.#threads[index] = names
    for (const [number, cause] of errors) names.causes.set(number, cause)
    for (const [number, name] of models) names.models.set(number, this.#toModelLabel(name))
    for (let at = 0; at < records.length; at += RECORD_NUMBERS) this.#addRecord(records, at, names)
  }

  /** Sums of closed seconds and their tags, together with `others`. */
  addUp(others: UnansweredRequests | null): { sums: SummedRequests; tagged: TaggedRequests } {
    if (others === null) return { sums: this.total.sums, tagged: this.tagged }
    const sums = new SummedRequests()
    const tagged = new TaggedRequests(this.#tagSets)
    for (const part of [this.total.sums, others.sums]) sums.merge(part)
    for (const part of [this.tagged, others.tagged]) tagged.merge(part)
    return { sums, tagged }
  }

  /** Closes a second that is over; later reports for it count in the next one. */
  close(second: number): OpenSecond {
    const closed = this.#seconds.get(second) ?? this.#createSecond()
    this.#seconds.delete(second)
    this.#open = null
    this.#closedUpTo = Math.max(this.#closedUpTo, second)
    this.total.merge(closed.tally)
    this.tagged.merge(closed.tagged)
    this.staged.merge(closed.staged)
    return closed
  }

  /** Adds up records of requests that wait for an answer, except those that waited less than `leastUs`. */
  addUnanswered(threads: readonly Float64Array[], leastUs: number): UnansweredRequests {
    const { times, tagged, staged } = this.#createSecond()
    const sums = new SummedRequests()
    for (const records of threads) {
      for (let at = 0; at < records.length; at += RECORD_NUMBERS) {
        const read = (field: number) => records[at + field] ?? Number.NaN
        if (read(FIELD.durationUs) < leastUs) continue
        const isWithin = read(FIELD.endUs) <= this.#measuredUs
        const request = { isSuccess: false, isIteration: true, isWithin, sentBytes: 0, receivedBytes: 0 }
        sums.add(request)
        addTimes(times, read, read(FIELD.flags), false)
        this.#addParts({ tagged, staged }, read, request, TIMEOUT_CODE)
      }
    }
    return { times, tagged, sums }
  }

  /** The last second in which anything ended, or was closed. */
  get lastSecond(): number {
    return Math.max(this.#closedUpTo, ...this.#seconds.keys())
  }

  /** Records the latency of a callback that arrived at this Unix microsecond. */
  addCallback(latencyUs: number, receivedAtUs: number): void {
    this.#secondAtUnix(receivedAtUs).times.latency.record('callback_latency', latencyUs)
  }

  /** Counts one callback of this kind, at this Unix microsecond. */
  countCallback(what: CallbackCount, atUs: number): void {
    this.#secondAtUnix(atUs).tally.callbacks[what] += 1
  }

  /**
   * Counts a request whose callback, at this Unix microsecond, says nothing of the content: 1, or -1 once
   * another one replaces it.
   */
  countNoResult(atUs: number, requests: 1 | -1): void {
    this.#secondAtUnix(atUs).tally.noResult += requests
  }

  #addRecord(records: Float64Array, at: number, { causes, models }: ThreadNames): void {
    const read = (field: number) => records[at + field] ?? Number.NaN
    const flags = read(FIELD.flags)
    const outcomeIndex = read(FIELD.outcome)
    const outcome = OUTCOMES[outcomeIndex] ?? 'unknown'
    const endUs = read(FIELD.endUs)
    const durationUs = read(FIELD.durationUs)
    const second = this.#secondAt(endUs)
    this.requests += 1
    if (outcome !== 'succeeded') this.failed += 1
    this.lastEndUs = Math.max(this.lastEndUs, endUs)
    const isIteration = !Number.isNaN(read(FIELD.iterationUs))
    const sentBytes = read(FIELD.sentBytes)
    const receivedBytes = read(FIELD.receivedBytes)
    const cause = causes.get(read(FIELD.error))
    second.tally.add(
      {
        outcome,
        flags,
        endUs,
        durationUs,
        connectUs: read(FIELD.connectUs),
        status: read(FIELD.status),
        cause,
        model: models.get(read(FIELD.model)) ?? SERVICE_DECIDES,
        contentBytes: read(FIELD.contentBytes),
        retryAfterMs: read(FIELD.retryAfterMs),
        waitedMs: read(FIELD.waitedMs),
        isIteration,
        sentBytes,
        receivedBytes,
      },
      this.#measuredUs,
    )
    const isAnswered = (flags & FLAG.answered) !== 0
    this.silence.add(endUs, durationUs, isAnswered ? null : (cause?.errorCode ?? null))
    const isSuccess = outcome === 'succeeded'
    addTimes(second.times, read, flags, isSuccess)
    if (this.#tagSets.length > 0 || this.#toStage !== null) {
      const isWithin = endUs <= this.#measuredUs
      const request = { isSuccess, isIteration, isWithin, sentBytes, receivedBytes }
      this.#addParts(second, read, request, cause?.errorCode ?? null)
    }
    second.rows.push(toRowEnding(read(FIELD.position), outcomeIndex))
    const sentAtUs = this.#startMs * 1000 + endUs - durationUs
    const isAcknowledged = (flags & FLAG.acknowledged) !== 0
    const promise = isAcknowledged ? 'given' : outcome === 'unknown' ? 'unknown' : 'refused'
    // The callback of the next try may have come already.
    if (isIteration || promise !== 'refused') this.#onEnded(read(FIELD.sequence) + 1, sentAtUs, promise)
  }

  /** Counts a request with its stage and with each tag set that it matches. */
  #addParts(
    second: Pick<OpenSecond, 'tagged' | 'staged'>,
    read: (field: number) => number,
    request: AddedRequest,
    errorCode: string | null,
  ): void {
    const { isSuccess } = request
    const flags = read(FIELD.flags)
    const sentMs = (read(FIELD.endUs) - read(FIELD.durationUs)) / 1000
    const stage = this.#toStage?.(read(FIELD.sequence), sentMs) ?? null
    const status = read(FIELD.status)
    const tags = {
      status: Number.isNaN(status) ? 0 : status,
      isSuccess,
      errorCode,
      stage,
      rowTags: read(FIELD.rowTags),
    }
    second.tagged.add(tags, request, (times) => addTimes(times, read, flags, isSuccess))
    if (stage === null) return
    const { sums, latency } = second.staged.of(stage)
    sums.add(request)
    if (!(flags & FLAG.timed)) return
    const durationUs = read(FIELD.durationUs)
    const responseUs = read(FIELD.responseUs)
    latency.record('http_req_duration', Math.round(durationUs))
    if (isSuccess) latency.record('succeeded_duration', Math.round(durationUs))
    if (!Number.isNaN(responseUs)) latency.record('response_time', Math.round(responseUs))
  }

  #toModelLabel(name: string): string {
    const label = name === '' ? SERVICE_DECIDES : name
    if (this.#models.size < MODELS_MAX) this.#models.add(label)
    return this.#models.has(label) ? label : FURTHER_MODELS
  }

  #createSecond(): OpenSecond {
    return {
      tally: new LoadTally(),
      times: new SecondTimes(),
      tagged: new TaggedRequests(this.#tagSets),
      staged: new StagedRequests(),
      rows: [],
    }
  }

  #secondAtUnix(us: number): OpenSecond {
    return this.#secondAt(us - this.#startMs * 1000)
  }

  #secondAt(us: number): OpenSecond {
    const number = Math.max(this.#closedUpTo + 1, Math.floor(us / 1e6), 0)
    if (this.#open?.number === number) return this.#open.second
    let second = this.#seconds.get(number)
    if (second === undefined) {
      second = this.#createSecond()
      this.#seconds.set(number, second)
    }
    this.#open = { number, second }
    return second
  }
}

function addTimes(
  times: SecondTimes,
  read: (field: number) => number,
  flags: number,
  isSuccess: boolean,
): void {
  const toUs = (field: number) => {
    const us = read(field)
    return Number.isNaN(us) ? null : Math.round(us)
  }
  const connectUs = toUs(FIELD.connectUs)
  times.addPhases({ waitingUs: toUs(FIELD.waitingUs), connectUs, tlsUs: toUs(FIELD.tlsUs) })
  times.addDetails((detail) => toUs(FIELD[detail]))
  if (!(flags & FLAG.timed)) return
  const lagUs = toUs(FIELD.lagUs)
  const hasWaited = (flags & FLAG.waited) !== 0
  const ownLagUs = toOwnLagUs({ lagUs, hasWaited, connectUs, blockedUs: toUs(FIELD.blockedUs) })
  const unreadUs = read(FIELD.unreadUs)
  times.addTimed(toUs(FIELD.durationUs), toUs(FIELD.responseUs), lagUs, { isSuccess, ownLagUs, unreadUs })
}

/** Outcomes of the rows of a load's source. Each row counts with its request that was reported last. */
export class LoadRows {
  readonly counts: Record<Outcome, number> = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  /** By position among the valid rows: 0 before its first request ended, else its outcome's index plus 1. */
  readonly #last: Uint8Array

  /** `count`: how many rows there may be. */
  constructor(count: number) {
    this.#last = new Uint8Array(count)
  }

  take(endings: readonly RowEnding[]): void {
    for (const ending of endings) {
      const position = Math.floor(ending / OUTCOMES.length)
      const index = ending % OUTCOMES.length
      const before = OUTCOMES[(this.#last[position] ?? 0) - 1]
      if (before !== undefined) this.counts[before] -= 1
      this.counts[OUTCOMES[index] ?? 'unknown'] += 1
      this.#last[position] = index + 1
    }
  }
}

/** A row's position and its outcome's index in one number: there is one for every request. */
export type RowEnding = number

export function toRowEnding(position: number, outcomeIndex: number): RowEnding {
  return position * OUTCOMES.length + outcomeIndex
}
