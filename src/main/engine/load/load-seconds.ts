import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { type Load, toArrivalSchedule } from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'
import { toErrorKey } from '../../../shared/run/counts.ts'
import { OUTCOMES } from '../../../shared/run/item-state.ts'
import type { WithoutOwnDelays } from '../../../shared/run/run.ts'
import type { CounterKind } from '../journal/counters.ts'
import type { Journal } from '../journal/journal.ts'
import type { LoadSecondExtras, LoadWriter } from '../journal/load-record.ts'
import type { SecondRecord } from '../journal/seconds.ts'
import { OwnDelays } from '../sending/own-delays.ts'
import { describeShaped, isBehind, isLimited, mergeHealth } from './generator-health.ts'
import type { LoadLedger, LoadRows } from './load-ledger.ts'
import type { LoadTally } from './load-tally.ts'
import type { SecondHealth } from './load-threads.ts'

/** Seconds without a report after which a thread no longer keeps the others' seconds open. */
const SILENCE_MAX_S = 10

export interface LoadSecondsOptions {
  load: Load
  ledger: LoadLedger
  rows: LoadRows
  writer: LoadWriter
  counters: Journal['counters']
}

/** A closed second: its sums, its journal record and what else is known. */
export interface ClosedSecond {
  tally: LoadTally
  record: SecondRecord
  extras: LoadSecondExtras
}

/** Closes a load's seconds in order, each once all threads have reported their health, and writes them. */
export class LoadSeconds {
  readonly #options: LoadSecondsOptions
  readonly #health = new Map<number, SecondHealth[]>()
  /** The last second that each thread has reported. */
  readonly #told: number[]
  /** Closed, and not committed yet. */
  readonly #unwritten: ClosedSecond[] = []
  /** Everything in the seconds that are closed. */
  readonly total = new LatencyMeter()
  readonly #own = new OwnDelays()
  /** Unix second in which measuring began. */
  #startS = 0
  #next = 0
  #limited = 0
  #sentRecently: number | null = null
  /** Nothing is due from here on, milliseconds since measuring began. */
  #dueUntilMs = Number.POSITIVE_INFINITY
  readonly gc = { pauses: 0, maxUs: 0 }
  /** Requests sent, and how many of them were retries. */
  sent = 0
  retries = 0
  dropped = 0
  /** Seconds in which too little of the schedule went out. */
  behind = 0
  /** Longest stall of a sending thread, microseconds. */
  stallMaxUs = 0
  /** The longest start lag that this machine caused, microseconds. */
  ownLagMaxUs = 0

  constructor(options: LoadSecondsOptions) {
    this.#options = options
    this.#told = Array.from({ length: options.load.workers }, () => -1)
  }

  /** Sets the Unix second in which measuring begins. Call this before closing anything. */
  begin(startS: number): void {
    this.#startS = startS
  }

  /** Sets when the load was ended early, milliseconds since measuring began. */
  endSchedule(ms: number): void {
    this.#dueUntilMs = Math.max(0, ms)
  }

  get count(): number {
    return this.#next
  }

  /** Seconds shaped by the generator, not by the service. */
  get limited(): number {
    return this.#limited
  }

