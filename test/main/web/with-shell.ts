import { mkdirSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { openWebShell, type WebShell, type WebShellOptions } from '../../../src/main/web/web-shell.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** An answer, read to its end. */
interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Parts of a request; `host` and `origin` default to the shell's own, and null omits the header. */
interface RequestOptions {
  method?: string
  host?: string
  origin?: string | null
  cookie?: string
  headers?: Record<string, string>
  body?: string | Readable
}

/** A shell with a small renderer, for one test. */
export interface TestShell extends WebShell {
  workspace: string
  /** Folder of the built renderer; `secret.txt` lies beside it. */
  rendererFolder: string
  port: number
  request(path: string, options?: RequestOptions): Promise<Answer>
  /** Sends a token; returns the cookie from the answer. */
  enter(token?: string): Promise<{ answer: Answer; cookie: string }>
  /** Opens the websocket; returns the status if it is refused. */
  openSocket(options: RequestOptions & { path?: string }): Promise<{ socket: WebSocket } | { status: number }>
  /** The bridge as the page calls it. */
  connect(cookie: string): Promise<BridgeClient>
}

/** The token in an address of {@link WebShell.createEntryUrl}. */
export function toToken(url: string): string {
  return new URL(url).hash.slice(1)
}

/** Opens a shell that closes after the running test. */
export async function withShell(options: Partial<WebShellOptions> = {}): Promise<TestShell> {
  const workspace = options.workspace ?? createTemporaryFolder()
  const rendererFolder = writeRenderer()
  const shell = await openWebShell({
    workspace,
    rendererFolder,
    openCommand: 'sluice open',
    port: 0,
    showConsent: async () => {},
    lastingKeys: { absence: 'tests keep keys for the session' },
    ...options,
  })
  onTestFinished(() => shell.close())
  const { host, port } = new URL(shell.origin)

  const request: TestShell['request'] = (path, request = {}) => {
    const headers = toHeaders(request, { host, origin: shell.origin })
    return new Promise((resolve, reject) => {
      const { method = 'GET', body } = request
      const call = send({ host: '127.0.0.1', port, path, method, headers, agent: false })
      call.once('response', (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response
        text(response).then((text) => resolve({ status, headers, text }), reject)
      })
      call.once('error', reject)
      if (body === undefined || typeof body === 'string') call.end(body)
      else body.pipe(call)
    })
  }

  const openSocket: TestShell['openSocket'] = ({ path = '/bridge', ...request }) =>
    new Promise((resolve, reject) => {
      const headers = toHeaders(request, { host, origin: shell.origin })
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
      onTestFinished(() => socket.terminate())
      socket.once('open', () => resolve({ socket }))
      socket.once('unexpected-response', (call, { statusCode: status = 0 }) => {
        call.destroy()
        resolve({ status })
      })
      socket.on('error', reject)
    })

  return {
    ...shell,
    workspace,
    rendererFolder,
    port: Number(port),
    request,
    async enter(token = toToken(shell.createEntryUrl())) {
      const answer = await request('/session', { method: 'POST', body: token })
      return { answer, cookie: (answer.headers['set-cookie']?.[0] ?? '').replace(/;.*/, '') }
    },
    openSocket,
    async connect(cookie) {
      const opened = await openSocket({ cookie })
      if (!('socket' in opened)) throw new Error(`refused with ${opened.status}`)
      const websocket = opened.socket as unknown as globalThis.WebSocket
      return createORPCClient<BridgeClient>(new RPCLink({ websocket }))
    },
  }
}

function toHeaders(request: RequestOptions, own: { host: string; origin: string }): Record<string, string> {
  const { origin = own.origin, cookie } = request
  return {
    host: request.host ?? own.host,
    ...(origin === null ? {} : { origin }),
    ...(cookie === undefined ? {} : { cookie }),
    ...request.headers,
  }
}

function writeRenderer(): string {
  const parent = createTemporaryFolder()
  const folder = join(parent, 'renderer')
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(parent, 'secret.txt'), 'secret')
  writeFileSync(join(parent, 'secret.js'), 'secret')
  writeFileSync(join(folder, 'assets/app.js'), 'export {}')
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__"><script nonce="__CSP_NONCE__" src="./assets/app.js"></script>',
  )
  return folder
}
