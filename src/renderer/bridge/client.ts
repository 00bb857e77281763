import { createORPCClient, DynamicLink } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import { BRIDGE_SOCKET_PATH } from '../../shared/bridge/browser-files.ts'
import type { BridgeClient } from '../../shared/bridge/contract.ts'
import { OPEN_BRIDGE_MESSAGE } from '../../shared/bridge/desktop-api.ts'
import { useConnection, whenOpen } from './connection.ts'
import { findDesktopApi } from './desktop.ts'

const RETRY_FIRST_MS = 250
const RETRY_LONGEST_MS = 4_000

type Link = SocketLink<object> | PortLink<object>

/** The engine as the window calls it: over a port on the desktop, over a websocket in a browser. */
export const bridge: BridgeClient = createORPCClient(new DynamicLink(chooseLink()))

function chooseLink(): () => Promise<Link> {
  return findDesktopApi() === null ? openSocket() : openPort()
}

function openPort(): () => Promise<Link> {
  const { port1, port2 } = new MessageChannel()
  window.postMessage(OPEN_BRIDGE_MESSAGE, window.location.origin, [port1])
  port2.start()
  useConnection.setState({ state: 'open' })
  const link = new PortLink({ port: port2 })
  return async () => link
}

function openSocket(): () => Promise<Link> {
  let link: Link | null = null
  let waitMs = RETRY_FIRST_MS
  const open = () => {
    const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws'
    const socket = new WebSocket(`${scheme}://${window.location.host}${BRIDGE_SOCKET_PATH}`)
    const opened = new SocketLink({ websocket: socket })
    socket.addEventListener('open', () => {
      link = opened
      waitMs = RETRY_FIRST_MS
      useConnection.setState({ state: 'open' })
    })
    socket.addEventListener('close', () => {
      link = null
      useConnection.setState({ state: 'lost' })
      setTimeout(open, waitMs)
      waitMs = Math.min(waitMs * 2, RETRY_LONGEST_MS)
    })
  }
  open()
  return async () => {
    await whenOpen()
    if (link === null) throw new Error('the connection was lost')
    return link
  }
}