  /** What this machine may have added to the total figures, a sentence each. */
  get limitedReasons(): string[] {
    return describeShaped(this.#own.listShaped(this.total), this.#options.load)
  }

  /** Total latencies without the delays of this machine. */
  get withoutOwnDelays(): WithoutOwnDelays {
    return this.#own.toPercentiles()
  }

  /** First tries sent in the last closed second, comparable to the schedule; null before the first. */
  get sentRecently(): number | null {
    return this.#sentRecently
  }

  /** Adds a thread's report of a second. A report delayed by a stall counts in the next open second. */
  noteHealth(index: number, health: SecondHealth): void {
    const { second } = health
    this.#told[index] = Math.max(this.#told[index] ?? -1, second)
    if (second < 0) return
    const at = Math.max(second, this.#next)
    this.#health.set(at, [...(this.#health.get(at) ?? []), health])
  }

  /** A thread has reported everything. */
  noteEnd(index: number): void {
    this.#told[index] = Number.POSITIVE_INFINITY
  }

  /** The last second that can be closed at `ms`, milliseconds since measuring began. */
  lastOver(ms: number): number {
    const over = Math.floor(ms / 1000) - 1
    return Math.min(over, Math.max(Math.min(...this.#told), over - SILENCE_MAX_S))
  }

  /** The last second with any data. */
  get lastKnown(): number {
    return Math.max(this.#options.ledger.lastSecond, ...this.#health.keys())
  }

  closeUpTo(last: number): void {
    for (; this.#next <= last; this.#next += 1) this.#close(this.#next)
  }

  /** Writes the seconds closed since {@link committed} and the totals. The caller has a transaction open. */
  write(): void {
    const { ledger, writer } = this.#options
    for (const { record, extras } of this.#unwritten) writer.writeSecond(record, extras)
    const touched = this.#unwritten.map(({ tally }) => tally)
    for (const group of ledger.total.listGroups(touched)) writer.writeGroup(group)
    this.#count()
  }

  /** Closed, and not committed yet. */
  get unwritten(): readonly ClosedSecond[] {
    return this.#unwritten
  }

  /** Marks the closed seconds as written. */
  committed(): void {
    this.#unwritten.length = 0
  }

  #close(number: number): void {
    const { ledger } = this.#options
    const second = ledger.close(number)
    const health = mergeHealth(this.#health.get(number) ?? [])
    this.#health.delete(number)
    const scheduled = this.#toScheduled(number)
    const generatorLimited = isLimited(second, health, scheduled)
    if (generatorLimited) this.#limited += 1
    if (isBehind(health, scheduled)) this.behind += 1
    this.ownLagMaxUs = Math.max(this.ownLagMaxUs, second.times.ownLagMaxUs)
    this.stallMaxUs = Math.max(this.stallMaxUs, health.eventLoopMaxUs)
    this.gc.pauses += health.gcPauses
    this.gc.maxUs = Math.max(this.gc.maxUs, health.gcMaxUs)
    this.sent += health.sent
    this.retries += health.retries
    this.dropped += health.dropped
    this.#sentRecently = health.sent - health.retries
    this.total.addAll(second.times.latency)
    this.#own.addAll(second.times.own)
    this.#options.rows.take(second.rows)
    this.#unwritten.push({
      tally: second.tally,
      record: {
        at: this.#startS + number,
        ...second.tally.counts,
        eventLoopMaxUs: health.eventLoopMaxUs,
        generatorLimited,
        latency: second.times.latency,
      },
      extras: {
        second: number,
        sent: health.sent,
        scheduled,
        dropped: health.dropped,
        inFlight: health.inFlightMax,
        gcUs: health.gcUs,
      },
    })
  }

  /** Sets the journal's counters to the totals, whatever a failed transaction left in them. */
  #count(): void {
    const { counters, ledger, rows } = this.#options
    const set = (kind: CounterKind, value: string, n: number) =>
      counters.add(kind, value, n - counters.get(kind, value))
    for (const outcome of OUTCOMES) {
      set('request', outcome, ledger.total.counts[outcome])
      set('state', outcome, rows.counts[outcome])
    }
    set('request', 'retried', ledger.total.retried)
    for (const { outcome, status, errorCode, message, requests } of ledger.total.errors) {
      set('error', toErrorKey(outcome, status, errorCode, message), requests)
    }
  }

  #toScheduled(second: number): number | null {
    const { load } = this.#options
    if (!isOpen(load.pace)) return null
    const schedule = toArrivalSchedule(load)
    const countDue = (ms: number) => schedule.countDue(Math.min(ms, this.#dueUntilMs) - 1e-6)
    return countDue((second + 1) * 1000) - countDue(second * 1000)
  }
}
