import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { BRIDGE_SOCKET_PATH } from '../../shared/bridge/browser-files.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrown } from '../../shared/messages/thrown.ts'
import type { BridgeHost } from '../bridge/bridge-context.ts'
import { type BridgeOptions, openBridge } from '../bridge/open-bridge.ts'
import { serveOverWebSocket } from '../bridge/serve-connection.ts'
import { openConsentServer, type ShowConsent } from './consent-server.ts'
import { createDownloads, type Downloads } from './downloads.ts'
import { createEntryFiles, createEntryTokens } from './entry.ts'
import {
  checkRequest,
  createBoundedServer,
  ENTRY_PATH,
  LISTENER_LIMITS,
  type ListenerLimits,
  listen,
} from './listener.ts'
import { createSessions } from './sessions.ts'
import { createUploads } from './uploads.ts'
import { createWebRoutes } from './web-routes.ts'

/** Longest message of a window: plans and filters, never files. */
const MESSAGE_MAX_BYTES = 4 * 1024 * 1024

/** How often sessions whose time is over are looked for, milliseconds. */
const SWEEP_EVERY_MS = 30_000

export interface WebShellOptions {
  workspace: string
  rendererFolder: string
  /** What to type to open the screens again, for pages that are shown when they are gone. */
  openCommand: string
  /** Port on 127.0.0.1; 0 takes a free one. */
  port: number
  /**
   * Shows the page on which a person answers the question before production: `file` leads a browser to it as an entry
   * file does, `url` is the address itself, a secret until it is used.
   */
  showConsent: ShowConsent
  /** Where typed keys outlive this process, or why they do not. */
  lastingKeys: BridgeOptions['lastingKeys']
  /** Milliseconds that only ever grow, for the age of tokens and sessions. */
  now?: () => number
  /** What connections may hold on to (default: {@link LISTENER_LIMITS}). */
  limits?: ListenerLimits
}

/** Opens the engine and serves the screens on loopback. Throws `BAD_USAGE` for a port that is taken, `WORKSPACE_UNUSABLE`. */
export async function openWebShell(options: WebShellOptions) {
  const { now = () => performance.now(), limits = LISTENER_LIMITS } = options
  const server = createBoundedServer(limits)
  const port = await listen(server, options.port).catch((error: unknown) => {
    const said = { id: 'web_port_unusable', port: options.port, ...toThrown(error) } as const
    throw new SluiceError(said, { cause: error })
  })
  // Cookies know no ports: a name of its own keeps ours from whatever else runs on this machine.
  const origin = `http://sluice-${randomBytes(8).toString('hex')}.localhost:${port}`

  const downloads = createDownloads(options.workspace)
  const uploads = await createUploads(options.workspace)
  const entryFiles = createEntryFiles(options.workspace)
  const consent = await openConsentServer({
    entryFiles: createEntryFiles(options.workspace),
    show: options.showConsent,
    limits,
  })
  const host = createBrowserHost(downloads, consent.ask)
  const giveUp = () => {
    server.close()
    void consent.close()
  }
  const { workspace, lastingKeys } = options
  const bridge = openBridgeOr(giveUp, { workspace, host, lastingKeys })
  const tokens = createEntryTokens(now)
  const sessions = createSessions(now)
  const answer = createWebRoutes({
    origin,
    rendererFolder: options.rendererFolder,
    openCommand: options.openCommand,
    tokens,
    sessions,
    uploads,
    sources: bridge.services.sources,
    downloads,
    media: bridge.services.media,
    findQuestionUrl: consent.findUrl,
    onEntered: entryFiles.clear,
  })
  server.on('request', (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_MAX_BYTES,
    perMessageDeflate: false,
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const session = checkRequest(request, origin) === null ? sessions.find(request.headers.cookie) : null
    socket.on('error', () => socket.destroy())
    if (session === null || request.url !== BRIDGE_SOCKET_PATH) {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    // A window may be quiet for hours.
    request.socket.setTimeout(0)
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.once(
        'close',
        session.hold(() => ws.terminate()),
      )
      serveOverWebSocket(ws, bridge.services)
    })
  })
  const sweeping = setInterval(() => sessions.sweep(), SWEEP_EVERY_MS).unref()

  const createEntryUrl = () => `${origin}${ENTRY_PATH}#${tokens.issue()}`
  return {
    /** Scheme, random host name and port. */
    origin,
    /** Makes an address that lets one browser in, once, within minutes. It is a secret until it is used. */
    createEntryUrl,
    /**
     * Writes a file that only its owner can read, and that leads to such an address when a browser opens it. It is
     * removed when a browser was let in. Throws `WORKSPACE_UNUSABLE`.
     */
    createEntryFile: (): Promise<string> => entryFiles.write(createEntryUrl()),
    /** Drains held runs, which can be resumed, and stops serving. */
    async close(): Promise<void> {
      clearInterval(sweeping)
      // Windows see their runs drain, then lose the connection.
      await bridge.close()
      for (const ws of sockets.clients) ws.terminate()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await Promise.all([closed, consent.close()])
      await Promise.all([uploads.clear(), downloads.clear(), entryFiles.clear()])
    },
  }
}

/** The screens, served to browsers of this machine. */
export interface WebShell extends Awaited<ReturnType<typeof openWebShell>> {}

function openBridgeOr(giveUp: () => void, options: BridgeOptions) {
  try {
    return openBridge(options)
  } catch (error) {
    giveUp()
    throw error
  }
}

/** The browser's rules: exports are fetched, and `askProduction` asks on a page of its own origin. */
function createBrowserHost(downloads: Downloads, askProduction: BridgeHost['askProduction']): BridgeHost {
  return {
    platform: 'browser',
    desktop: null,
    askProduction,
    async placeExport({ targetId, name }) {
      if (targetId === undefined) return downloads.place(name)
      throw new SluiceError({ id: 'export_into_browser' })
    },
    placeErrors: async ({ name }) => downloads.place(name),
  }
}
