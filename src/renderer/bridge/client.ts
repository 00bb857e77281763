import { createORPCClient, DynamicLink } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { notifyManager, QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import { BRIDGE_SOCKET_PATH } from '../../shared/bridge/browser-files.ts'
import type { BridgeClient } from '../../shared/bridge/contract.ts'
import { DESKTOP_API_NAME, type DesktopApi, OPEN_BRIDGE_MESSAGE } from '../../shared/bridge/desktop-api.ts'

const RETRY_FIRST_MS = 250
const RETRY_LONGEST_MS = 4_000

/** When to request an incomplete answer again, milliseconds. */
const SO_FAR_MS = 500

type Link = SocketLink<object> | PortLink<object>

/** The engine for the window: over a port on the desktop, a websocket in a browser. Connects on first use. */
export const bridge: BridgeClient = createORPCClient(
  new DynamicLink(() => {
    openLink ??= findDesktopApi() === null ? openSocket() : openPort()
    return openLink()
  }),
)

/** The same calls as options for `useQuery` and `useMutation`; a query's key is its procedure and input. */
export const ask = createTanstackQueryUtils(bridge)

/** Caches the engine's answers while a screen shows them. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The engine is reachable without a network. Drops answers that are not shown, since they may be content.
    queries: {
      networkMode: 'always',
      retry: false,
      refetchOnWindowFocus: false,
      gcTime: 0,
      refetchInterval: ({ state }) => (isSoFar(state.data) ? SO_FAR_MS : false),
    },
    // The input of a call may contain an API key.
    mutations: { networkMode: 'always', gcTime: 0 },
  },
})

/** Whether an answer is marked as incomplete. */
function isSoFar(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'unread' in answer && answer.unread !== 0
}

/** Duration of a frame on a common screen, milliseconds. */
const FRAME_MS = 16

/** Draws screens once for all answers within a frame. The first answer after a pause does not wait. */
export function drawAnswersTogether(): void {
  let waiting: (() => void)[] = []
  let notifiedAtMs = Number.NEGATIVE_INFINITY
  const notify = () => {
    const ready = waiting
    waiting = []
    for (const one of ready) one()
    notifiedAtMs = performance.now()
  }
  notifyManager.setScheduler((one) => {
    if (waiting.push(one) > 1) return
    // A hidden window draws no frames.
    if (document.hidden || performance.now() - notifiedAtMs > FRAME_MS) setTimeout(notify)
    else requestAnimationFrame(notify)
  })
}

let openLink: (() => Promise<Link>) | null = null

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

/** Whether the engine is reachable. `lost`: it was before; reconnecting continues all the time. */
type ConnectionState = 'connecting' | 'open' | 'lost'

export const useConnection = create<{ state: ConnectionState }>(() => ({ state: 'connecting' }))

/** Resolves once the engine is reachable, which may be at once. */
export function whenOpen(signal?: AbortSignal): Promise<void> {
  if (useConnection.getState().state === 'open') return Promise.resolve()
  return new Promise((resolve) => {
    const stop = useConnection.subscribe(({ state }) => {
      if (state !== 'open' && !signal?.aborted) return
      stop()
      resolve()
    })
    signal?.addEventListener('abort', () => {
      stop()
      resolve()
    })
  })
}

/** The desktop window's API for the page; null in a browser. */
export function findDesktopApi(): DesktopApi<File> | null {
  const found: unknown = Reflect.get(window, DESKTOP_API_NAME)
  return isDesktopApi(found) ? found : null
}

function isDesktopApi(value: unknown): value is DesktopApi<File> {
  return typeof value === 'object' && value !== null && 'takeFile' in value
}
