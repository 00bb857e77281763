import { protocol } from 'electron'
import { readRendererFile } from '../renderer-files/read-renderer-file.ts'
import { APP_HOST, APP_SCHEME } from './app-origin.ts'

function refuse(status: number, reason: string): Response {
  return new Response(reason, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  })
}

/**
 * Answers requests for the built renderer in `folder`: each page with a nonce of its own in body and policy, every
 * other file as it is, and 404 for all that is not in the folder.
 */
export function createAppProtocolHandler(folder: string): (request: Request) => Promise<Response> {
  return async ({ method, url }) => {
    const { host, pathname } = new URL(url)
    if (host !== APP_HOST) return refuse(404, 'no such host')
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'only GET and HEAD')
    const file = await readRendererFile(folder, pathname)
    if (file === null) return refuse(404, 'no such file')
    return new Response(method === 'HEAD' ? null : file.body, { headers: file.headers })
  }
}

/** Makes `app://` a scheme like https: secure, with an origin of its own. Must run before the app is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: APP_SCHEME,
      privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true },
    },
  ])
}

/** Serves the built renderer in `folder` under `app://`. Runs once, when the app is ready. */
export function serveAppProtocol(folder: string): void {
  protocol.handle(APP_SCHEME, createAppProtocolHandler(folder))
}
