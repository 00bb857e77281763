import { createHmac, timingSafeEqual } from 'node:crypto'
import { isAbsolute, join, relative, sep } from 'node:path'
import { toSegments } from '../../../shared/service/endpoints.ts'
import type { RunRecord } from '../journal/run-record.ts'

export interface CallbackTarget {
  /** The run's token, shared by the child runs of a retry. */
  runToken: string
  item: number
}

/**
 * A base URL may have a path that a proxy passes on, so whatever comes before is ignored. Services and
 * proxies may double slashes or add one, which changes nothing.
 */
const CALLBACK_PATH = /\/callback\/+([\w-]{1,100})\/+([1-9]\d{0,14})\/+([\w-]{22})\/*$/

/**
 * Path of an item's callback URL, to be appended to the receiver's base. Always the same for an item of a
 * workspace, and unguessable without the workspace's secret (32 bytes, hex).
 */
export function toCallbackPath(secret: string, target: CallbackTarget): string {
  const text = toCallbackText(target)
  return `/${text}/${toAddressMac(secret, text)}`
}

/** Reads the path of a request, which may carry a query; null for an address that was never issued. */
export function parseCallbackPath(secret: string, path: string): CallbackTarget | null {
  const [, runToken = '', digits = '', mac = ''] = CALLBACK_PATH.exec(path.split('?', 1)[0] ?? '') ?? []
  const target = { runToken, item: Number(digits) }
  return mac !== '' && isAddressMac(secret, toCallbackText(target), mac) ? target : null
}

function toCallbackText({ runToken, item }: CallbackTarget): string {
  return `callback/${runToken}/${item}`
}

export interface MediaTarget {
  /** The run's token, shared by the child runs of a retry. */
  runToken: string
  /** Path inside the run's folder, with forward slashes. */
  path: string
}

const MEDIA_PATH = /\/media\/([\w-]{1,100})\/([\w-]{22})\/(.+)$/

/**
 * Path of a file's media URL, to be appended to the media host's base. Always the same for a file of a run,
 * and unguessable without the workspace's secret (32 bytes, hex).
 */
export function toMediaPath(secret: string, { runToken, path }: MediaTarget): string {
  const known = path.toWellFormed()
  return `/media/${runToken}/${toAddressMac(secret, toMediaText(runToken, known))}/${toSegments(known)}`
}

/**
 * Reads the path of a request, which may carry a query; null for an address that was never issued. The
 * file is not checked: the path may lead anywhere.
 */
export function parseMediaPath(secret: string, path: string): MediaTarget | null {
  const [, runToken = '', mac = '', encoded = ''] = MEDIA_PATH.exec(path.split('?', 1)[0] ?? '') ?? []
  const decoded = decodeOnce(encoded)
  if (decoded === null || mac === '' || !isAddressMac(secret, toMediaText(runToken, decoded), mac))
    return null
  return { runToken, path: decoded }
}

function decodeOnce(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

function toMediaText(runToken: string, path: string): string {
  return `media/${runToken}/${path}`
}

/** 128 bits cannot be guessed, and addresses stay short. */
const MAC_BYTES = 16

/** Makes addresses of the receiver unguessable: an HMAC-SHA256 of `text`, cut to 128 bits, base64url. */
function toAddressMac(secret: string, text: string): string {
  // The key is the secret as text: a Buffer would become a key object each time, at the cost of seven hashes.
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, MAC_BYTES).toString('base64url')
}

/** Whether `mac` belongs to `text`, in constant time. */
function isAddressMac(secret: string, text: string, mac: string): boolean {
  const expected = Buffer.from(toAddressMac(secret, text))
  // Compares the texts, not their bits: 22 characters have four spare bits, so 16 texts would be accepted.
  const given = Buffer.from(mac)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Names that are devices on Windows, with any ending. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(\.|$)/i

/**
 * Path of a file inside a folder; null if no folder can hold that path. Only on Windows, backslashes separate
 * names, and some names are devices, streams or lose their endings; elsewhere all of these are plain names.
 */
export function toFilePath(
  folder: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const names = path.split('/')
  const isPlain = names.every(
    (name) =>
      !['', '.', '..'].includes(name) &&
      !name.includes('\0') &&
      (platform !== 'win32' || isPlainOnWindows(name)),
  )
  return isPlain ? join(folder, ...names) : null
}

function isPlainOnWindows(name: string): boolean {
  return !/[\\:*?"<>|]|[. ]$/.test(name) && !DEVICE_NAME.test(name)
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Builds a run's addresses; `readSecret` returns the workspace's secret, called only if needed. */
export function createRunAddresses(
  { runToken, callbackBase, mediaBase }: Pick<RunRecord, 'runToken' | 'callbackBase' | 'mediaBase'>,
  readSecret: () => string,
) {
  const secret = callbackBase === null && mediaBase === null ? '' : readSecret()
  return {
    /** Where the service posts the result of an item; null if the run has no callbacks. */
    toCallbackUrl: (item: number): string | null =>
      callbackBase === null ? null : callbackBase + toCallbackPath(secret, { runToken, item }),
    /** Where the service finds a media file of the source's folder. */
    toMediaUrl: (path: string): string => (mediaBase ?? '') + toMediaPath(secret, { runToken, path }),
  }
}

/** Addresses in a run's requests; always the same for a run and its retries. */
export interface RunAddresses extends ReturnType<typeof createRunAddresses> {}
