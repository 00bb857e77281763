import type { Server } from 'node:http'

/** Longest time a request's head may take, milliseconds. */
const HEAD_MS = 10_000

/** Longest time in which a connection may neither give nor take a byte, milliseconds. */
const STALL_MS = 60_000

/** Connections at once; a browser opens a handful. */
const CONNECTIONS_MAX = 200

/**
 * Bounds what connections of a listener may hold on to: a head that does not come, an upload or download that stands
 * still, and their number. A request as a whole is not timed, since a big upload to a slow disk takes its time.
 */
export function limitListener(server: Server): void {
  server.requestTimeout = 0
  server.headersTimeout = HEAD_MS
  server.maxConnections = CONNECTIONS_MAX
  server.setTimeout(STALL_MS, (socket) => socket.destroy())
}
