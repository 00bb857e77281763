import { RPCHandler } from '@orpc/server/websocket'
import type { WebSocket as ServerSocket } from 'ws'
import { type BridgeServices, toReportedError } from './bridge-context.ts'
import { createEventGates } from './event-stream.ts'
import { bridgeRouter } from './router.ts'
import { createQuestionOfWindow } from './waiting-question.ts'

/** Status of a websocket that is closed because of what was sent over it (RFC 6455 §7.4.1). */
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
 * Serves the bridge to one window. Messages are text. `refuse` is called for messages outside
 * the protocol: drop the connection, since an answer could not name its question.
 */
function openConnection(
  services: BridgeServices,
  { send, refuse }: { send: (message: string) => void; refuse: () => void },
) {
  // The handler knows a connection by its object.
  const channel = {
    send: (message: string) => send(message),
    addEventListener: () => {},
  } as unknown as Pick<WebSocket, 'addEventListener' | 'send'>
  const question = createQuestionOfWindow()
  const context = {
    ...services,
    gates: createEventGates(),
    question,
    // A dialog of the system stands in front of the window: it need not say that it waits.
    productionGate:
      services.host.platform === 'browser'
        ? services.productionGate.forWindow(question)
        : services.productionGate,
  }
  return {
    /** Takes a message of the window. */
    receive: (message: string): void => {
      handler.message(channel, message, { context }).catch(refuse)
    },
    /** Ends what the window asked for; it is gone. */
    close: (): void => handler.close(channel),
  }
}

/** What Electron's `MessagePortMain` and Node's `MessagePort` have in common; here only text crosses it. */
export interface BridgePort {
  postMessage(message: string): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'close', listener: () => void): unknown
  close(): void
}

/** Serves the bridge over one end of a message channel until it closes. Electron's ports are started by who has them. */
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

/** The text of a message: Node's ports give it as it is, Electron's as the `data` of an event. */
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
  // A broken connection closes too; what broke it is the network's business.
  socket.on('error', () => {})
}
