import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request to a proxy. */
interface ProxyRequest {
  method: string
  /** Host and port of a tunnel, or the whole address of a plain request. */
  target: string
  headers: IncomingMessage['headers']
}

/** Behaviour of a proxy besides forwarding. */
export interface ProxyOptions {
  /** The required `user:password`. */
  credentials?: string
  tls?: { key: string; cert: string }
  /** Status for tunnels instead of opening them; `silence` for no answer at all. */
  refusal?: number | 'silence'
  /** Local port that every tunnel leads to, whatever its host. */
  leadsTo?: number
}

/** An HTTP proxy that records its requests. */
export interface ProxyServer {
  url: string
  requests: ProxyRequest[]
}

/** Starts a proxy on a free port of 127.0.0.1, closed when the current test ends. */
export async function startProxy(options: ProxyOptions = {}): Promise<ProxyServer> {
  const requests: ProxyRequest[] = []
  const sockets = new Set<Socket>()
  const server = options.tls === undefined ? createServer() : createTlsServer(options.tls)
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  }
  const isAllowed = (request: IncomingMessage): boolean => {
    requests.push({ method: request.method ?? '', target: request.url ?? '', headers: request.headers })
    const { credentials } = options
    if (credentials === undefined) return true
    const expected = `Basic ${Buffer.from(credentials).toString('base64')}`
    return request.headers['proxy-authorization'] === expected
  }
  server.on('connection', track)
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    // A tunnel's socket no longer belongs to the server; over TLS, it differs from its connection.
    track(client)
    if (!isAllowed(request)) return answerTunnel(client, 407)
    if (options.refusal === 'silence') return
    if (options.refusal !== undefined) return answerTunnel(client, options.refusal)
    const { hostname, port } = new URL(`http://${request.url}`)
    const { leadsTo } = options
    const target = connect(leadsTo ?? Number(port), leadsTo === undefined ? hostname : '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) target.write(head)
      client.pipe(target).pipe(client)
    })
    track(target)
    target.on('error', () => answerTunnel(client, 502))
    client.on('close', () => target.destroy())
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isAllowed(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end()
      return
    }
    const { 'proxy-authorization': _, ...headers } = request.headers
    const onward = forward(request.url ?? '', { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, requests }
}

function answerTunnel(client: Socket, status: number): void {
  client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`)
}
