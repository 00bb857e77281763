import { Readable } from 'node:stream'
import { protocol } from 'electron'
import { MEDIA_PATH } from '../../shared/bridge/media.ts'
import type { MediaFiles } from '../bridge/media-files.ts'
import { readRendererFile } from '../renderer-files/read-renderer-file.ts'

/** Scheme of the built renderer's URLs. */
const APP_SCHEME = 'app'

const APP_HOST = 'sluice'

export const APP_URL = `${APP_SCHEME}://${APP_HOST}/`

/** Scheme, host and port of a URL, including schemes for which the URL standard's `origin` is opaque. */
function toOrigin(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { protocol, host, username, password } = new URL(url)
  return username === '' && password === '' && host !== '' ? `${protocol}//${host}` : null
}

/** Whether a URL belongs to our page. `appUrl` is {@link APP_URL} unless a development server runs. */
export function isOwnUrl(url: string, appUrl: string): boolean {
  const origin = toOrigin(url)
  return origin !== null && origin === toOrigin(appUrl)
}

function refuse(status: number, reason: string): Response {
  return new Response(reason, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  })
}

/**
 * Creates the handler that serves the built renderer in `folder`: each page with a nonce of its own in body
 * and policy, other files unchanged, 404 for everything else. `media` answers for the media of rows.
 */
export function createAppProtocolHandler(
  folder: string,
  media: Pick<MediaFiles, 'answer'>,
): (request: Request) => Promise<Response> {
  return async ({ method, url, headers }) => {
    const { host, pathname } = new URL(url)
    if (host !== APP_HOST) return refuse(404, 'no such host')
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'only GET and HEAD')
    if (pathname.startsWith(`${MEDIA_PATH}/`)) {
      const answer = await media.answer({
        pathname,
        method,
        range: headers.get('range') ?? undefined,
        ifRange: headers.get('if-range') ?? undefined,
        ifNoneMatch: headers.get('if-none-match') ?? undefined,
      })
      if (answer === null) return refuse(404, 'no such file')
      const body = answer.body === null ? null : (Readable.toWeb(answer.body) as ReadableStream)
      return new Response(body, { status: answer.status, headers: answer.headers })
    }
    const file = await readRendererFile(folder, pathname)
    if (file === null) return refuse(404, 'no such file')
    return new Response(method === 'HEAD' ? null : file.body, { headers: file.headers })
  }
}

/** Gives `app://` the rights of https: secure, with its own origin. Must run before the app is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: APP_SCHEME,
      // Videos are read in parts.
      privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true, codeCache: true },
    },
  ])
}

/** Serves the renderer in `folder`, and media of rows, under `app://`. Call once, when the app is ready. */
export function serveAppProtocol(folder: string, media: Pick<MediaFiles, 'answer'>): void {
  protocol.handle(APP_SCHEME, createAppProtocolHandler(folder, media))
}
