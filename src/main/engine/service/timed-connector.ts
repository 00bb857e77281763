import type { ClientRequest } from 'node:http'
import { isIP, type LookupFunction, type OnReadOpts, Socket } from 'node:net'
import type { buildConnector } from 'undici'
import buildUndiciConnector from 'undici/lib/core/connect.js'
import { openTunnel, toProxyTarget, toUnreachableError } from './proxy-tunnel.ts'
import type { ProxyRoute, Transport } from './transport.ts'

/** Longest wait for a connection, milliseconds; shorter if the connection's own timeout is. */
const CONNECT_TIMEOUT_MS = 10_000

/** A connector that measures how long its last connection took. */
export interface TimedConnector {
  connect: buildConnector.connector
  /** Takes the phases of a connection opened since the last call, microseconds; null if there was none. */
  takePhases(): { connectUs: number; tlsUs: number | null } | null
  /** Abandons the connection being opened, whose callback may then not come. */
  abort(): void
}

export interface TimedConnectorOptions extends Transport {
  timeoutMs: number
  userAgent: string
  unixSocket?: string | undefined
  /** IP address to use for the host's name; null or absent to ask DNS. */
  address?: string | null | undefined
  /** Whether the connection must be HTTP/2. */
  isHttp2: boolean
  /**
   * Receives what a direct connection reads: the first `size` bytes of a buffer that is reused once it
   * returns. This bypasses the socket's stream, which costs as much as the reading itself. Through a proxy,
   * everything comes by the stream.
   */
  onBytes?: (buffer: Buffer, size: number) => void
}

/**
 * Receives one read, as much as Node reads at once. All connections of a thread share it: a read is passed on
 * before the next one, and thousands of idle connections need no memory of their own.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** Builds undici's connector, through a proxy if there is one; times connect and TLS handshake separately. */
export function createTimedConnector(options: TimedConnectorOptions): TimedConnector {
  const { secureContext, proxy, unixSocket, address = null } = options
  const timeoutMs = Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS)
  const opening = new OpeningSocket()
  const buildWatched = (allowH2: boolean) =>
    opening.watch(
      buildUndiciConnector({
        allowH2,
        timeout: timeoutMs,
        // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot override it.
        rejectUnauthorized: true,
        ...(secureContext === null ? {} : { secureContext }),
        ...(unixSocket === undefined ? {} : { socketPath: unixSocket }),
        ...(address === null ? {} : { lookup: createLookup(address) }),
        ...(proxy === null && options.onBytes !== undefined ? { onread: readInto(options.onBytes) } : {}),
      }),
    )
  const build = options.isHttp2 ? requireHttp2(buildWatched(true)) : buildWatched(false)
  const clock = new PhaseClock()
  if (proxy === null) return createDirect(build, clock, opening)
  const tunnels = new Set<ClientRequest>()
  // The connection to the proxy is HTTP/1.1, whatever its tunnel carries.
  const tunnel = { ...options, proxy, timeoutMs, connect: buildWatched(false), connectThrough: build }
  return {
    connect(target, callback) {
      if (target.protocol === 'http:') connectToProxy(build, proxy, clock, callback)
      else connectByTunnel(tunnel, tunnels, clock, target, callback)
    },
    takePhases: () => clock.take(),
    abort() {
      opening.destroy()
      for (const request of tunnels) request.destroy()
    },
  }
}

/** Answers with one address for any name. */
function createLookup(address: string): LookupFunction {
  const family = isIP(address)
  return (_name, { all }, callback) => {
    if (all) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
}

function readInto(onBytes: (buffer: Buffer, size: number) => void): OnReadOpts {
  return {
    buffer: READ_BUFFER,
    callback(size) {
      onBytes(READ_BUFFER, size)
      return true
    },
  }
}

/** Without this check, a service that only speaks HTTP/1.1 would be measured instead. */
function requireHttp2(build: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    build(target, (...result) => {
      const [error, socket] = result
      const isOther = error === null && !('alpnProtocol' in socket && socket.alpnProtocol === 'h2')
      if (!isOther) {
        callback(...result)
        return
      }
      socket.destroy()
      callback(Object.assign(new Error('the service does not speak HTTP/2'), { code: 'NO_HTTP2' }), null)
    })
}

class PhaseClock {
  #phases: { connectUs: number; tlsUs: number | null } | null = null

  /** `connectedMs`: when the TLS handshake began; null without one. */
  note(startMs: number, connectedMs: number | null): void {
    const endMs = performance.now()
    this.#phases = {
      connectUs: toUs((connectedMs ?? endMs) - startMs),
      tlsUs: connectedMs === null ? null : toUs(endMs - connectedMs),
    }
  }

  take(): { connectUs: number; tlsUs: number | null } | null {
    const taken = this.#phases
    this.#phases = null
    return taken
  }
}

/** The socket being opened, so that it can be abandoned. */
class OpeningSocket {
  #socket: Socket | null = null

  /** `build` as it is, but watched. */
  watch(build: buildConnector.connector): buildConnector.connector {
    return (target, callback) => {
      let opened: Socket | null = null
      const socket = build(target, (...result) => {
        if (this.#socket === opened) this.#socket = null
        callback(...result)
      }) as unknown
      // undici's types hide that its connector returns the socket.
      opened = socket instanceof Socket ? socket : null
      this.#socket = opened
    }
  }

  /** The socket of the last call, until it is open. */
  get current(): Socket | null {
    return this.#socket
  }

  destroy(): void {
    this.#socket?.destroy()
  }
}

function createDirect(
  build: buildConnector.connector,
  clock: PhaseClock,
  opening: OpeningSocket,
): TimedConnector {
  return {
    connect(target, callback) {
      const isTls = target.protocol === 'https:'
      const startMs = performance.now()
      let connectedMs: number | null = null
      build(target, (...result) => {
        if (result[0] === null) clock.note(startMs, isTls ? (connectedMs ?? performance.now()) : null)
        callback(...result)
      })
      if (isTls) {
        opening.current?.once('connect', () => {
          connectedMs = performance.now()
        })
      }
    },
    takePhases: () => clock.take(),
    abort: () => opening.destroy(),
  }
}

/** Plain http connects to the proxy, which reads the whole address from each request (RFC 9112 §3.2.2). */
function connectToProxy(
  build: buildConnector.connector,
  proxy: ProxyRoute,
  clock: PhaseClock,
  callback: buildConnector.Callback,
): void {
  const startMs = performance.now()
  build(toProxyTarget(proxy), (...result) => {
    if (result[0] === null) clock.note(startMs, null)
    if (result[0] === null) callback(...result)
    else callback(toUnreachableError(proxy, result[0]), null)
  })
}

/** https uses a tunnel, so that the proxy sees nothing but the host. */
function connectByTunnel(
  options: Omit<TimedConnectorOptions, 'proxy'> & {
    proxy: ProxyRoute
    connect: buildConnector.connector
    connectThrough: buildConnector.connector
  },
  tunnels: Set<ClientRequest>,
  clock: PhaseClock,
  target: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  const startMs = performance.now()
  const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname
  const authority = `${host}:${target.port || '443'}`
  const request = openTunnel({ ...options, authority }, (result) => {
    tunnels.delete(request)
    if (result instanceof Error) {
      callback(result, null)
      return
    }
    const connectedMs = performance.now()
    options.connectThrough({ ...target, httpSocket: result }, (...opened) => {
      if (opened[0] === null) clock.note(startMs, connectedMs)
      callback(...opened)
    })
  })
  tunnels.add(request)
}

function toUs(ms: number): number {
  return Math.max(0, Math.round(ms * 1000))
}
