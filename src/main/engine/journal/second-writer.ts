import type { StatementSync } from 'node:sqlite'
import type { LatencyMeter } from '../../../shared/latency-meter.ts'
import type { Journal } from './journal.ts'

/** One second of a run: what ended in it. */
export interface SecondRecord {
  /** Unix seconds. */
  at: number
  succeeded: number
  rejected: number
  failed: number
  unknown: number
  /** Longest delay of the sending thread's event loop, microseconds; null where it was not watched. */
  eventLoopMaxUs: number | null
  latency: LatencyMeter
}

/** Writes the run's seconds. */
export class SecondWriter {
  readonly #insert: StatementSync

  constructor(journal: Journal) {
    this.#insert = journal.db.prepare(
      `INSERT OR REPLACE INTO second (at, sent, succeeded, rejected, failed, unknown, event_loop_max_us,
       http_req_duration, http_req_waiting, http_req_connecting, http_req_tls_handshaking, response_time, start_lag)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
  }

  /** Writes one second. The caller has a transaction open, and never gives the same `at` twice. */
  write({ at, succeeded, rejected, failed, unknown, eventLoopMaxUs, latency }: SecondRecord): void {
    this.#insert.run(
      at,
      succeeded + rejected + failed + unknown,
      succeeded,
      rejected,
      failed,
      unknown,
      eventLoopMaxUs,
      latency.encode('http_req_duration'),
      latency.encode('http_req_waiting'),
      latency.encode('http_req_connecting'),
      latency.encode('http_req_tls_handshaking'),
      latency.encode('response_time'),
      latency.encode('start_lag'),
    )
  }
}
