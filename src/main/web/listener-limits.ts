import { createServer, type Server } from 'node:http'

/** What connections of a listener may hold on to. */
export interface ListenerLimits {
  /** Longest time for a request's head, milliseconds. */
  headMs: number
  /** Longest time in which a connection may neither give nor take a byte, milliseconds. */
  stallMs: number
  /** How often heads are looked at, milliseconds. */
  checkEveryMs: number
  /** Connections at once; more are closed as they come. */
  connections: number
}

/** Default limits of the window's listener; a browser opens a handful of connections. */
export const LISTENER_LIMITS: ListenerLimits = {
  headMs: 10_000,
  stallMs: 30_000,
  checkEveryMs: 1_000,
  connections: 1_000,
}

/**
 * Makes a server whose half-sent requests and unread downloads end. A request as a whole is not timed, since a big
 * upload to a slow disk takes its time: it may go on as long as bytes come.
 */
export function createBoundedServer(limits: ListenerLimits = LISTENER_LIMITS): Server {
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: limits.checkEveryMs,
  })
  server.maxConnections = limits.connections
  server.setTimeout(limits.stallMs, (socket) => socket.destroy())
  return server
}
