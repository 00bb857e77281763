import { Client, type Dispatcher } from 'undici'
import type { PlanConnection } from '../../../shared/connection.ts'
import {
  AUTHORIZATION_HEADER,
  JSON_CONTENT_TYPE,
  toAuthorization,
} from '../../../shared/service/endpoints.ts'
import { DeadlineTimer } from './deadline-timer.ts'
import type { Exchange } from './exchange.ts'
import { createExchangeHandler } from './exchange-handler.ts'
import { toCredentialsError } from './proxy-tunnel.ts'
import { createTimedConnector } from './timed-connector.ts'
import { type ProxyRoute, readTransport } from './transport.ts'

/** One HTTP request to the service. */
export interface ServiceRequest {
  method: 'POST' | 'GET'
  /** Path and query, below the base URL's own path. */
  path: string
  /** JSON text; null for GET. */
  body: string | null
  /** Sent without the key (interface §5.6). */
  isAnonymous: boolean
}

/** What every request of a connection shares. The key stays in memory. */
export interface ServiceClientOptions {
  /** The host that is sent to, one of the connection's two. */
  baseUrl: string
  connection: Pick<PlanConnection, 'timeoutMs' | 'tls' | 'proxy'>
  /** Asked at each request, so that the key can be switched while a run goes on. */
  readApiKey: () => string
  userAgent: string
  /** HTTP/1.1 unless given; a service that does not speak the version asked for is a breakdown, never a surprise. */
  httpVersion?: '1.1' | '2'
}

/** One HTTP/1.1 connection to the service, one request at a time: what a lane owns. */
export interface ServiceClient {
  /** Sends a request; `onEnd` is called exactly once, never before `send` returns, and never throws back into it. */
  send(request: ServiceRequest, onEnd: (exchange: Exchange) => void): void
  /** Closes the connection at once; a request in flight ends as a breakdown. */
  destroy(): Promise<void>
}

/** Longer than any gap of a slow pace, so that a connection is reopened only where the service closes it. */
const KEEP_ALIVE_MS = 60_000

/**
 * Prepares the clients of a connection and builds one at each call. They follow no redirect, so the key never reaches
 * another host. Throws `BAD_PLAN` for a certificate, key or proxy credentials that cannot be read.
 */
export function createServiceClients(options: ServiceClientOptions): () => ServiceClient {
  const url = new URL(options.baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const { timeoutMs } = options.connection
  const transport = readTransport(options.connection)
  // A proxy reads the whole address of a plain http request (RFC 9112 §3.2.2).
  const plainProxy = url.protocol === 'http:' ? transport.proxy : null
  const start = plainProxy === null ? prefix : url.origin + prefix
  const isHttp2 = options.httpVersion === '2'
  return () => {
    const connector = createTimedConnector({ ...transport, timeoutMs, userAgent: options.userAgent, isHttp2 })
    const client = new Client(url.origin, {
      connect: connector.connect,
      pipelining: 1,
      allowH2: isHttp2,
      ...(isHttp2 && url.protocol === 'http:' ? { h2Options: { useH2c: true } } : {}),
      // Time-outs are our own, exact ones; undici's tick at half a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    })
    const toHeaders = createHeaders(options, plainProxy)
    const timer = new DeadlineTimer()
    return {
      send(request, onEnd) {
        const handler = createExchangeHandler({
          timeoutMs,
          timer,
          connector,
          onEnd: plainProxy === null ? onEnd : (exchange) => onEnd(toProxied(exchange, plainProxy)),
        })
        const dispatch: Dispatcher.DispatchOptions = {
          method: request.method,
          path: start + request.path,
          headers: toHeaders(request),
          body: request.body,
        }
        client.dispatch(dispatch, handler)
      },
      destroy() {
        timer.destroy()
        connector.destroy()
        return client.destroy()
      },
    }
  }
}

/** Builds a single client; see {@link createServiceClients}. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return createServiceClients(options)()
}

/** Lists of headers are built anew only where the key has changed. */
function createHeaders(
  { readApiKey, userAgent }: ServiceClientOptions,
  proxy: ProxyRoute | null,
): (request: ServiceRequest) => string[] {
  const anonymous = ['accept', JSON_CONTENT_TYPE, 'user-agent', userAgent]
  if (proxy !== null && proxy.authorization !== null)
    anonymous.push('proxy-authorization', proxy.authorization)
  let key: string | null = null
  let authorized: string[] = []
  return ({ isAnonymous, body }) => {
    if (isAnonymous) return anonymous
    const current = readApiKey()
    if (current !== key) {
      key = current
      authorized = [...anonymous, AUTHORIZATION_HEADER, toAuthorization(current)]
      authorized.push('content-type', JSON_CONTENT_TYPE)
    }
    return body === null ? authorized.slice(0, -2) : authorized
  }
}

/** A 407 is the proxy's own: nothing of the request came past it. */
function toProxied(exchange: Exchange, proxy: ProxyRoute): Exchange {
  if (exchange.kind !== 'answer' || exchange.status !== 407) return exchange
  const { code, message } = toCredentialsError(proxy)
  return { kind: 'breakdown', code, message, sent: false, status: null, timings: exchange.timings }
}
