import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import { onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { BridgeServices } from '../../../src/main/bridge/bridge-context.ts'
import { createDesktopHost, type DesktopHost } from '../../../src/main/bridge/desktop-host.ts'
import { type Bridge, type BridgeOptions, openBridge } from '../../../src/main/bridge/open-bridge.ts'
import type { AskProduction, ProductionQuestion } from '../../../src/main/bridge/production-gate.ts'
import { serveOverMessagePort, serveOverWebSocket } from '../../../src/main/bridge/serve-connection.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** The transports of the bridge. */
export type Transport = 'websocket' | 'message port'

/** A window's end of the bridge. */
export interface TestWindow {
  client: BridgeClient
  /** Every message that the window received, as it came. */
  received: string[]
  /** Sends something that no client would. */
  sendRaw(message: string): void
  /** Settles when the connection is closed by either side. */
  closed: Promise<unknown>
  /** Closes the connection without notice, as a window does. */
  leave(): void
}

/** A desktop bridge and the actions of its dialogs. */
export interface TestBridge extends Bridge {
  host: DesktopHost
  /** The production questions, in order. */
  questions: ProductionQuestion[]
}

/**
 * A bridge on a workspace of its own, closed after the test. Production questions are answered with no unless
 * `answer` says otherwise.
 */
export function withBridge(
  workspace = createTemporaryFolder(),
  answer: AskProduction = async () => false,
  lastingKeys: BridgeOptions['lastingKeys'] = { absence: 'tests keep keys for the session' },
): TestBridge {
  const questions: ProductionQuestion[] = []
  const host = createDesktopHost((question, signal) => {
    questions.push(question)
    return answer(question, signal)
  })
  const bridge = openBridge({ workspace, host, lastingKeys })
  onTestFinished(() => bridge.close())
  return { ...bridge, host, questions }
}

/** Connects a window over one of the transports until the test is over. */
export async function connectWindow(transport: Transport, services: BridgeServices): Promise<TestWindow> {
  const window = await (transport === 'websocket' ? connectSocket(services) : connectPort(services))
  onTestFinished(() => window.leave())
  return window
}

async function connectSocket(services: BridgeServices): Promise<TestWindow> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => {
    server.close()
  })
  server.on('connection', (socket) => serveOverWebSocket(socket, services))
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const socket = new WebSocket(`ws://127.0.0.1:${address.port}`)
  const received: string[] = []
  socket.on('message', (data) => received.push(data.toString()))
  await once(socket, 'open')
  return {
    client: createORPCClient<BridgeClient>(
      new SocketLink({ websocket: socket as unknown as globalThis.WebSocket }),
    ),
    received,
    sendRaw: (message) => socket.send(message),
    closed: once(socket, 'close'),
    leave: () => socket.terminate(),
  }
}

function connectPort(services: BridgeServices): TestWindow {
  const { port1, port2 } = new MessageChannel()
  serveOverMessagePort(port1, services)
  const received: string[] = []
  port2.on('message', (message) => received.push(String(message)))
  return {
    client: createORPCClient<BridgeClient>(new PortLink({ port: port2 })),
    received,
    sendRaw: (message) => port2.postMessage(message),
    closed: once(port2, 'close'),
    leave: () => port2.close(),
  }
}
