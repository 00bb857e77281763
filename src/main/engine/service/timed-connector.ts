import type { ClientRequest } from 'node:http'
import { isIP, type LookupFunction, type OnReadOpts, Socket } from 'node:net'
import type { buildConnector } from 'undici'
import buildUndiciConnector from 'undici/lib/core/connect.js'
import { openTunnel, toProxyTarget, toUnreachableError } from './proxy-tunnel.ts'
import type { ProxyRoute, Transport } from './transport.ts'

/** Longest wait for a connection, in milliseconds; shorter where the connection's own time-out is. */
const CONNECT_TIMEOUT_MS = 10_000

/** A connector that tells how long its last connection took. */
export interface TimedConnector {
  connect: buildConnector.connector
  /** Takes the phases of a connection opened since the last call, microseconds; null if none was. */
  takePhases(): { connectUs: number; tlsUs: number | null } | null
  /** Gives up what is being opened, whose callback may not come then. */
  abort(): void
}

export interface TimedConnectorOptions extends Transport {
  timeoutMs: number
  userAgent: string
  unixSocket?: string | undefined
  /** IP address that stands for the name of the host; null or absent to ask DNS. */
  address?: string | null | undefined
  /** The connection must be HTTP/2. */
  isHttp2: boolean
  /**
   * Takes what a direct connection reads, the first `size` bytes of a buffer that is used again once it returns. It
   * goes past the socket's stream, which costs as much as the reading itself. By a proxy, everything comes by the stream.
   */
  onBytes?: (buffer: Buffer, size: number) => void
}

/**
 * Takes what one read takes, as much as Node reads at once. All connections of a thread share it: what was read is
 * handed on before anything else is, and thousands of idle connections need no memory of their own.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** Builds undici's connector, by a proxy if there is one, and times connect and TLS handshake apart. */
export function createTimedConnector(options: TimedConnectorOptions): TimedConnector {
  const { secureContext, proxy, unixSocket, address = null } = options
  const timeoutMs = Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS)
  const opening = new OpeningSocket()
  const buildWatched = (allowH2: boolean) =>
    opening.watch(
      buildUndiciConnector({
        allowH2,
        timeout: timeoutMs,
        // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED has no say.
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
  // The way to the proxy is HTTP/1.1, whatever goes through its tunnel.
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

/** Answers with one address, whatever name is asked for. */
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

/** Without it a service that speaks HTTP/1.1 only would be measured in its place. */
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

  /** `connectedMs`: when the TLS handshake began; null if there was none. */
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

/** The socket that is being opened, so that it can be given up. */
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

/** Plain http goes to the proxy itself, which reads the whole address from each request (RFC 9112 §3.2.2). */
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

/** https goes through a tunnel, so that the proxy sees nothing but the host. */
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
