import { randomBytes } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { protocol } from 'electron'
import { APP_HOST, APP_SCHEME } from './app-origin.ts'
import { createContentSecurityPolicy } from './content-security-policy.ts'

/** What the renderer's build writes where a response's nonce belongs. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

function refuse(status: number, reason: string): Response {
  return new Response(reason, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  })
}

/** The path below the renderer's folder that a URL names, or null where it names nothing that could be there. */
function toRelativePath(pathname: string): string | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(pathname)
  } catch {
    return null
  }
  const segments = decoded.split('/').filter((segment) => segment !== '')
  // A separator or a drive inside a segment would mean something else to the file system than to the URL.
  if (segments.some((segment) => segment === '..' || segment === '.' || /[\\:\0]/.test(segment))) return null
  // A path of the page itself, such as /runs/17, is the page.
  return extname(decoded) === '' ? 'index.html' : join(...segments)
}

/** Reads a file below a folder; null where there is none, or where a link leads out of the folder. */
async function readBelow(folder: string, path: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))])
    return file.startsWith(root + sep) ? await readFile(file) : null
  } catch {
    return null
  }
}

/**
 * Answers requests for the built renderer in `folder`: each page with a nonce of its own in body and policy, every
 * other file as it is, and 404 for all that is not in the folder.
 */
export function createAppProtocolHandler(folder: string): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url)
    if (url.host !== APP_HOST) return refuse(404, 'no such host')
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'only GET and HEAD')
    const path = toRelativePath(url.pathname)
    const bytes = path === null ? null : await readBelow(folder, path)
    const type = path === null ? undefined : MIME_TYPES[extname(path).toLowerCase()]
    if (path === null || bytes === null || type === undefined) return refuse(404, 'no such file')

    const nonce = randomBytes(18).toString('base64url')
    const isPage = type.startsWith('text/html')
    const body = isPage ? bytes.toString('utf8').replaceAll(NONCE_PLACEHOLDER, nonce) : bytes
    return new Response(request.method === 'HEAD' ? null : body, {
      headers: {
        'content-type': type,
        // Without a page around it, an SVG or a script is a document of its own: the policy goes with every answer.
        'content-security-policy': createContentSecurityPolicy(nonce),
        'cache-control': isPage ? 'no-store' : 'no-cache',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    })
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
