import { lookup as lookUp } from 'node:dns'
import { realpath, stat } from 'node:fs/promises'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RowMedia } from '../../shared/bridge/media.ts'
import { isFolderColumns, toColumnIndex, toWholeMapping } from '../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { formatRow } from '../../shared/plan/source-place.ts'
import type { RowDetail } from '../../shared/run/results.ts'
import type { Handlers } from './bridge-context.ts'
import { findMediaType, HEAD_BYTES, type MediaType } from './media-type.ts'

/** Most media shown for one row. */
const MEDIA_MAX = 8

/** Longest cell that can name a file, UTF-16 code units. */
const NAME_MAX = 2_048

export const mediaHandlers: Handlers<'media'> = {
  ofRow: async ({ context: { engine, media }, input: { runId, row } }) => {
    const [detail, plan] = await Promise.all([
      engine.results.readRow(runId, row),
      engine.runs.readPlan(runId),
    ])
    const names = findMediaNames(plan, detail)
    const folder = await findMediaFolder(plan.source.path)
    return Promise.all(
      names.map(async (name): Promise<RowMedia> => {
        const { column } = name
        if (name.kind === 'remote') return { kind: 'remote', column, host: name.url.host }
        const path = folder === null ? null : toPathInside(folder, name.path)
        if (folder === null || path === null)
          return { kind: 'unusable', column, why: 'missing', sizeBytes: null }
        return { ...(await media.addFile(folder, path)), column }
      }),
    )
  },
  fetch: async ({ context: { engine, media }, input: { runId, row, column }, signal }) => {
    const [detail, plan] = await Promise.all([
      engine.results.readRow(runId, row),
      engine.runs.readPlan(runId),
    ])
    const name = findMediaNames(plan, detail).find((one) => one.column === column)
    if (name?.kind !== 'remote')
      throw new SluiceError({ id: 'media_not_named', row: formatRow(detail.result.place), column })
    const { host, href } = name.url
    if (plan.connection.proxy !== undefined) throw new SluiceError({ id: 'media_behind_proxy', host })
    const { bytes, type } = await fetchMedia(href, { signal })
    return { ...media.addBytes(bytes, type), column }
  },
}

type MediaName = { column: number } & ({ kind: 'remote'; url: URL } | { kind: 'local'; path: string })

/** Endings of files that a page may be able to show; the actual type is read from their bytes. */
const ENDING =
  /\.(png|apng|jpe?g|gif|webp|avif|bmp|mp4|m4v|mov|webm|mkv|ogv|mp3|m4a|aac|wav|flac|og[ga]|opus)$/i

/**
 * The cells of a row that name media, each file once: addresses in a column that fills `url` or `media` or
 * with a media ending, and paths with one.
 */
function findMediaNames(
  plan: Plan,
  { columns, result: { cells } }: Pick<RowDetail, 'columns' | 'result'>,
): MediaName[] {
  const mapping = toWholeMapping(plan, columns)
  const filling = new Set(['url', 'media'].map((field) => toColumnIndex(columns, mapping[field])))
  const mediaOfFolder = isFolderColumns(columns) ? columns.indexOf('media') : -1
  const names = new Map<string, MediaName>()
  for (const [column, cell] of cells.entries()) {
    const text = cell.trim()
    if (text === '' || text.length > NAME_MAX || /[\r\n\0]/.test(text)) continue
    const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
    if (url !== null) {
      if (filling.has(column) || ENDING.test(url.pathname)) names.set(text, { column, kind: 'remote', url })
    } else if (column === mediaOfFolder || ENDING.test(text)) {
      const path = toLocalPath(text)
      if (path !== null && !names.has(path)) names.set(path, { column, kind: 'local', path })
    }
  }
  return [...names.values()].slice(0, MEDIA_MAX)
}

function toLocalPath(text: string): string | null {
  if (!/^[a-z][a-z+.-]+:/i.test(text)) return text.replace(/^\.[\\/]/, '')
  try {
    return text.toLowerCase().startsWith('file:') ? fileURLToPath(text) : null
  } catch {
    return null
  }
}

/** The folder with a source's files: the source itself, or the folder of its file. Null if it is gone. */
async function findMediaFolder(source: string): Promise<string | null> {
  try {
    const real = await realpath(source)
    return (await stat(real)).isDirectory() ? real : dirname(real)
  } catch {
    return null
  }
}

