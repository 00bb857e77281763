import { lookup as lookUp } from 'node:dns'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'
import { findMediaType, HEAD_BYTES, type MediaType } from './media-type.ts'

/** Largest file that is fetched, bytes; it is held in memory. */
const FETCH_MAX_BYTES = 64 * 1024 * 1024

/** Longest time for a file, milliseconds. */
const FETCH_MS = 30_000

/** This machine itself and what only it can reach, such as the metadata of a virtual machine. */
const OWN = new BlockList()
OWN.addSubnet('0.0.0.0', 8)
OWN.addSubnet('127.0.0.0', 8)
OWN.addSubnet('169.254.0.0', 16)
OWN.addAddress('::', 'ipv6')
OWN.addAddress('::1', 'ipv6')
OWN.addSubnet('fe80::', 10, 'ipv6')

/** Whether an IP address is one of this machine itself. */
export function isOwnAddress(address: string): boolean {
  if (OWN.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return true
  const own = new BlockList()
  for (const { address: ip, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    own.addAddress(ip, family === 'IPv6' ? 'ipv6' : 'ipv4')
  }
  return own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** A file from elsewhere. */
export interface FetchedMedia {
  bytes: Buffer
  type: MediaType
}

/**
 * Fetches a picture, video or sound with one GET request without cookies, credentials or a referrer. Redirects are not
 * followed. Addresses of this machine are refused after the name was looked up, so that the content of a row asks
 * nothing of what runs here. Throws `BAD_USAGE`.
 */
export async function fetchMedia(
  address: string,
  {
    signal,
    isRefused = isOwnAddress,
  }: { signal?: AbortSignal | undefined; isRefused?: (ip: string) => boolean },
): Promise<FetchedMedia> {
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
    // An address with a name and password would send these.
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
