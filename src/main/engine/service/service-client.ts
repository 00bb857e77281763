import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { findResolved } from '../../../shared/plan/resolved-host.ts'
import { AUTHORIZATION_HEADER, JSON_CONTENT_TYPE } from '../../../shared/service/endpoints.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import { type HeaderValues, toHeaderList } from '../secrets/header-values.ts'
import { readSystemAuthorities, usesSystemAuthorities } from '../secrets/system-authorities.ts'
import { RECEIVED_MAX_BYTES, ReceivedBytes } from './answer-body.ts'
import { ConnectionReuse, type ReuseEnd } from './connection-reuse.ts'
import type { Exchange, WireClient, WireRequest } from './exchange.ts'
import { Http1Client } from './http1-client.ts'
import { Http2Client } from './http2-client.ts'
import { Http2Connections } from './http2-connections.ts'
import { toCredentialsError } from './proxy-tunnel.ts'
import { createRedaction } from './redact-exchange.ts'
import { createTimedConnector } from './timed-connector.ts'
import { createTraceparent } from './trace-context.ts'
import { type ProxyRoute, readTransport } from './transport.ts'

export interface ServiceRequest {
  method: 'POST' | 'GET'
  /** Path and query, below the base URL's own path. */
  path: string
  /** JSON text; null for GET. */
  body: string | null
  /** Sent without the key (docs/interface.md §5.6). */
  isAnonymous: boolean
  /** See {@link WireRequest.onWait}. */
  onWait?: WireRequest['onWait']
}

/** What every request of a connection shares. */
export interface ServiceClientOptions {
  /** The host used, one of the connection's two. */
  baseUrl: string
  connection: Pick<PlanConnection, 'timeoutMs' | 'tls' | 'proxy'> &
    Partial<
      Pick<PlanConnection, 'headers' | 'userAgent' | 'keepAlive' | 'resolve' | 'unixSocket' | 'traceparent'>
    >
  /** Called at each request, since a run can switch its key; returns null if none is ever sent. */
  readApiKey: () => ApiKey | null
  /** If the connection's proxy requires them. */
  proxyCredentials?: ProxyCredentials | null
  /** If the connection's headers take values from variables or files. */
  headerValues?: HeaderValues | null
  /** Used unless the connection has its own. */
  userAgent: string
  /** Required HTTP version (default: 1.1); a service that does not speak it is an error. */
  httpVersion?: '1.1' | '2'
  /** Most HTTP/2 connections at a time (default: as many as the service's limit of streams requires). */
  http2Connections?: number | undefined
  /** Whether answers keep all their headers, which only the scratchpad shows (default: no). HTTP/1.1 only. */
  keepsHeaders?: boolean
  /** Threads that send at the same time and share the memory for answers (default: 1). */
  threads?: number
  /** Called once, when the service has made it unsafe to reuse connections. */
  onReuseEnded?: (why: ReuseEnd) => void
  /** Called for each answer from which a secret was removed. */
  onRedacted?: () => void
}

/** A way to the service for one request at a time, owned by a lane. With HTTP/2 it shares connections. */
export interface ServiceClient {
  /**
   * Sends a request; `onEnd` is called exactly once, never before `send` returns, and never throws back into
   * it. Throws if the previous request has not ended.
   */
  send(request: ServiceRequest, onEnd: (exchange: Exchange) => void): void
  /** Its last answer was another request's: the next gets a new connection. Call it after a request. */
  retire(): void
  /** Closes the connection at once, a shared one with its last user; requests in flight break down. */
  destroy(): Promise<void>
}

/**
 * Prepares the clients of a connection and builds one at each call. They follow no redirects, send a key only
 * to the origins it belongs to, and remove secrets from everything that comes back. Throws `BAD_PLAN` for a
 * certificate, key or proxy credentials that cannot be used, and `NO_API_KEY` for an API key of another
 * origin.
 */
