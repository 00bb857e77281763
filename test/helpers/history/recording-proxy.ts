import { createServer, type IncomingMessage, request as requestPlain, type ServerResponse } from 'node:http'
import { request as requestTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Redactor } from '../../../src/main/engine/secrets/redactor.ts'
import { type Arrival, type Recording, readClockUs, toArrival } from './recording.ts'

/** A proxy in front of a service, which records all traffic. */
export interface RecordingProxy {
  baseUrl: string
  close(): Promise<void>
}

/**
 * Starts a proxy to the service at `to`; on a free port by default. It sees answers but not what the service
 * did, so it takes 2xx as accepted, 4xx as not accepted, and decides nothing for others. Keys are not
 * recorded.
 */
export async function startRecordingProxy(options: {
  to: string
  recording: Recording
  port?: number
}): Promise<RecordingProxy> {
  const { to, recording, port = 0 } = options
  const redactor = new Redactor()

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    const atUs = readClockUs()
    const path = request.url ?? '/'
    const key = request.headers.authorization?.replace(/^\S+ /, '')
    if (key !== undefined) redactor.add(key)
    const note = (status: number | null, answer: string | null): void => {
      const told = answer === null ? null : redactor.redact(answer)
      recording.note(toArrival({ path, body }, { atUs, status, took: toTook(status), answer: told }))
    }
    try {
      const answer = await forward(to, request, path, body)
      response.writeHead(answer.statusCode ?? 502, toPassed(answer.rawHeaders))
      const whole = await copyBody(answer, response)
      note(answer.statusCode ?? null, answer.headers['content-encoding'] === undefined ? whole : null)
      if (whole === null) response.destroy()
      else response.end()
    } catch {
      note(null, null)
      response.destroy()
    }
  }

  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function toTook(status: number | null): Arrival['took'] {
  if (status === null) return null
  if (status >= 200 && status < 300) return true
  return status >= 400 && status < 500 ? false : null
}

/** Headers of a connection, and those that would make an answer unreadable here. */
const OWN_HEADERS = /^(connection|keep-alive|transfer-encoding|host|accept-encoding|content-length)$/i

function toPassed(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !OWN_HEADERS.test(rawHeaders[index - (index % 2)] ?? ''))
}

function forward(to: string, request: IncomingMessage, path: string, body: string): Promise<IncomingMessage> {
  const base = new URL(to)
  const send = base.protocol === 'https:' ? requestTls : requestPlain
  const headers = [...toPassed(request.rawHeaders), 'host', base.host]
  return new Promise((resolve, reject) => {
    const sent = send(
      {
        hostname: base.hostname,
        port: base.port,
        path: base.pathname.replace(/\/$/, '') + path,
        method: request.method,
        headers: body === '' ? headers : [...headers, 'content-length', String(Buffer.byteLength(body))],
      },
      resolve,
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Passes a body on as it arrives; resolves with its text, null if it was cut. */
async function copyBody(answer: IncomingMessage, response: ServerResponse): Promise<string | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer)
      response.write(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    return null
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
