import { Client, type Dispatcher } from 'undici'
import {
  AUTHORIZATION_HEADER,
  JSON_CONTENT_TYPE,
  toAuthorization,
} from '../../../shared/service/endpoints.ts'
import type { Exchange } from './exchange.ts'
import { createExchangeHandler } from './exchange-handler.ts'
import { createTimedConnector } from './timed-connector.ts'

/** One HTTP request to the service. */
export interface ServiceRequest {
  method: 'POST' | 'GET'
  /** Path and query, below the base URL's own path. */
  path: string
  /** JSON text; null for GET. */
  body: string | null
}

/** What every request of a connection shares. The key stays in memory. */
export interface ServiceClientOptions {
  baseUrl: string
  apiKey: string
  /** From handing a request over to its last byte, milliseconds. */
  timeoutMs: number
  userAgent: string
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

/** Builds a client that follows no redirect, so the key never reaches another host. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const url = new URL(options.baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const connector = createTimedConnector(options)
  const client = new Client(url.origin, {
    connect: connector.connect,
    pipelining: 1,
    allowH2: false,
    // Time-outs are our own, exact ones; undici's tick at half a second.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  const common = [AUTHORIZATION_HEADER, toAuthorization(options.apiKey), 'user-agent', options.userAgent]
  const postHeaders = ['content-type', JSON_CONTENT_TYPE, 'accept', JSON_CONTENT_TYPE, ...common]
  const getHeaders = ['accept', JSON_CONTENT_TYPE]
  return {
    send({ method, path, body }, onEnd) {
      const handler = createExchangeHandler({ timeoutMs: options.timeoutMs, connector, onEnd })
      const dispatch: Dispatcher.DispatchOptions = {
        method,
        path: prefix + path,
        headers: method === 'GET' ? getHeaders : postHeaders,
        body,
      }
      client.dispatch(dispatch, handler)
    },
    destroy: () => client.destroy(),
  }
}
