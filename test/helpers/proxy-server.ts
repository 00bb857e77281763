import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a proxy was asked. */
interface ProxyRequest {
  method: string
  /** Host and port of a tunnel, or the whole address of a plain request. */
  target: string
  headers: IncomingMessage['headers']
}

/** What a proxy does beside passing on. */
export interface ProxyOptions {
  /** `user:password` that it asks for. */
  credentials?: string
  tls?: { key: string; cert: string }
  /** Status that it answers to tunnels instead of opening them; `silence` for no answer at all. */
  refusal?: number | 'silence'
  /** Port of this machine that every tunnel leads to, whatever host it is for. */
  leadsTo?: number
}

/** An HTTP proxy that keeps a record of what it was asked. */
export interface ProxyServer {
  url: string
  requests: ProxyRequest[]
}

/** Starts a proxy on a free port of 127.0.0.1 that is closed when the running test is finished. */
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
    // The socket of a tunnel is no longer the server's: over TLS it is another one than its connection.
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
