import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode, toThrown } from '../../../shared/messages/thrown.ts'
import { keepReceiverPort, readReceiverSettings } from './receiver-settings.ts'

export interface ListenAddress {
  host: string
  /** Only for this time (default: the workspace's own port). */
  port: number | undefined
}

/**
 * Ports that systems do not assign automatically: below the ranges for outgoing connections (from 32768 on),
 * where a port that was free last time may be in use now.
 */
const OWN_PORTS = { from: 20_000, to: 32_767 }

/** Most ports tried for a workspace that has none. Few of the twelve thousand are in use. */
const TRIES = 20

/** Most connections that wait to be accepted. */
const BACKLOG = 4_096

export interface Listening {
  app: FastifyInstance
  port: number
}

/**
 * Listens on the requested port, or on the workspace's own. A workspace without one keeps the first port it
 * listens on, chosen or requested; a port requested later is used only that time. `createApp` builds a server
 * for each try. Throws `RECEIVER_UNAVAILABLE`.
 */
export async function listen(
  workspace: string,
  { host, port }: ListenAddress,
  createApp: () => FastifyInstance,
): Promise<Listening> {
  const own = port ?? readReceiverSettings(workspace).port
  if (own === null) return listenOnFreePort(workspace, host, createApp)
  const failure = await tryListen(host, own, createApp)
  if ('app' in failure) return keepPort(workspace, failure)
  throw toUnavailable(failure.error, host, own, port === undefined)
}

async function listenOnFreePort(
  workspace: string,
  host: string,
  createApp: () => FastifyInstance,
): Promise<Listening> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(OWN_PORTS.from, OWN_PORTS.to + 1)
    const result = await tryListen(host, port, createApp)
    if ('app' in result) return keepPort(workspace, result)
    // Windows reserves ranges; their ports fail with EACCES.
    const isTaken = ['EADDRINUSE', 'EACCES'].includes(toSystemCode(result.error) ?? '')
    if (!isTaken || tries === TRIES) throw toUnavailable(result.error, host, port, false)
  }
}

/**
 * Stops listening if the port cannot be stored: an open server would keep the thread alive, and whoever
 * awaits its end waiting.
 */
async function keepPort(workspace: string, listening: Listening): Promise<Listening> {
  try {
    keepReceiverPort(workspace, listening.port)
    return listening
  } catch (error) {
    await listening.app.close()
    throw error
  }
}

async function tryListen(
  host: string,
  port: number,
  createApp: () => FastifyInstance,
): Promise<Listening | { error: unknown }> {
  const app = createApp()
  try {
    await app.listen({ host, port, backlog: BACKLOG })
    return { app, port }
  } catch (error) {
    await app.close()
    return { error }
  }
}

function toUnavailable(cause: unknown, host: string, port: number, isOwn: boolean): SluiceError {
  return new SluiceError({ id: 'receiver_cannot_listen', host, port, isOwn, ...toThrown(cause) }, { cause })
}

const LOOPBACK = '127.0.0.1'

export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/**
 * The address at which others reach a listener, without a trailing slash. If it listens on every address, the
 * first one by which other machines know this one, else loopback.
 */
export function toBaseUrl(
  host: string,
  port: number,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string {
  const reachable = isEveryAddress(host) ? findOwnAddress(host, interfaces) : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

function findOwnAddress(host: string, interfaces: ReturnType<typeof networkInterfaces>): string {
  const outward = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  const own = (family: string) => outward.find((one) => one.family === family)?.address
  // '::' also accepts IPv4, which more services can reach.
  return own('IPv4') ?? (host === '::' ? own('IPv6') : undefined) ?? LOOPBACK
}
