import { Client } from 'undici'
import { DeadlineTimer } from './deadline-timer.ts'
import { createExchangeHandler } from './exchange-handler.ts'
import type { TimedConnector } from './timed-connector.ts'
import { KEEP_ALIVE_MS, type WireClient } from './wire-client.ts'

/** Speaks HTTP/2 over one connection, with undici. `connector` must open connections of HTTP/2 only. */
export function createHttp2Client({
  url,
  timeoutMs,
  connector,
}: {
  url: URL
  timeoutMs: number
  connector: TimedConnector
}): WireClient {
  const client = new Client(url.origin, {
    connect: connector.connect,
    pipelining: 1,
    allowH2: true,
    ...(url.protocol === 'http:' ? { h2Options: { useH2c: true } } : {}),
    // Time-outs are our own, exact ones; undici's tick at half a second.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  const timer = new DeadlineTimer()
  let isBusy = false
  return {
    send({ method, target, headers, body }, onEnd) {
      if (isBusy) throw new Error('this connection has a request in flight')
      isBusy = true
      const handler = createExchangeHandler({
        timeoutMs,
        timer,
        connector,
        onEnd(exchange) {
          isBusy = false
          onEnd(exchange)
        },
      })
      client.dispatch({ method, path: target, headers: [...headers], body }, handler)
    },
    destroy() {
      timer.destroy()
      connector.destroy()
      return client.destroy()
    },
  }
}
