import { Client } from 'undici'
import type { Exchange } from '../../src/main/engine/service/exchange.ts'
import type { ServiceClient, ServiceRequest } from '../../src/main/engine/service/service-client.ts'

/**
 * undici's own client as a lane would use it, with its cheapest interface: one connection, one request at a
 * time, the answer's body as text, and the times that its handler can provide.
 */
export function createUndiciClient(baseUrl: string, apiKey: string): ServiceClient {
  const client = new Client(baseUrl, { pipelining: 1, allowH2: false })
  return {
    send: (request, onEnd) => void client.dispatch(toDispatch(request, apiKey), createHandler(onEnd)),
    retire: () => {},
    destroy: () => client.destroy(),
  }
}

function toDispatch({ method, path, body }: ServiceRequest, apiKey: string) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Token ${apiKey}`,
    'user-agent': 'sluice',
    'accept-encoding': 'identity',
  }
  return { method, path, body, headers }
}

function createHandler(onEnd: (exchange: Exchange) => void): NonNullable<Parameters<Client['dispatch']>[1]> {
  const chunks: Buffer[] = []
  let sentAtMs = performance.now()
  let answeredAtMs = 0
  let status = 0
  let contentType = ''
  return {
    // undici rejects a handler without it.
    onRequestStart() {},
    onRequestSent() {
      sentAtMs = performance.now()
    },
    onResponseStart(_, statusCode, headers) {
      answeredAtMs = performance.now()
      status = statusCode
      contentType = String(headers['content-type'] ?? '')
    },
    onResponseData(_, chunk) {
      chunks.push(chunk)
    },
    onResponseEnd() {
      onEnd({
        kind: 'answer',
        status,
        contentType,
        retryAfter: null,
        location: null,
        body: chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString(),
        timings: {
          sentAtUs: Math.round((performance.timeOrigin + sentAtMs) * 1000),
          durationUs: Math.round((performance.now() - sentAtMs) * 1000),
          waitingUs: Math.round((answeredAtMs - sentAtMs) * 1000),
          connectUs: null,
          tlsUs: null,
        },
      })
    },
    onResponseError(_, error) {
      throw error
    },
  }
}
