import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import mime from 'mime'
import type { LastRefusal, Refusal } from '../../../shared/run/callback-overview.ts'
import { ACCEPTED_CODINGS } from '../service/content-codings.ts'
import { type MediaTarget, parseCallbackPath, parseMediaPath } from './addresses.ts'
import { CallbackIntake, type IntakeOutcome, type StoreCallback } from './callback-intake.ts'
import { type MediaFile, openMediaFile, toFileHeaders, toMediaAnswer } from './media-file.ts'
import type { ReceiverLimits } from './receiver-limits.ts'

export interface ReceiverServerParts {
  /** The workspace's secret, 32 bytes in hex. */
  secret: string
  limits: ReceiverLimits
  store: StoreCallback
  countRefusal(refusal: Refusal, last: LastRefusal): void
  /** Called for a HEAD or GET of a callback's address. */
  countProbe(): void
  /** The real path of the folder served for a run's token; null if there is none. */
  findFolder(runToken: string): Promise<string | null>
  /** Unix microseconds. */
  nowUs(): number
}

/** Connections may be idle this long between requests; longer than slow clients wait. */
const KEEP_ALIVE_MS = 72_000

/** Node's code for a head or a body that came too slowly. */
const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

/** The answer to each outcome. A broken request has nobody left to answer. */
const ANSWERS: Record<
  Exclude<IntakeOutcome, 'broken'>,
  { status: number; says: string; headers?: Readonly<Record<string, string>> }
> = {
  stored: { status: 200, says: 'received' },
  malformed: { status: 400, says: 'the body is neither a JSON object nor a list of them' },
  oversized: { status: 413, says: 'the body is too large' },
  unknown_coding: {
    status: 415,
    says: 'the content coding is not supported',
    headers: { 'accept-encoding': ACCEPTED_CODINGS },
  },
  overloaded: { status: 503, says: 'too many callbacks at once', headers: { 'retry-after': '1' } },
  unstored: {
    status: 503,
    says: 'the callback cannot be stored at present',
    headers: { 'retry-after': '10' },
  },
}

/**
 * Builds the server for callbacks and media files. It logs nothing, since bodies are evidence and addresses
 * are secrets. Any unknown address is answered 404, so that guessing reveals nothing.
 */
export function createReceiverServer(parts: ReceiverServerParts): FastifyInstance {
  const { secret, limits } = parts
  const countRefusal = (refusal: Refusal, request?: IncomingMessage): void => {
    const announced = Number(request?.headers['content-length'] ?? Number.NaN)
    const sizeBytes = Number.isSafeInteger(announced) ? announced : null
    parts.countRefusal(refusal, { atMs: Math.round(parts.nowUs() / 1000), sizeBytes })
  }
  const intake = new CallbackIntake(parts.store, limits, parts.nowUs)
  const media = new MediaHost(parts.findFolder, limits)
  const failed = new WeakMap<Socket, string>()

  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      headersTimeout: Math.min(limits.headTimeoutMs, limits.requestTimeoutMs),
      connectionsCheckingInterval: limits.checkEveryMs,
    },
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (_error, _request, reply) => refuse(reply),
    clientErrorHandler: (error, socket) => {
      // Later errors of a connection follow from its first one.
      if (failed.has(socket)) return
      failed.set(socket, error.code ?? '')
      if (error.code === TIMED_OUT) {
        // A connection that never sent a byte is not a request.
        if (socket.bytesRead > 0) countRefusal('slow')
        endSocket(socket, '408 Request Timeout')
      } else if (error.code?.startsWith('HPE_')) {
        countRefusal('bad_request')
        endSocket(socket, '400 Bad Request')
      } else socket.destroy()
    },
  })
  app.server.maxConnections = limits.maxConnections
  app.server.on('drop', () => countRefusal('overloaded'))
  // For example, no file handle is left for another connection; open connections continue.
  app.server.on('error', () => {})

  const refuse = (reply: FastifyReply): void => {
    countRefusal('forged', reply.request.raw)
    reply.code(404).send({ error: 'there is no such address' })
  }
  const refuseMethod = (reply: FastifyReply, allow: string): void => {
    countRefusal('wrong_method', reply.request.raw)
    reply
      .code(405)
      .header('allow', allow)
      .send({ error: `only ${allow} is answered here` })
  }
  const refuseOther = (request: FastifyRequest, reply: FastifyReply): void => {
    if (parseCallbackPath(secret, request.url) !== null) refuseMethod(reply, 'GET, HEAD, POST')
    else if (parseMediaPath(secret, request.url) !== null) refuseMethod(reply, 'GET, HEAD')
    else refuse(reply)
  }

  // Only the intake reads a callback, whatever its content type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.addHook('onRequest', (request, _reply, done) => {
    delete request.raw.headers['content-type']
    done()
  })
  app.get('/health', (_request, reply) => {
    reply.header('cache-control', 'no-store').send({ status: 'ok' })
  })
  app.post('*', (request, reply) => {
    const target = parseCallbackPath(secret, request.url)
    if (target === null) {
      refuseOther(request, reply)
      return
    }
    const { socket } = request.raw
    intake.take(target, request.raw, (outcome) => {
      if (outcome === 'broken') {
        if (failed.get(socket) !== TIMED_OUT) countRefusal('broken', request.raw)
        return
      }
      const { status, says, headers = {} } = ANSWERS[outcome]
      if (outcome !== 'stored') countRefusal(outcome, request.raw)
      reply
        .code(status)
        .headers(headers)
        .send(status === 200 ? { status: says } : { error: says })
    })
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '*',
    handler: (request, reply) => {
      const target = parseMediaPath(secret, request.url)
      if (target !== null) void media.answer(target, request, reply)
      else if (parseCallbackPath(secret, request.url) === null) refuse(reply)
      else {
        // Some services check an address that way before they post to it.
        parts.countProbe()
        reply.header('cache-control', 'no-store').send({ status: 'callbacks are posted here' })
      }
    },
  })
  app.setNotFoundHandler(refuseOther)
  app.setErrorHandler((_error, _request, reply) => {
    countRefusal('bad_request')
    reply.code(400).send({ error: 'the request cannot be read' })
  })
  return app
}

