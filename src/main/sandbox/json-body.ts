import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isJsonObject } from '../../shared/service/json-object.ts'
import { SandboxRefusal } from './sandbox-errors.ts'

/** A JSON body, as it came and as it reads. */
export interface ReceivedJson {
  text: string
  value: unknown
}

/** The JSON that {@link acceptJsonBodies} read, or null where the request had no body. */
export function toReceivedJson(body: unknown): ReceivedJson | null {
  return isJsonObject(body) && typeof body['text'] === 'string'
    ? { text: body['text'], value: body['value'] }
    : null
}

/**
 * Makes a server read JSON bodies of at most `limitBytes`. A larger body is read to its end and thrown away before it
 * is refused, so that a client which is still sending gets the answer instead of a broken connection.
 */
export function acceptJsonBodies(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    (
      _request: FastifyRequest,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => {
      let chunks: Buffer[] = []
      let sizeBytes = 0
      payload.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
        if (sizeBytes <= limitBytes) chunks.push(chunk)
        else chunks = []
      })
      payload.on('error', () => done(new SandboxRefusal('INVALID_JSON', 'the body ended early')))
      payload.on('end', () => {
        if (sizeBytes > limitBytes) {
          done(new SandboxRefusal('BODY_TOO_LARGE', `the body has more than ${limitBytes} bytes`))
          return
        }
        const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()
        try {
          done(null, { text, value: JSON.parse(text) } satisfies ReceivedJson)
        } catch {
          done(new SandboxRefusal('INVALID_JSON', 'the body is not valid JSON'))
        }
      })
    },
  )
}
