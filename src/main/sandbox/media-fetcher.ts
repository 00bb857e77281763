import { createHash } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { parseMediaPath } from '../engine/receiver/addresses.ts'
import { findReceiverSettings } from '../engine/receiver/receiver-settings.ts'

export interface MediaFetcherOptions {
  /** Null to fetch nothing, as in a sandbox for other machines, which must not reach into this one. */
  workspace: string | null
  limitBytes: number
  timeoutMs: number
}

const CONNECTIONS = 16

export function createMediaFetcher({ workspace, limitBytes, timeoutMs }: MediaFetcherOptions) {
  const settings = { keepAlive: true, maxSockets: CONNECTIONS }
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
  const secure = new https.Agent({ ...settings, rejectUnauthorized: true })
  const agents = { http: new http.Agent(settings), https: secure }

  return {
    /** Whether the workspace issued an address for a media file, at an IP address of this machine. */
    isFetched: (url: string): boolean => {
      if (workspace === null || !URL.canParse(url)) return false
      const { protocol, hostname, pathname } = new URL(url)
      // Names are not resolved: the result may change between two look-ups.
      const isHere = isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''))
      return isHere && /^https?:$/.test(protocol) && isIssued(workspace, pathname)
    },
    /**
     * SHA-256 of the media in hexadecimal; null if it cannot be fetched: a status other than 200, too large,
     * too slow, or an untrusted certificate. Never rejects. Does not follow redirects.
     */
    fetchHash: (url: string): Promise<string | null> =>
      new Promise((resolve) => {
        const request = url.startsWith('https:')
          ? https.get(url, { agent: agents.https })
          : http.get(url, { agent: agents.http })
        const timer = setTimeout(() => request.destroy(), timeoutMs)
        const end = (hash: string | null): void => {
          clearTimeout(timer)
          resolve(hash)
        }
        request.on('response', (answer) => {
          const digest = createHash('sha256')
          let sizeBytes = 0
          const isWanted = (): boolean => answer.statusCode === 200 && sizeBytes <= limitBytes
          answer.on('data', (chunk: Buffer) => {
            sizeBytes += chunk.length
            if (isWanted()) digest.update(chunk)
            else request.destroy()
          })
          answer.on('end', () => end(isWanted() ? digest.digest('hex') : null))
          answer.on('error', () => end(null))
          answer.on('close', () => end(null))
        })
        request.on('error', () => end(null))
        request.on('close', () => end(null))
      }),
    close: (): void => {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/**
 * Fetches media files that runs of a workspace serve on this machine. A row may name any address, but nothing
 * else that listens here may be reached through it.
 */
export interface MediaFetcher extends ReturnType<typeof createMediaFetcher> {}

function isIssued(workspace: string, path: string): boolean {
  try {
    const settings = findReceiverSettings(workspace)
    return settings !== null && parseMediaPath(settings.secret, path) !== null
  } catch {
    // Unreadable settings contain no addresses; the receiver reports what is wrong with them.
    return false
  }
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/**
 * Whether a Host header may reach a server that listens at `listensAt`: a name or address that always means
 * this machine, or the very name it listens at. If it listens beyond this machine, any IP address may: only
 * names can be redirected to another machine (DNS rebinding).
 */
export function isServedHost(hostname: string, listensAt: string): boolean {
  if (isLoopbackName(hostname) || hostname === listensAt) return true
  return !isLoopbackName(listensAt) && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether a host name, as written in a URL or Host header, always means this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''))
}
