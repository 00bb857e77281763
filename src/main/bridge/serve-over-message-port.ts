import type { BridgeServices } from './bridge-context.ts'
import { openConnection } from './serve-connection.ts'

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
