import type { WebSocket } from 'ws'
import type { BridgeServices } from './bridge-context.ts'
import { openConnection } from './serve-connection.ts'

/** Status of a websocket that is closed because of what was sent over it (RFC 6455 §7.4.1). */
const UNSUPPORTED_DATA = 1003

/** Serves the bridge over a websocket until it closes. */
export function serveOverWebSocket(socket: WebSocket, services: BridgeServices): void {
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
