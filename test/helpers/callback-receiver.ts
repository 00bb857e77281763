import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** A callback as received. */
interface ReceivedCallback {
  path: string
  headers: IncomingMessage['headers']
  /** The body as received. */
  text: string
  /** The body read as JSON. */
  body: Record<string, unknown>
}

/** Answers a callback; leaving it unanswered simulates a receiver that hangs. */
export type AnswerCallback = (response: ServerResponse, callback: ReceivedCallback) => void

/** A callback receiver for one test. */
export interface CallbackReceiver {
  /** Where to post callbacks; paths may be appended. */
  readonly url: string
  readonly port: number
  readonly received: ReceivedCallback[]
  /** Number of accepted connections. */
  connections(): number
  /** Most callbacks that were unanswered at the same time. */
  mostAtOnce(): number
}

/** Starts a receiver on a free port, closed when the current test ends. It answers 200 by default. */
export async function withCallbackReceiver(
  answer: AnswerCallback = (response) => response.end(),
): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = []
  let connections = 0
  let atOnce = 0
  let mostAtOnce = 0
  const server = createServer((request, response) => {
    atOnce += 1
    mostAtOnce = Math.max(mostAtOnce, atOnce)
    response.once('close', () => {
      atOnce -= 1
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const callback = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) }
      received.push(callback)
      answer(response, callback)
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/callback`,
    port,
    received,
    connections: () => connections,
    mostAtOnce: () => mostAtOnce,
  }
}
