import type { ExchangeTimings } from './exchange.ts'

/** Notes when the parts of one try happened, all in milliseconds of `performance.now()`. */
export class ExchangeClock {
  /** When the request was handed over. */
  readonly handedOverMs: number = performance.now()
  /** First byte sent; null where none was. */
  startMs: number | null = null
  /** Last byte sent: as the first one, except a request too large for the operating system's buffer. */
  bodySentMs = 0
  /** First byte received. */
  firstByteMs: number | null = null

  /** `phases`: of the connection that the try opened, microseconds; null where it found one open. */
  end(endMs: number, phases: { connectUs: number; tlsUs: number | null } | null): ExchangeTimings {
    const startMs = this.startMs ?? this.handedOverMs
    return {
      sentAtUs: Math.round((performance.timeOrigin + startMs) * 1000),
      durationUs: Math.max(0, Math.round((endMs - startMs) * 1000)),
      waitingUs:
        this.firstByteMs === null
          ? null
          : Math.max(0, Math.round((this.firstByteMs - this.bodySentMs) * 1000)),
      connectUs: phases?.connectUs ?? null,
      tlsUs: phases?.tlsUs ?? null,
    }
  }
}
