import type { Exchange } from './exchange.ts'

/** One HTTP request, ready for the wire. */
export interface WireRequest {
  method: 'POST' | 'GET'
  /** What the request line names: path and query, or the whole address for a proxy. */
  target: string
  /** Names and values in turn. */
  headers: readonly string[]
  body: string | null
}

/** One connection, opened when it is needed, with one request at a time. */
export interface WireClient {
  /**
   * Sends a request; `onEnd` is called exactly once, never before `send` returns, and never throws back into it.
   * Throws where the request before has not ended.
   */
  send(request: WireRequest, onEnd: (exchange: Exchange) => void): void
  /** Closes the connection at once; a request in flight ends as a breakdown. */
  destroy(): Promise<void>
}

/** Longer than any gap of a slow pace, so that a connection is reopened only where the service closes it. */
export const KEEP_ALIVE_MS = 60_000

/** What a failed connection is told as. */
export function toCause(error: Error): { code: string; message: string } {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return { code, message: toMessage(error) }
}

function toMessage(error: Error): string {
  // Happy Eyeballs fails with one error for each address.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((inner) => (inner instanceof Error ? inner.message : String(inner))).join('; ')
  }
  return error.message
}