/** The path inside a folder that a name stands for, with forward slashes; null if it is outside. */
function toPathInside(folder: string, name: string): string | null {
  const path = isAbsolute(name) ? relative(folder, name) : name
  if (isAbsolute(path) || path === '') return null
  // A table from Windows has backslashes; elsewhere they may be part of a name.
  return sep === '\\' ? path.replaceAll('\\', '/') : path
}

/** Largest file fetched, bytes; it is held in memory. */
const FETCH_MAX_BYTES = 64 * 1024 * 1024

/** Longest time to fetch a file, milliseconds. */
const FETCH_MS = 30_000

/** This machine, and addresses only it can reach, such as the metadata service of a virtual machine. */
const OWN = new BlockList()
OWN.addSubnet('0.0.0.0', 8)
OWN.addSubnet('127.0.0.0', 8)
OWN.addSubnet('169.254.0.0', 16)
OWN.addAddress('::', 'ipv6')
OWN.addAddress('::1', 'ipv6')
OWN.addSubnet('fe80::', 10, 'ipv6')

export function isOwnAddress(address: string): boolean {
  if (OWN.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return true
  const own = new BlockList()
  for (const { address: ip, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    own.addAddress(ip, family === 'IPv6' ? 'ipv6' : 'ipv4')
  }
  return own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Fetches a picture, video or sound with one GET request without cookies, credentials or referrer. Does not
 * follow redirects. Addresses of this machine are refused after name resolution, so that a row's content
 * cannot reach services that run here. Throws `BAD_USAGE`.
 */
export async function fetchMedia(
  address: string,
  {
    signal,
    isRefused = isOwnAddress,
  }: { signal?: AbortSignal | undefined; isRefused?: (ip: string) => boolean },
): Promise<{ bytes: Buffer; type: MediaType }> {
  const url = new URL(address)
  const { host } = url
  const name = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0 && isRefused(name)) throw new SluiceError({ id: 'media_of_this_machine', host })
  const timeout = AbortSignal.timeout(FETCH_MS)
  const ended = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  try {
    const response = await send(url, ended, createGuardedLookup(host, isRefused))
    try {
      checkStatus(url, response)
      const bytes = await readBody(host, response)
      const type = findMediaType(bytes.subarray(0, HEAD_BYTES))
      if (type === null) throw new SluiceError({ id: 'media_not_shown', host })
      return { bytes, type }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (error instanceof SluiceError) throw error
    const reason = timeout.aborted
      ? `no whole answer within ${FETCH_MS / 1000} s`
      : (toSystemCode(error) ?? toThrownText(error))
    throw new SluiceError({ id: 'media_not_fetched', host, reason }, { cause: error })
  }
}

function send(url: URL, signal: AbortSignal, lookup: LookupFunction): Promise<IncomingMessage> {
  const headers = {
    accept: 'image/*, video/*, audio/*',
    'accept-encoding': 'identity',
    'user-agent': 'Sluice',
  }
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp
    // A name and password in the address would be sent.
    const bare = new URL(url.href)
    bare.username = ''
    bare.password = ''
    get(bare, { headers, signal, lookup, agent: false }, resolve).once('error', reject)
  })
}

function createGuardedLookup(host: string, isRefused: (ip: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      if (error !== null || first === undefined) return callback(error ?? new Error('no address'), [])
      if (found.some(({ address }) => isRefused(address))) {
        return callback(new SluiceError({ id: 'media_of_this_machine', host }), [])
      }
      if (options.all === true) callback(null, found)
      else callback(null, first.address, first.family)
    })
  }
}

function checkStatus(url: URL, { statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode === 200) return
  const { location } = headers
  if (statusCode >= 300 && statusCode < 400 && location !== undefined && URL.canParse(location, url.href)) {
    throw new SluiceError({ id: 'media_elsewhere', host: url.host, other: new URL(location, url.href).host })
  }
  throw new SluiceError({ id: 'media_not_fetched', host: url.host, reason: `HTTP status ${statusCode}` })
}

async function readBody(host: string, response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let sizeBytes = Number(response.headers['content-length'] ?? 0)
  if (sizeBytes <= FETCH_MAX_BYTES) {
    sizeBytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      if (sizeBytes > FETCH_MAX_BYTES) break
      chunks.push(chunk)
    }
  }
  if (sizeBytes > FETCH_MAX_BYTES) {
    throw new SluiceError({ id: 'media_too_large', host, maxBytes: FETCH_MAX_BYTES })
  }
  return Buffer.concat(chunks)
}
