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

/** Longest message from a window: plans and filters, never files. */
const MESSAGE_MAX_BYTES = 4 * 1024 * 1024

/** How often expired sessions are looked for, milliseconds. */
const SWEEP_EVERY_MS = 30_000

export interface WebShellOptions {
  workspace: string
  rendererFolder: string
  /** The command that opens the screens again, for pages shown after they are gone. */
  openCommand: string
  /** Port on 127.0.0.1; 0 picks a free one. */
  port: number
  /**
   * Shows the page with a question before production: `file` leads a browser to it like an entry file; `url`
   * is the address itself, secret until used.
   */
  showConsent: ShowConsent
  /** Where typed keys outlive this process, or why nowhere. */
  lastingKeys: BridgeOptions['lastingKeys']
  /** Monotonic milliseconds, for the age of tokens and sessions. */
  now?: () => number
  /** Limits of connections (default: {@link LISTENER_LIMITS}). */
  limits?: ListenerLimits
}

/**
 * Opens the engine and serves the screens on loopback. Throws `BAD_USAGE` if the port is taken, and
 * `WORKSPACE_UNUSABLE`.
 */
export async function openWebShell(options: WebShellOptions) {
  const { now = () => performance.now(), limits = LISTENER_LIMITS } = options
  const server = createBoundedServer(limits)
  const port = await listen(server, options.port).catch((error: unknown) => {
    const said = { id: 'web_port_unusable', port: options.port, ...toThrown(error) } as const
    throw new SluiceError(said, { cause: error })
  })
  // Cookies ignore ports: a host name of our own keeps our cookie from other servers on this machine.
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
    // A window may be silent for hours.
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
    /** Creates an address that lets in one browser, once, within minutes; secret until used. */
    createEntryUrl,
    /**
     * Writes a file, readable by its owner only, that takes a browser to such an address. It is removed once
     * a browser is let in. Throws `WORKSPACE_UNUSABLE`.
     */
    createEntryFile: (): Promise<string> => entryFiles.write(createEntryUrl()),
    /** Drains the runs held here, which can be resumed, and stops serving. */
    async close(): Promise<void> {
      clearInterval(sweeping)
      // Windows see their runs drain before they lose the connection.
      await bridge.close()
      for (const ws of sockets.clients) ws.terminate()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await Promise.all([closed, consent.close()])
      await Promise.all([uploads.clear(), downloads.clear(), entryFiles.clear()])
    },
  }
}

/** The screens, served to browsers on this machine. */
export interface WebShell extends Awaited<ReturnType<typeof openWebShell>> {}

function openBridgeOr(giveUp: () => void, options: BridgeOptions) {
  try {
    return openBridge(options)
  } catch (error) {
    giveUp()
    throw error
  }
}

/** The rules for browsers: exports are downloaded, and `askProduction` asks on a page of its own origin. */
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
