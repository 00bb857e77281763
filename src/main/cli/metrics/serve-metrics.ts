import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { formatMetrics } from './metrics-text.ts'

/** Where a load test's figures can be scraped. */
export interface MetricsServer {
  url: string
  /** What is served from now on. */
  update(snapshot: RunSnapshot): void
  close(): Promise<void>
}

const PATH = '/metrics'
const HOST = '127.0.0.1'

/** Longest time for a request, and for a connection in which nothing moves, milliseconds. */
const WAIT_MS = 10_000

/** Connections at once; scrapers open one each. */
const CONNECTIONS_MAX = 100

/** Serves a load test's figures to this machine alone; port 0 takes a free one. A request that has not come after `waitMs` is ended. Throws `BAD_USAGE` where it is taken. */
export async function serveMetrics(port: number, waitMs = WAIT_MS): Promise<MetricsServer> {
  let newest: RunSnapshot | null = null
  const server = createServer(
    { requestTimeout: waitMs, headersTimeout: waitMs, connectionsCheckingInterval: Math.min(1_000, waitMs) },
    (request, response) => answer(request, response, newest),
  )
  server.maxConnections = CONNECTIONS_MAX
  server.setTimeout(waitMs, (socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toPortError(port, error)))
    server.listen(port, HOST, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${taken}${PATH}`,
    update: (snapshot) => {
      newest = snapshot
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer({ method, url }: IncomingMessage, response: ServerResponse, newest: RunSnapshot | null) {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  if (url?.replace(/\?.*/, '') !== PATH) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`Only ${PATH} exists.\n`)
    return
  }
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end(method === 'HEAD' ? undefined : formatMetrics(newest))
}

function toPortError(port: number, error: unknown): SluiceError {
  return new SluiceError(
    {
      id: 'metrics_port_unusable',
      host: HOST,
      port,
      reason: toSystemCode(error) === 'EADDRINUSE' ? null : toThrownText(error),
    },
    { cause: error },
  )
}
