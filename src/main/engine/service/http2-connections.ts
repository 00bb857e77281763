import { type ClientHttp2Session, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import {
  CLIENT_CLOSED_CODE,
  CONNECTION_CLOSED_CODE,
  GOAWAY_CODE,
  KEEP_ALIVE_MS,
  MALFORMED_ANSWER_CODE,
  toCause,
} from './exchange.ts'
import { toConnectTarget } from './proxy-tunnel.ts'
import type { TimedConnector } from './timed-connector.ts'

/** Code of a request whose connection answered no PING. */
const PING_TIMEOUT_CODE = 'PING_TIMEOUT'

/** How long a connection with requests in flight may be silent before a PING, milliseconds. */
const PING_AFTER_MS = 10_000

/** How long the answer to a PING may take, milliseconds. */
const PING_TIMEOUT_MS = 10_000

/** How long the open connections must suffice after the service refused another one, milliseconds. */
const REFUSED_PAUSE_MS = 1_000

/** A service that ends a connection after this many requests limits them; before, it has another reason. */
const LIMIT_MIN_REQUESTS = 500

/**
 * Shares of that limit: from the first on, a fresh connection replaces this one; from the second on, requests
 * wait for it if it is being opened.
 */
const RETIRES_AT = 0.8
const FULL_AT = 0.95

/** Bytes that a stream may receive before we read them; limits the memory of 64 simultaneous answers. */
const STREAM_WINDOW_BYTES = 256 * 1024

/** Bytes that all streams of a connection may receive before we read them. */
const CONNECTION_WINDOW_BYTES = 8 * 1024 * 1024

/** Most bytes of an answer's headers, as RFC 9113 §6.5.2 counts them. */
const HEADERS_MAX_BYTES = 64 * 1024

/** Why a connection failed or closed, as a stable code and in words. */
export interface Cause {
  code: string
  message: string
}

/** A request that waits for room on a connection. */
export interface StreamSeeker {
  /**
   * Called when there is room on `connection`; whoever takes it calls {@link Http2Connection.release} once.
   * `phases`: of the connection, if it was opened for this request, microseconds.
   */
  onRoom(connection: Http2Connection, phases: ConnectPhases | null): void
  /** Called if no connection could be opened. Nothing was sent. */
  onNoConnection(cause: Cause): void
}

/** How long a connection took to open, microseconds. */
export type ConnectPhases = NonNullable<ReturnType<TimedConnector['takePhases']>>

/** The target of the connections, how many there may be, and how to open them. */
export interface Http2ConnectionsOptions {
  url: URL
  /** Builds the connector of one connection, which must open HTTP/2 only. */
  createConnector: () => TimedConnector
  /** Most connections at a time (default: as many as the service's limit of streams requires). */
  maxConnections?: number | undefined
  /** For tests: how long silence and a PING may last, milliseconds. */
  pingAfterMs?: number
  pingTimeoutMs?: number
}

/** One HTTP/2 connection: how many requests it carries, and whether it accepts another. */
export class Http2Connection {
  readonly session: ClientHttp2Session
  /** Highest stream that the service promised to process; Infinity before a GOAWAY (RFC 9113 §6.8). */
  lastStreamId: number = Number.POSITIVE_INFINITY
  /** Why it ended, if something went wrong. */
  cause: Cause | null = null
  requests = 0
  #streams = 0
  #isLeft = false
  #isPinging = false
  #idleTimer: NodeJS.Timeout | null = null
  readonly #socket: Socket
  readonly #pingTimeoutMs: number
  readonly #onRoom: () => void

  constructor(
    session: ClientHttp2Session,
    socket: Socket,
    options: {
      pingAfterMs: number
      pingTimeoutMs: number
      onRoom: () => void
      /** Called when the service accepts no more requests on it; `requests`: those that it has begun. */
      onGoodbye: (requests: number) => void
    },
  ) {
    this.session = session
    this.#socket = socket
    this.#onRoom = options.onRoom
    this.#pingTimeoutMs = options.pingTimeoutMs
    session.on('goaway', (code, lastStreamId) => {
      if (code !== constants.NGHTTP2_NO_ERROR) {
        const name = nameHttp2Error(code)
        const message = `the service ended the connection with ${name}`
        this.cause ??= { code: GOAWAY_CODE + name, message }
      }
      this.lastStreamId = lastStreamId ?? 0
      // Client streams have odd numbers.
      options.onGoodbye(Math.min(this.requests, (this.lastStreamId + 1) / 2))
    })
    session.on('error', (error) => {
      this.cause ??= toHttp2Cause(error)
    })
    session.setTimeout(options.pingAfterMs)
    session.on('timeout', () => {
      if (this.#streams > 0) this.checkAlive()
      session.setTimeout(options.pingAfterMs)
    })
  }

  /** Requests under way. */
  get streams(): number {
    return this.#streams
  }

  /** Requests that the service accepts at once on this connection. */
  get limit(): number {
    return this.session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY
  }

  /** Whether it carries no more requests beyond those in flight. */
  get isOver(): boolean {
    return this.#isLeft || this.session.closed || this.session.destroyed
  }

  get hasRoom(): boolean {
    return !this.isOver && this.#streams < this.limit
  }

  /** Takes room for one request. */
  take(): void {
    this.requests += 1
    this.#streams += 1
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    if (this.#streams === 1) this.session.ref()
  }

  /** Returns the room of one request. */
  release(): void {
    this.#streams -= 1
    if (this.#streams === 0 && !this.session.destroyed) {
      if (this.#isLeft) this.session.close()
      else this.rest()
    }
    this.#onRoom()
  }

  /** Carries no more requests, and closes after the last: some services drop theirs at a client's GOAWAY. */
  leave(): void {
    this.#isLeft = true
    if (this.#streams === 0) this.session.close()
  }

  /** Makes it idle: it does not keep the process alive, and is closed before long. */
  rest(): void {
    this.session.unref()
    this.#idleTimer = setTimeout(() => this.session.close(), KEEP_ALIVE_MS).unref()
  }

  /** Closes it at once, without waiting for what the other side may never read; its requests end. */
  end(): void {
    if (!this.session.destroyed) this.session.destroy()
    setImmediate(() => this.#socket.destroy())
  }

  /** Asks the service for a sign of life (RFC 9113 §6.7); without one the connection and its requests end. */
  checkAlive(): void {
    if (this.#isPinging || this.session.destroyed) return
    this.#isPinging = true
    const timer = setTimeout(() => {
      this.cause ??= {
        code: PING_TIMEOUT_CODE,
        message: `the connection gave no sign of life for ${this.#pingTimeoutMs} ms`,
      }
      this.end()
    }, this.#pingTimeoutMs)
    timer.unref()
    this.session.ping(() => {
      clearTimeout(timer)
      this.#isPinging = false
    })
  }
}

/**
 * The HTTP/2 connections of one thread to one origin: as few as the service's limit of streams allows (RFC
 * 9113 §9.1), shared by all its requests. Requests are served in the order they asked.
 */
export class Http2Connections {
  readonly #options: Http2ConnectionsOptions
  readonly #target: buildConnector.Options
  readonly #open = new Set<Http2Connection>()
  readonly #opening = new Set<TimedConnector>()
  /** Connections whose settings the service has not sent yet; their connectors are among those opening. */
  readonly #ungreeted = new Set<Http2Connection>()
  readonly #seekers = new Set<StreamSeeker>()
  #pausedUntilMs = 0
  /** When a request last ended. */
  #releasedMs = Number.NEGATIVE_INFINITY
  /** How many requests the next connection takes at once: unknown before the first, so only one is opened. */
  #expectedStreams = Number.POSITIVE_INFINITY
  /** Number of requests after which the service has ended a connection. */
  #requestsMax = Number.POSITIVE_INFINITY
  #isAboutToOpen = false
  #users = 0
  #isDestroyed = false

  constructor(options: Http2ConnectionsOptions) {
    this.#options = options
    const { url } = options
    this.#target = toConnectTarget(url)
  }

  /** Counts one more client; see {@link leave}. */
  join(): void {
    this.#users += 1
  }

  /** Whether the last client has left, after which no request is sent. */
  get isDestroyed(): boolean {
    return this.#isDestroyed
  }

  /** Counts one client less; the last one closes every connection. */
  async leave(): Promise<void> {
    this.#users -= 1
    if (this.#users > 0 || this.#isDestroyed) return
    this.#isDestroyed = true
    for (const connector of this.#opening) connector.abort()
    this.#failAll({
      code: CLIENT_CLOSED_CODE,
      message: 'the connection was closed before the request was sent',
    })
    await Promise.all([...this.#open, ...this.#ungreeted].map(endConnection))
  }

  /** Whether any connection is open, with room or without. */
  get isOpen(): boolean {
    return this.#open.size > 0
  }

  /** Since when no request has been under way, on the clock of `performance.now()`; now while one is. */
  get idleSinceMs(): number {
    for (const { streams } of this.#open) if (streams > 0) return performance.now()
    return this.#releasedMs
  }

  /** Finds room for a request, now or later. */
  seek(seeker: StreamSeeker): void {
    this.#seekers.add(seeker)
    this.#serve()
  }

  /** Forgets a request that no longer waits. */
  giveUp(seeker: StreamSeeker): void {
    this.#seekers.delete(seeker)
  }

  #serve(): void {
    for (const seeker of this.#seekers) {
      const connection = this.#findRoom()
      if (connection === null) break
      this.#seekers.delete(seeker)
      connection.take()
      seeker.onRoom(connection, null)
    }
    if (this.#isAboutToOpen || !this.#needsConnection()) return
    // A lane sends its next request before the last one's stream is closed, which then makes room for it.
    this.#isAboutToOpen = true
    setImmediate(() => {
      this.#isAboutToOpen = false
      while (this.#needsConnection()) this.#openConnection()
    })
  }

  /** Whether a fresh connection is to replace it. */
  #isRetiring({ requests }: Http2Connection): boolean {
    return requests >= this.#requestsMax * RETIRES_AT
  }

  #findRoom(): Http2Connection | null {
    let worn: Http2Connection | null = null
    for (const connection of this.#open) {
      if (!connection.hasRoom) continue
      if (!this.#isRetiring(connection)) return connection
      if (connection.requests < this.#requestsMax * FULL_AT || this.#opening.size === 0) worn = connection
    }
    return worn
  }

  #needsConnection(): boolean {
    if (this.#isDestroyed) return false
    const open = [...this.#open].filter(({ isOver }) => !isOver)
    const fresh = open.filter((connection) => !this.#isRetiring(connection))
    const lasting = fresh.length + this.#opening.size
    if (lasting >= (this.#options.maxConnections ?? Number.POSITIVE_INFINITY)) return false
    if (open.length > 0 && performance.now() < this.#pausedUntilMs) return false
    // Worn connections continue until their replacement is open, so that nothing has to wait.
    if (lasting === 0 && open.length > 0) return true
    if (this.#opening.size > 0 && this.#seekers.size <= this.#opening.size * this.#expectedStreams)
      return false
    if (this.#seekers.size === 0) return false
    // A service that allows no stream for now would allow none on another connection either.
    return !open.some(({ limit }) => limit === 0)
  }

  #openConnection(): void {
    const connector = this.#options.createConnector()
    this.#opening.add(connector)
    const fail = (cause: Cause): void => {
      if (!this.#opening.delete(connector)) return
      this.#onNoConnection(cause)
    }
    try {
      connector.connect(this.#target, (...[error, socket]) => {
        if (error !== null) fail(toCause(error))
        else if (this.#isDestroyed) socket.destroy()
        else this.#greet(connector, socket, fail)
      })
    } catch (error) {
      // A connection that cannot be opened ends requests, not the run; and never within the call that asked.
      setImmediate(() => fail(toCause(error)))
    }
  }

  /** Requests are sent once the service says how many it accepts, which it says first (RFC 9113 §3.4). */
  #greet(connector: TimedConnector, socket: Socket, fail: (cause: Cause) => void): void {
    const session = connect(this.#options.url.origin, {
      createConnection: () => socket,
      settings: {
        enablePush: false,
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: HEADERS_MAX_BYTES,
      },
      // Node itself would refuse streams beyond its default of 10 MB; windows limit what answers take.
      maxSessionMemory: 1_000,
    })
    const connection = new Http2Connection(session, socket, {
      pingAfterMs: this.#options.pingAfterMs ?? PING_AFTER_MS,
      pingTimeoutMs: this.#options.pingTimeoutMs ?? PING_TIMEOUT_MS,
      onRoom: () => {
        this.#releasedMs = performance.now()
        this.#serve()
      },
      onGoodbye: (requests) => this.#learnLimit(requests),
    })
    this.#ungreeted.add(connection)
    session.once('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
    session.once('remoteSettings', () => {
      if (!this.#opening.delete(connector)) return
      this.#ungreeted.delete(connection)
      for (const other of this.#open) if (this.#isRetiring(other)) other.leave()
      this.#open.add(connection)
      this.#expectedStreams = Math.max(1, connection.limit)
      session.on('remoteSettings', () => this.#serve())
      this.#begin(connection, connector.takePhases())
    })
    // Node keeps a session open whose TLS ended with an alert.
    socket.on('error', (error) => {
      connection.cause ??= toCause(error)
      connection.end()
    })
    session.once('close', () => {
      this.#ungreeted.delete(connection)
      const wasOpen = this.#open.delete(connection)
      if (wasOpen && connection.requests === 0) this.#onNoConnection(connection.cause ?? CLOSED_THERE)
      fail(connection.cause ?? CLOSED_THERE)
      this.#serve()
    })
    const giveUp = setTimeout(() => {
      if (!this.#opening.has(connector)) return
      connection.cause = { code: 'NO_HTTP2', message: 'the service sent no HTTP/2 settings' }
      connection.end()
    }, PING_TIMEOUT_MS)
    giveUp.unref()
  }

  /** nginx and hypercorn end a connection after 1,000 requests by default. */
  #learnLimit(requests: number): void {
    if (requests >= LIMIT_MIN_REQUESTS) this.#requestsMax = Math.min(this.#requestsMax, requests)
  }

  /** The first request on a new connection reports how long opening it took. */
  #begin(connection: Http2Connection, phases: ConnectPhases | null): void {
    const [first] = this.#seekers
    if (first !== undefined && connection.hasRoom) {
      this.#seekers.delete(first)
      connection.take()
      first.onRoom(connection, phases)
    } else {
      connection.rest()
    }
    this.#serve()
  }

  #onNoConnection(cause: Cause): void {
    if (this.#open.size > 0) {
      // A gateway may limit the connections of an address: the open ones must suffice for a while.
      this.#pausedUntilMs = performance.now() + REFUSED_PAUSE_MS
      return
    }
    if (this.#opening.size === 0) this.#failAll(cause)
  }

  #failAll(cause: Cause): void {
    const seekers = [...this.#seekers]
    this.#seekers.clear()
    for (const seeker of seekers) seeker.onNoConnection(cause)
  }
}

const CLOSED_THERE: Cause = {
  code: CONNECTION_CLOSED_CODE,
  message: 'the service closed the connection before it was ready for requests',
}

function endConnection(connection: Http2Connection): Promise<void> {
  return new Promise((resolve) => {
    connection.session.once('close', () => resolve())
    connection.end()
  })
}

/** Node's own words for what its HTTP/2 library cannot read, such as "Protocol error", do not say whose. */
export function toHttp2Cause(error: Error): Cause {
  const cause = toCause(error)
  if (cause.code !== 'ERR_HTTP2_ERROR') return cause
  return { code: MALFORMED_ANSWER_CODE, message: `what came is not valid HTTP/2: ${cause.message}` }
}

/** The name of a code of RST_STREAM or GOAWAY (RFC 9113 §7). */
export function nameHttp2Error(code: number): string {
  return ERROR_NAMES.get(code) ?? String(code)
}

const ERROR_NAMES = new Map<number, string>([
  [constants.NGHTTP2_NO_ERROR, 'NO_ERROR'],
  [constants.NGHTTP2_PROTOCOL_ERROR, 'PROTOCOL_ERROR'],
  [constants.NGHTTP2_INTERNAL_ERROR, 'INTERNAL_ERROR'],
  [constants.NGHTTP2_FLOW_CONTROL_ERROR, 'FLOW_CONTROL_ERROR'],
  [constants.NGHTTP2_SETTINGS_TIMEOUT, 'SETTINGS_TIMEOUT'],
  [constants.NGHTTP2_STREAM_CLOSED, 'STREAM_CLOSED'],
  [constants.NGHTTP2_FRAME_SIZE_ERROR, 'FRAME_SIZE_ERROR'],
  [constants.NGHTTP2_REFUSED_STREAM, 'REFUSED_STREAM'],
  [constants.NGHTTP2_CANCEL, 'CANCEL'],
  [constants.NGHTTP2_COMPRESSION_ERROR, 'COMPRESSION_ERROR'],
  [constants.NGHTTP2_CONNECT_ERROR, 'CONNECT_ERROR'],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, 'ENHANCE_YOUR_CALM'],
  [constants.NGHTTP2_INADEQUATE_SECURITY, 'INADEQUATE_SECURITY'],
  [constants.NGHTTP2_HTTP_1_1_REQUIRED, 'HTTP_1_1_REQUIRED'],
])
