import { buildConnector } from 'undici'

/** Longest wait for a connection, in milliseconds; shorter where the connection's own time-out is. */
const CONNECT_TIMEOUT_MS = 10_000

/** A connector that tells how long its last connection took. */
export interface TimedConnector {
  connect: buildConnector.connector
  /** Takes the phases of a connection opened since the last call, microseconds; null where none was. */
  takePhases(): { connectUs: number; tlsUs: number | null } | null
}

/** Builds undici's connector for HTTP/1.1 and times TCP connect and TLS handshake apart. */
export function createTimedConnector(options: { timeoutMs: number }): TimedConnector {
  const build = buildConnector({
    allowH2: false,
    timeout: Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS),
  })
  let phases: { connectUs: number; tlsUs: number | null } | null = null
  return {
    connect(target, callback) {
      const startMs = performance.now()
      let connectedMs: number | null = null
      const socket = build(target, (...result) => {
        const endMs = performance.now()
        if (result[0] === null) {
          const tcpEndMs = target.protocol === 'https:' ? (connectedMs ?? endMs) : endMs
          phases = {
            connectUs: toUs(tcpEndMs - startMs),
            tlsUs: target.protocol === 'https:' ? toUs(endMs - tcpEndMs) : null,
          }
        }
        callback(...result)
      }) as unknown
      // undici's types hide that its connector returns the socket; without it only the TLS phase is not told apart.
      if (target.protocol === 'https:' && isSocketLike(socket)) {
        socket.once('connect', () => {
          connectedMs = performance.now()
        })
      }
    },
    takePhases() {
      const taken = phases
      phases = null
      return taken
    },
  }
}

function isSocketLike(value: unknown): value is { once(event: string, listener: () => void): void } {
  return typeof value === 'object' && value !== null && 'once' in value && typeof value.once === 'function'
}

function toUs(ms: number): number {
  return Math.max(0, Math.round(ms * 1000))
}
