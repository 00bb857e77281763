import { randomBytes } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { createDocumentHeaders } from './document-headers.ts'

/** What the renderer's build writes in place of a response's nonce. */
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

/** A file of the built renderer, ready to be sent. */
export interface RendererFile {
  headers: Record<string, string>
  body: Buffer<ArrayBuffer> | string
}

/**
 * Reads the file that a URL's path names in the folder of the built renderer; each page gets its own nonce in
 * body and policy. Null if it is not in the folder. `connectTo` is what the page may connect to in addition
 * to its own origin.
 */
export async function readRendererFile(
  folder: string,
  pathname: string,
  connectTo: readonly string[] = [],
): Promise<RendererFile | null> {
  const path = toRelativePath(pathname)
  const bytes = path === null ? null : await readBelow(folder, path)
  const type = path === null ? undefined : MIME_TYPES[extname(path).toLowerCase()]
  if (bytes === null || type === undefined) return null

  const nonce = randomBytes(18).toString('base64url')
  const isPage = type.startsWith('text/html')
  return {
    headers: {
      ...createDocumentHeaders(nonce, connectTo),
      'content-type': type,
      'cache-control': isPage ? 'no-store' : 'no-cache',
    },
    body: isPage ? bytes.toString('utf8').replaceAll(NONCE_PLACEHOLDER, nonce) : bytes,
  }
}

/** The path below the renderer's folder that a URL names; null if no such file can exist. */
function toRelativePath(pathname: string): string | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(pathname)
  } catch {
    return null
  }
  const segments = decoded.split('/').filter((segment) => segment !== '')
  // The file system would read a separator or drive inside a segment differently from the URL.
  if (segments.some((segment) => segment === '..' || segment === '.' || /[\\:\0]/.test(segment))) return null
  // Paths of the page's own routes, such as /runs/17, lead to the page.
  return extname(decoded) === '' ? 'index.html' : join(...segments)
}

/** Reads a file below a folder; null if there is none, or if a link leads out of the folder. */
async function readBelow(folder: string, path: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))])
    return file.startsWith(root + sep) ? await readFile(file) : null
  } catch {
    return null
  }
}
