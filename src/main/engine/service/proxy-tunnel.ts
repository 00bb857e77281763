import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { ProxyRoute } from './transport.ts'

/** Code of a try that did not get past its proxy: there is none, or it did not answer. */
export const PROXY_UNREACHABLE_CODE = 'PROXY_UNREACHABLE'

/** Code of a try that the proxy refused because credentials are missing or wrong (407). */
export const PROXY_CREDENTIALS_CODE = 'PROXY_CREDENTIALS'

/** Code of a try whose target the proxy would not or could not reach. */
export const PROXY_REFUSED_CODE = 'PROXY_REFUSED'

/** A try that ended at the proxy; nothing of the request was sent. The message contains no credentials. */
export class ProxyError extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProxyError'
    this.code = code
  }
}

/** The error for a 407, whether to a tunnel or to a request. */
export function toCredentialsError({ url, authorization }: ProxyRoute): ProxyError {
  const message =
    authorization === null
      ? `the proxy ${url.host} asks for credentials (407); name the environment variable that holds them (--proxy-credentials-env NAME)`
      : `the proxy ${url.host} refused its credentials (407); check the environment variable that holds them`
  return new ProxyError(PROXY_CREDENTIALS_CODE, message)
}

/** The target of a connection to a URL, for undici's connectors. */
export function toConnectTarget({ protocol, host, hostname, port }: URL): buildConnector.Options {
  return { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port }
}

/** The target of a connection to a proxy itself, for undici's connectors. */
export function toProxyTarget({ url }: ProxyRoute): buildConnector.Options {
  const target = toConnectTarget(url)
  return { ...target, port: target.port || (url.protocol === 'https:' ? '443' : '80') }
}

export function toUnreachableError({ url }: ProxyRoute, error: Error): ProxyError {
  const code = toSystemCode(error) ?? error.name
  const message = `the proxy ${url.host} cannot be reached (${code}); check its address and the network`
  return new ProxyError(PROXY_UNREACHABLE_CODE, message, error)
}

/**
 * Asks a proxy for a tunnel to `authority`, host and port (RFC 9110 §9.3.6). `onEnd` is called once, with the
 * socket to the target. Returns the request, to be destroyed if nobody awaits it any more.
 */
export function openTunnel(
  options: {
    proxy: ProxyRoute
    authority: string
    userAgent: string
    timeoutMs: number
    connect: buildConnector.connector
  },
  onEnd: (result: Socket | ProxyError) => void,
): ClientRequest {
  const { proxy, authority } = options
  let isOver = false
  const end = (result: Socket | ProxyError): void => {
    if (isOver) {
      if (!(result instanceof ProxyError)) result.destroy()
      return
    }
    isOver = true
    clearTimeout(timer)
    onEnd(result)
  }
  // Importing node:http would also load all of fetch, in every thread that might need a tunnel.
  const connecting = process.getBuiltinModule('node:http').request({
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: {
      host: authority,
      connection: 'keep-alive',
      'user-agent': options.userAgent,
      ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }),
    },
    createConnection: (_, onSocket) => {
      options.connect(toProxyTarget(proxy), (error, socket) => {
        if (error === null) onSocket(null, socket)
        else onSocket(error, undefined as never)
      })
      return undefined
    },
  })
  const timer = setTimeout(() => {
    const message = `the proxy ${proxy.url.host} gave no tunnel to ${authority} in ${options.timeoutMs} ms`
    end(new ProxyError(PROXY_UNREACHABLE_CODE, message))
    connecting.destroy()
  }, options.timeoutMs)
  connecting.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head)
      end(socket)
      return
    }
    socket.destroy()
    end(statusCode === 407 ? toCredentialsError(proxy) : toRefusedError(proxy, authority, statusCode))
  })
  connecting.on('error', (error) => end(toUnreachableError(proxy, error)))
  connecting.end()
  return connecting
}

function toRefusedError({ url }: ProxyRoute, authority: string, status: number): ProxyError {
  const message = `the proxy ${url.host} gave no tunnel to ${authority}, it answered ${status}; check that it may reach that host and port`
  return new ProxyError(PROXY_REFUSED_CODE, message)
}