export function createServiceClients(options: ServiceClientOptions): () => ServiceClient {
  const url = new URL(options.baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const { timeoutMs } = options.connection
  const { proxyCredentials = null, headerValues = null } = options
  const { headers, keepAlive = true, resolve, unixSocket, traceparent: isTraced = false } = options.connection
  const userAgent = options.connection.userAgent ?? options.userAgent
  const authorities = usesSystemAuthorities(options.baseUrl, options.connection)
    ? readSystemAuthorities()
    : []
  const transport = readTransport(options.connection, proxyCredentials, authorities)
  options.readApiKey()?.toHeader(url)
  const { noteKey, redact } = createRedaction(
    options.readApiKey,
    { proxyCredentials, headerValues },
    options.onRedacted,
  )
  // In a plain http request, a proxy reads the whole address (RFC 9112 §3.2.2).
  const plainProxy = url.protocol === 'http:' ? transport.proxy : null
  const start = plainProxy === null ? prefix : url.origin + prefix
  const connection = {
    ...transport,
    timeoutMs,
    userAgent,
    unixSocket,
    address: findResolved(resolve, options.baseUrl),
  }
  const shared = [
    // Decoding a compressed answer would take time that counts as the service's.
    ...['accept', JSON_CONTENT_TYPE, 'accept-encoding', 'identity', 'user-agent', userAgent],
    ...toHeaderList(headers, headerValues, url),
  ]
  let http2: Http2Connections | null = null
  /** The connections shared by all clients; new ones once the last client, and so they, were destroyed. */
  const shareConnections = (): Http2Connections => {
    if (http2 === null || http2.isDestroyed)
      http2 = new Http2Connections({
        url,
        createConnector: () => createTimedConnector({ ...connection, isHttp2: true }),
        maxConnections: options.http2Connections,
      })
    return http2
  }
  const reuse = new ConnectionReuse(options.onReuseEnded)
  const received = new ReceivedBytes(Math.floor(RECEIVED_MAX_BYTES / (options.threads ?? 1)))
  return () => {
    const wire: WireClient =
      options.httpVersion === '2'
        ? new Http2Client({ url, timeoutMs, connections: shareConnections(), received })
        : new Http1Client({
            url,
            timeoutMs,
            received,
            reuse,
            keepsAlive: keepAlive,
            keepsHeaders: options.keepsHeaders ?? false,
            createConnector: (onBytes) => createTimedConnector({ ...connection, isHttp2: false, onBytes }),
          })
    const toHeaders = createHeaders(url, { readApiKey: options.readApiKey, shared }, plainProxy, noteKey)
    return {
      send(request, onEnd) {
        const { method, body, onWait } = request
        const traceparent = isTraced ? createTraceparent() : null
        wire.send(
          { method, target: start + request.path, headers: toHeaders(request), traceparent, body, onWait },
          plainProxy === null && traceparent === null
            ? (exchange) => onEnd(redact(exchange))
            : (exchange) => onEnd(addTraceparent(toProxied(redact(exchange), plainProxy), traceparent)),
        )
      },
      retire: () => wire.retire(),
      destroy: () => wire.destroy(),
    }
  }
}

/** Rebuilds lists of headers only if the key has changed. */
function createHeaders(
  url: URL,
  { readApiKey, shared }: { readApiKey: () => ApiKey | null; shared: readonly string[] },
  proxy: ProxyRoute | null,
  noteKey: (key: ApiKey) => void,
): (request: ServiceRequest) => string[] {
  const anonymous = [...shared]
  if (proxy !== null && proxy.authorization !== null)
    anonymous.push('proxy-authorization', proxy.authorization)
  let key: ApiKey | null = null
  let authorized: string[] = []
  let withBody: string[] = []
  return ({ isAnonymous, body }) => {
    if (isAnonymous) return anonymous
    const current = readApiKey()
    if (current === null) throw new Error('a request that carries a key was given none')
    if (current !== key) {
      authorized = [...anonymous, AUTHORIZATION_HEADER, current.toHeader(url)]
      key = current
      noteKey(current)
      withBody = [...authorized, 'content-type', JSON_CONTENT_TYPE]
    }
    return body === null ? authorized : withBody
  }
}

/** A 407 comes from the proxy itself: nothing of the request got past it. */
function toProxied(exchange: Exchange, proxy: ProxyRoute | null): Exchange {
  if (proxy === null || exchange.kind !== 'answer' || exchange.status !== 407) return exchange
  const { code, message } = toCredentialsError(proxy)
  return { kind: 'breakdown', code, message, sent: false, status: null, timings: exchange.timings }
}

/** A request that was never sent has no trace to find. */
function addTraceparent(exchange: Exchange, traceparent: string | null): Exchange {
  const isSent = exchange.kind === 'answer' || exchange.sent
  if (traceparent !== null && isSent) exchange.traceparent = traceparent
  return exchange
}
