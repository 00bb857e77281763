import { RPCHandler } from '@orpc/server/websocket'
import type { WebSocket as ServerSocket } from 'ws'
import { type BridgeServices, toReportedError } from './bridge-context.ts'
import { createEventGates } from './event-stream.ts'
import { bridgeRouter } from './router.ts'
import { createQuestionOfWindow } from './waiting-question.ts'

/** Status that closes a websocket because of an invalid message (RFC 6455 §7.4.1). */
const UNSUPPORTED_DATA = 1003

const handler = new RPCHandler(bridgeRouter, {
  clientInterceptors: [
    async ({ next }) => {
      try {
        return await next()
      } catch (error) {
        throw toReportedError(error)
      }
    },
  ],
})

/**
 * Serves the bridge to one window. Messages are text. `refuse` is called for messages that break the
 * protocol; drop the connection then, since no answer could refer to such a message.
 */
function openConnection(
  services: BridgeServices,
  { send, refuse }: { send: (message: string) => void; refuse: () => void },
) {
  // The handler identifies a connection by its object.
  const channel = {
    send: (message: string) => send(message),
    addEventListener: () => {},
  } as unknown as Pick<WebSocket, 'addEventListener' | 'send'>
  const question = createQuestionOfWindow()
  const context = {
    ...services,
    gates: createEventGates(),
    question,
    // A system dialog covers the window, so no question need be shown there.
    productionGate:
      services.host.platform === 'browser'
        ? services.productionGate.forWindow(question)
        : services.productionGate,
  }
  return {
    receive: (message: string): void => {
      handler.message(channel, message, { context }).catch(refuse)
    },
    /** Ends all requests of a window that has closed. */
    close: (): void => handler.close(channel),
  }
}

/** What Electron's `MessagePortMain` and Node's `MessagePort` have in common; only text is sent here. */
export interface BridgePort {
  postMessage(message: string): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'close', listener: () => void): unknown
  close(): void
}

/** Serves the bridge over an end of a message channel until it closes. An Electron port's owner starts it. */
export function serveOverMessagePort(port: BridgePort, services: BridgeServices): void {
  const connection = openConnection(services, {
    send: (message) => port.postMessage(message),
    refuse: () => port.close(),
  })
  port.on('message', (message) => {
    const text = toText(message)
    if (text === null) port.close()
    else connection.receive(text)
  })
  port.on('close', () => connection.close())
}

/** The text of a message: Node's ports pass it directly, Electron's as the `data` of an event. */
function toText(message: unknown): string | null {
  if (typeof message === 'string') return message
  if (typeof message !== 'object' || message === null || !('data' in message)) return null
  return typeof message.data === 'string' ? message.data : null
}

/** Serves the bridge over a websocket until it closes. */
export function serveOverWebSocket(socket: ServerSocket, services: BridgeServices): void {
  const connection = openConnection(services, {
    send: (message) => socket.send(message),
    refuse: () => socket.close(UNSUPPORTED_DATA),
  })
  socket.on('message', (data, isBinary) => {
    if (isBinary) socket.close(UNSUPPORTED_DATA)
    else connection.receive(data.toString())
  })
  socket.on('close', () => connection.close())
  // A broken connection also closes, so its error needs no handling.
  socket.on('error', () => {})
}
