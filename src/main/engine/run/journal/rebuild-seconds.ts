import { LatencyMeter } from '../../../../shared/load/latency-meter.ts'
import type { Outcome } from '../../../../shared/run/item-state.ts'
import type { Journal } from '../../journal/journal.ts'
import { readLastSecond } from '../../journal/run-latency.ts'
import { type SecondRecord, SecondWriter } from '../../journal/second-writer.ts'
import { isTimed } from '../../journal/timed-try.ts'

/** A try as it is needed here. */
interface JournaledAttempt {
  item: number
  number: number
  at: number
  outcome: Outcome
  errorCode: string | null
  durationUs: number
  waitingUs: number | null
  connectUs: number | null
  tlsUs: number | null
}

/**
 * Writes the seconds that were running when the process died, from the tries that were journaled in them. What only
 * the dead process knew of them (start_lag, response_time, the event loop) stays unknown.
 */
export function rebuildSeconds(journal: Journal): void {
  const last = readLastSecond(journal.db)
  const seconds = new Map<number, SecondRecord>()
  for (const attempt of readAttemptsFrom(journal, last.at)) {
    const second = seconds.get(attempt.at) ?? createSecond(attempt.at)
    seconds.set(attempt.at, second)
    second[attempt.outcome] += 1
    if (isTimed(attempt)) second.latency.record('http_req_duration', attempt.durationUs)
    second.latency.record('http_req_waiting', attempt.waitingUs)
    second.latency.record('http_req_connecting', attempt.connectUs)
    second.latency.record('http_req_tls_handshaking', attempt.tlsUs)
  }
  // The last second is whole unless a further session began in it.
  if (countEnds(seconds.get(last.at)) === last.sent) seconds.delete(last.at)
  if (seconds.size === 0) return
  const writer = new SecondWriter(journal)
  journal.transact('process', () => {
    for (const second of seconds.values()) writer.replace(second)
  })
}

function* readAttemptsFrom(journal: Journal, at: number): Generator<JournaledAttempt> {
  const page = journal.db.prepare(
    `SELECT item, number, (sent_at_us + duration_us) / 1000000 AS at, outcome, error_code, duration_us, waiting_us,
     connect_us, tls_us FROM attempt WHERE (item, number) > (?, ?) AND sent_at_us IS NOT NULL
     AND (sent_at_us + duration_us) / 1000000 >= ? ORDER BY item, number LIMIT 10000`,
  )
  let last = { item: 0, number: 0 }
  for (;;) {
    const rows = page.all(last.item, last.number, at)
    for (const row of rows) {
      last = { item: Number(row['item']), number: Number(row['number']) }
      yield {
        ...last,
        at: Number(row['at']),
        outcome: row['outcome'] as Outcome,
        errorCode: row['error_code'] === null ? null : String(row['error_code']),
        durationUs: Number(row['duration_us']),
        waitingUs: toNumber(row['waiting_us']),
        connectUs: toNumber(row['connect_us']),
        tlsUs: toNumber(row['tls_us']),
      }
    }
    if (rows.length === 0) return
  }
}

function countEnds(second: SecondRecord | undefined): number {
  if (second === undefined) return 0
  return second.succeeded + second.rejected + second.failed + second.unknown
}

function createSecond(at: number): SecondRecord {
  return {
    at,
    succeeded: 0,
    rejected: 0,
    failed: 0,
    unknown: 0,
    eventLoopMaxUs: null,
    generatorLimited: false,
    latency: new LatencyMeter(),
  }
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}
