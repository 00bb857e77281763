import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
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
export function toCause(error: unknown): { code: string; message: string } {
  const name = error instanceof Error ? error.name : 'Error'
  return { code: toSystemCode(error) ?? name, message: toMessage(error) }
}

function toMessage(error: unknown): string {
  // Happy Eyeballs fails with one error for each address.
  const isOfMany = error instanceof AggregateError && error.message === ''
  return isOfMany ? error.errors.map(toThrownText).join('; ') : toThrownText(error)
}
