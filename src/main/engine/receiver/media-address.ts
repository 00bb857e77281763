import { isAddressMac, toAddressMac } from './address-mac.ts'

/** Which file a media URL is about. */
export interface MediaTarget {
  /** The run's token, which the child runs of a retry share. */
  runToken: string
  /** Path inside the run's folder, with forward slashes. */
  path: string
}

const MEDIA_PATH = /\/media\/([\w-]{1,100})\/([\w-]{22})\/(.+)$/

/**
 * Path of a file's media URL, to be put behind the media host's base. Always the same for a file of a run, and told
 * by nobody who does not know the workspace's secret (32 bytes, hex).
 */
export function toMediaPath(secret: string, { runToken, path }: MediaTarget): string {
  const known = path.toWellFormed()
  return `/media/${runToken}/${toAddressMac(secret, toText(runToken, known))}/${encodeMediaPath(known)}`
}

/** A path inside a folder as it stands in a URL: percent-encoded, its slashes kept. */
function encodeMediaPath(path: string): string {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

/**
 * Reads the path of a request, which may carry a query; null where we never gave out such an address. It says
 * nothing about the file: the path may lead anywhere.
 */
export function parseMediaPath(secret: string, path: string): MediaTarget | null {
  const [, runToken = '', mac = '', encoded = ''] = MEDIA_PATH.exec(path.split('?', 1)[0] ?? '') ?? []
  const decoded = decodeOnce(encoded)
  if (decoded === null || mac === '' || !isAddressMac(secret, toText(runToken, decoded), mac)) return null
  return { runToken, path: decoded }
}

function decodeOnce(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

function toText(runToken: string, path: string): string {
  return `media/${runToken}/${path}`
}
