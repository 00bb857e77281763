import { randomBytes } from 'node:crypto'

/** The header that carries a trace context (W3C Trace Context, https://www.w3.org/TR/trace-context/). */
export const TRACE_HEADER = 'traceparent'

const TRACE_BYTES = 16
const SPAN_BYTES = 8

/**
 * A new trace context for one try: a new trace id and span id, with the flag that the trace is sampled.
 * Without the flag, a service that samples like its callers would keep nothing to look up.
 */
export function createTraceparent(): string {
  const ids = randomBytes(TRACE_BYTES + SPAN_BYTES)
  return `00-${ids.toString('hex', 0, TRACE_BYTES)}-${ids.toString('hex', TRACE_BYTES)}-01`
}
