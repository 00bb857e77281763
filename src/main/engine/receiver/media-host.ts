import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import mime from 'mime'
import type { MediaTarget } from './addresses.ts'
import { type MediaFile, openMediaFile, toFileHeaders, toMediaAnswer } from './media-file.ts'
import type { ReceiverLimits } from './receiver-limits.ts'

/** While others wait, a stalled download is ended after this share of its usual time. */
const WAITED_FOR_SHARE = 0.1

/** A file on its way. */
interface Sending {
  readonly response: ServerResponse
  /** When the client last took something, on the clock that only grows. */
  movedAtMs: number
}

/** Serves the files of folders that runs need, at addresses that only the service knows. */
export class MediaHost {
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
      // A client that went away, or a file that became unreadable on the way: nobody is left to answer.
      reply.raw.destroy()
    } finally {
      this.#sending.delete(sending)
    }
  }

  /** Ends the download that has stalled longest, if that is long enough; active downloads go on. */
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
    // Another piece is read only once the client has taken what came before.
    bytes.on('data', () => {
      sending.movedAtMs = performance.now()
    })
    await pipeline(bytes, response, { end: false })
    endComplete(response, bytes.bytesRead === lengthBytes)
  }
}

/** A file that has shrunk meanwhile breaks off, so that its rest is not awaited forever. */
function endComplete(response: ServerResponse, isComplete: boolean): void {
  if (isComplete) response.end()
  else response.destroy()
}
