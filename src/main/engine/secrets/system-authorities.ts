import { once } from 'node:events'
import { getCACertificates } from 'node:tls'
import { Worker } from 'node:worker_threads'
import type { PlanConnection } from '../../../shared/plan/connection.ts'

/** Contents of the system's store, as PEM; null until read in this thread. */
let stored: readonly string[] | null = null

/**
 * The certificate authorities, as PEM, that this system trusts besides the built-in ones. Reads the store at
 * the first call in a thread and keeps it until the process ends. Empty if the store cannot be read.
 */
export function readSystemAuthorities(): string[] {
  stored ??= readStore()
  const builtIn = new Set(getCACertificates('default').map((certificate) => certificate.trim()))
  return [...new Set(stored.map((certificate) => certificate.trim()))].filter((one) => !builtIn.has(one))
}

function readStore(): string[] {
  try {
    return getCACertificates('system')
  } catch {
    return []
  }
}

let loading: Promise<void> | null = null

/** The same without blocking: opening a keychain can take seconds, so another thread reads it first. */
export async function loadSystemAuthorities(): Promise<string[]> {
  if (stored === null) {
    loading ??= readInThread()
    await loading
  }
  return readSystemAuthorities()
}

const READER =
  "require('node:worker_threads').parentPort.postMessage(require('node:tls').getCACertificates('system'))"

async function readInThread(): Promise<void> {
  try {
    const [certificates] = await once(new Worker(READER, { eval: true, execArgv: [] }), 'message')
    stored = certificates
  } catch {
    stored = []
  }
}

/**
 * Whether a connection needs the system's authorities: it uses https, itself or to its proxy, and did not
 * turn them off.
 */
export function usesSystemAuthorities(
  baseUrl: string,
  { tls, proxy }: Pick<PlanConnection, 'tls' | 'proxy'>,
): boolean {
  const isEncrypted = [baseUrl, proxy?.url].some((url) => url?.startsWith('https:'))
  return isEncrypted && tls?.systemAuthorities !== false
}
