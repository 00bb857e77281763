import { RPCHandler } from '@orpc/server/websocket'
import type { BridgeServices } from './bridge-context.ts'
import { createEventGates } from './event-gates.ts'
import { toReportedError } from './report-errors.ts'
import { bridgeRouter } from './router.ts'

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

/** One window's end of the bridge, whatever carries it. */
export interface Connection {
  /** Takes a message of the window. */
  receive(message: string): void
  /** Ends what the window asked for; it is gone. */
  close(): void
}

/**
 * Serves the bridge to one window. Messages are text. `refuse` is called where a message is none of the protocol's: the
 * connection is to be dropped, since no answer could name its question.
 */
export function openConnection(
  services: BridgeServices,
  { send, refuse }: { send: (message: string) => void; refuse: () => void },
): Connection {
  // The handler knows a connection by its object.
  const channel = {
    send: (message: string) => send(message),
    addEventListener: () => {},
  } as unknown as Pick<WebSocket, 'addEventListener' | 'send'>
  const context = { ...services, gates: createEventGates() }
  return {
    receive: (message) => {
      handler.message(channel, message, { context }).catch(refuse)
    },
    close: () => handler.close(channel),
  }
}