function endSocket(socket: Socket, status: string): void {
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.destroySoon()
}

/** While others wait, a stalled download ends after this share of its usual time. */
const WAITED_FOR_SHARE = 0.1

interface Sending {
  readonly response: ServerResponse
  /** When the client last read something, on the monotonic clock. */
  movedAtMs: number
}

/** Serves files of folders that runs need, at addresses that only the service knows. */
class MediaHost {
  readonly #findFolder: (runToken: string) => Promise<string | null>
  readonly #limits: ReceiverLimits
  readonly #sending = new Set<Sending>()

  constructor(findFolder: (runToken: string) => Promise<string | null>, limits: ReceiverLimits) {
    this.#findFolder = findFolder
    this.#limits = limits
  }

  /** Answers a request for a file. Never rejects. */
  async answer(target: MediaTarget, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.#sending.size >= this.#limits.maxMediaFiles && !this.#dropStalled()) {
      reply.code(503).header('retry-after', 1).send({ error: 'too many files at once' })
      return
    }
    const sending: Sending = { response: reply.raw, movedAtMs: performance.now() }
    this.#sending.add(sending)
    try {
      const folder = await this.#findFolder(target.runToken)
      const file = folder === null ? null : await openMediaFile(folder, target.path)
      if (file === null) {
        reply.code(404).send({ error: 'the file does not exist or is no longer served' })
        return
      }
      await this.#send(file, target.path, request, reply, sending)
    } catch {
      // The client left, or the file became unreadable: nobody is left to answer.
      reply.raw.destroy()
    } finally {
      this.#sending.delete(sending)
    }
  }

  /** Ends the longest stalled download, if it has stalled long enough; active ones continue. */
  #dropStalled(): boolean {
    const [stalest] = [...this.#sending].toSorted((a, b) => a.movedAtMs - b.movedAtMs)
    const stalledMs = stalest === undefined ? 0 : performance.now() - stalest.movedAtMs
    if (stalest === undefined || stalledMs < this.#limits.mediaStallMs * WAITED_FOR_SHARE) return false
    stalest.response.destroy()
    this.#sending.delete(stalest)
    return true
  }

  async #send(
    file: MediaFile,
    path: string,
    request: FastifyRequest,
    reply: FastifyReply,
    sending: Sending,
  ): Promise<void> {
    await using handle = file.handle
    const { headers } = request
    const answer = toMediaAnswer(file, {
      isHead: request.method === 'HEAD',
      range: headers.range,
      ifRange: headers['if-range']?.toString(),
      ifNoneMatch: headers['if-none-match'],
      ifModifiedSince: headers['if-modified-since'],
    })
    reply.hijack()
    const response = reply.raw
    for (const [name, value] of Object.entries(toFileHeaders(file))) response.setHeader(name, value)
    if (answer.status === 304 || answer.status === 416) {
      if (answer.status === 416) {
        response.setHeader('content-range', `bytes */${file.sizeBytes}`).setHeader('content-length', 0)
      }
      response.writeHead(answer.status).end()
      return
    }
    const { firstByte, lastByte } = answer
    const lengthBytes = lastByte - firstByte + 1
    response.setHeader('content-type', mime.getType(path) ?? 'application/octet-stream')
    response.setHeader('content-length', lengthBytes)
    if (answer.status === 206) {
      response.setHeader('content-range', `bytes ${firstByte}-${lastByte}/${file.sizeBytes}`)
    }
    response.writeHead(answer.status)
    if (request.method === 'HEAD' || lengthBytes === 0) {
      response.end()
      return
    }
    response.setTimeout(this.#limits.mediaStallMs, () => response.destroy())
    const bytes = handle.createReadStream({ start: firstByte, end: lastByte, autoClose: false })
    // The next piece is read only once the client has taken the one before.
    bytes.on('data', () => {
      sending.movedAtMs = performance.now()
    })
    await pipeline(bytes, response, { end: false })
    endComplete(response, bytes.bytesRead === lengthBytes)
  }
}

/** Breaks off if the file has shrunk, so that its rest is not awaited forever. */
function endComplete(response: ServerResponse, isComplete: boolean): void {
  if (isComplete) response.end()
  else response.destroy()
}
