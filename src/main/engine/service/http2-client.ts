import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { RETRY_AFTER_HEADER } from '../../../shared/service/endpoints.ts'
import { decodeBody, ReceivedBody, type ReceivedBytes } from './answer-body.ts'
import {
  AnswerError,
  CLIENT_CLOSED_CODE,
  CONNECTION_CLOSED_CODE,
  type Deadline,
  DeadlineTimer,
  type Exchange,
  ExchangeClock,
  MALFORMED_ANSWER_CODE,
  RESET_CODE,
  TIMEOUT_CODE,
  type WireClient,
  type WireRequest,
} from './exchange.ts'
import {
  type Cause,
  type ConnectPhases,
  type Http2Connection,
  type Http2Connections,
  nameHttp2Error,
  type StreamSeeker,
  toHttp2Cause,
} from './http2-connections.ts'
import { TRACE_HEADER } from './trace-context.ts'

/** Code of the error that Node makes of a reset by the service; its words name no more than the reset's. */
const STREAM_ERROR_CODE = 'ERR_HTTP2_STREAM_ERROR'

/** Code of a request that the service refused unprocessed each time it was sent (RFC 9113 §8.7). */
const REFUSED_STREAM_CODE = 'REFUSED_STREAM'

/** How often, at most, a request that the service refuses unprocessed is sent. */
const SENDS_MAX = 5

/** Most informational answers before the answer itself. */
const INFORMATIONAL_MAX = 100

/**
 * Speaks HTTP/2 (RFC 9113) on connections shared with others: one request at a time, each in its own stream.
 * An answer counts as complete only if the service ended its stream; a request that the service refused
 * unprocessed is resent, since nothing was done with it.
 */
export class Http2Client implements WireClient {
  readonly #connections: Http2Connections
  readonly #authority: string
  readonly #timeoutMs: number
  readonly #timer = new DeadlineTimer()
  readonly #body: ReceivedBody
  #current: Http2Exchange | null = null
  #isDestroyed = false

  constructor({
    url,
    timeoutMs,
    connections,
    received,
  }: {
    url: URL
    timeoutMs: number
    connections: Http2Connections
    /** The memory for answers, shared with other clients. */
    received: ReceivedBytes
  }) {
    this.#authority = url.host
    this.#timeoutMs = timeoutMs
    this.#connections = connections
    this.#body = new ReceivedBody(received)
    connections.join()
  }

  send(request: WireRequest, onEnd: (exchange: Exchange) => void): void {
    if (this.#current !== null) throw new Error('this client has a request in flight')
    const exchange = new Http2Exchange({
      request,
      body: this.#body,
      headers: toHttp2Headers(request, this.#authority),
      connections: this.#connections,
      timer: this.#timer,
      timeoutMs: this.#timeoutMs,
      onEnd: (ended) => {
        this.#current = null
        onEnd(ended)
      },
    })
    this.#current = exchange
    if (this.#isDestroyed) setImmediate(() => exchange.breakDown(CLOSED_HERE))
    else exchange.start()
  }

  /** Answers name their request's stream: a swap says nothing about the connection, which others share. */
  retire(): void {}

  async destroy(): Promise<void> {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#timer.destroy()
    this.#current?.breakDown(CLOSED_HERE)
    await this.#connections.leave()
  }
}

interface Http2ExchangeOptions {
  request: WireRequest
  /** Receives the answer's body; initially empty. */
  body: ReceivedBody
  headers: Record<string, string>
  connections: Http2Connections
  timer: DeadlineTimer
  timeoutMs: number
  onEnd: (exchange: Exchange) => void
}

class Http2Exchange implements Deadline, StreamSeeker {
  readonly #options: Http2ExchangeOptions
  readonly #clock = new ExchangeClock()
  #phases: ConnectPhases | null = null
  #stream: ClientHttp2Stream | null = null
  #headers: IncomingHttpHeaders | null = null
  #status: number | null = null
  #informational = 0
  #connection: Http2Connection | null = null
  #sends = 0
  /** Whether the service may have begun to act on it. */
  #mayBeTaken = false
  #hasEnded = false

  constructor(options: Http2ExchangeOptions) {
    this.#options = options
  }

  start(): void {
    const { request, timer, timeoutMs, connections } = this.#options
    timer.start(this, this.#clock.handedOverMs, timeoutMs)
    connections.seek(this)
    this.#clock.hasQueued = this.#connection === null && !this.#hasEnded && connections.isOpen
    if (this.#clock.hasQueued) request.onWait?.(true)
  }

  onDeadline(): void {
    const { timer, timeoutMs, connections } = this.#options
    // Requests under way end by themselves and make room: one that waits for it waits on.
    const { idleSinceMs } = connections
    if (!this.#mayBeTaken && idleSinceMs + timeoutMs > performance.now()) {
      timer.start(this, idleSinceMs, timeoutMs)
      return
    }
    const waitedFor = this.#mayBeTaken ? 'the answer' : 'a connection'
    const code = TIMEOUT_CODE
    const connection = this.#connection
    this.breakDown({ code, message: `gave up on ${waitedFor} after ${timeoutMs} ms` })
    connection?.checkAlive()
  }

  onNoConnection(cause: Cause): void {
    // Nothing ends within the call that started it.
    setImmediate(() => this.breakDown(cause))
  }

  onRoom(connection: Http2Connection, phases: ConnectPhases | null): void {
    this.#phases ??= phases
    this.#sends += 1
    this.#mayBeTaken = true
    this.#connection = connection
    const { request, timer, timeoutMs } = this.#options
    const { body } = request
    const nowMs = performance.now()
    timer.start(this, nowMs, timeoutMs)
    if (this.#clock.hasQueued && this.#clock.startMs === null) request.onWait?.(false)
    this.#clock.startMs ??= nowMs
    this.#clock.bodySentMs = nowMs
    let stream: ClientHttp2Stream
    try {
      stream = connection.session.request(this.#options.headers, { endStream: body === null })
    } catch {
      // The connection takes no more streams, although it seemed to.
      this.#mayBeTaken = false
      setImmediate(() => {
        connection.release()
        this.#sendAgain()
      })
      return
    }
    this.#stream = stream
    this.#listen(stream, connection)
    if (body === null) return
    this.#clock.sentBytes = Buffer.byteLength(body)
    stream.end(body)
  }

  #listen(stream: ClientHttp2Stream, connection: Http2Connection): void {
    let failure: Cause | null = null
    const isEnded = watchEnd(stream)
    const ifCurrent = (act: () => void): void => {
      if (this.#stream === stream) act()
    }
    stream.on('finish', () => {
      this.#clock.bodySentMs = performance.now()
    })
    stream.on('headers', () => ifCurrent(() => this.#onInformational()))
    stream.on('response', (headers) => ifCurrent(() => this.#onHeaders(headers)))
    stream.on('data', (chunk: Buffer) => ifCurrent(() => this.#onData(chunk)))
    stream.on('end', () =>
      ifCurrent(() => {
        if (isEnded()) this.#answer()
      }),
    )
    stream.on('error', (error) => {
      const cause = toHttp2Cause(error)
      if (cause.code !== STREAM_ERROR_CODE) failure = cause
    })
    stream.on('close', () => {
      const { id = 0, rstCode } = stream
      const isRefused =
        rstCode === constants.NGHTTP2_REFUSED_STREAM || id === 0 || id > connection.lastStreamId
      connection.release()
      ifCurrent(() => {
        if (isEnded() && this.#status !== null) this.#answer()
        else if (isRefused && this.#status === null) this.#sendAgain()
        else this.breakDown(connection.cause ?? failure ?? toEndCause(connection, rstCode))
      })
    })
  }

  #onInformational(): void {
    this.#informational += 1
    if (this.#informational <= INFORMATIONAL_MAX) return
    const message = `more than ${INFORMATIONAL_MAX} informational answers came before the answer`
    this.breakDown({ code: MALFORMED_ANSWER_CODE, message })
  }

  #onHeaders(headers: IncomingHttpHeaders): void {
    this.#clock.firstByteMs ??= performance.now()
    this.#status = Number(headers[':status'])
    this.#headers = headers
  }

  #onData(chunk: Buffer): void {
    this.#clock.receivedBytes += chunk.length
    try {
      this.#options.body.append(chunk)
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error
      this.breakDown(error)
    }
  }

  #sendAgain(): void {
    if (this.#hasEnded) return
    this.#stream = null
    this.#connection = null
    this.#mayBeTaken = false
    if (this.#sends < SENDS_MAX) this.#options.connections.seek(this)
    else {
      const message = `the service refused the request unprocessed ${SENDS_MAX} times`
      this.breakDown({ code: REFUSED_STREAM_CODE, message })
    }
  }

  #answer(): void {
    const headers = this.#headers ?? {}
    const timings = this.#clock.end(performance.now(), this.#phases)
    this.#end({
      kind: 'answer',
      status: this.#status ?? 0,
      contentType: headers['content-type'] ?? '',
      retryAfter: headers[RETRY_AFTER_HEADER] ?? null,
      ...(headers[RETRY_AFTER_HEADER] !== undefined && { date: headers.date ?? null }),
      location: headers.location ?? null,
      ...decodeBody(this.#options.body.view(), {
        contentEncoding: headers['content-encoding'] ?? '',
        contentType: headers['content-type'] ?? '',
      }),
      timings,
    })
  }

  /** Ends the request without a complete answer, unless it has ended. */
  breakDown({ code, message }: Cause): void {
    this.#end({
      kind: 'breakdown',
      code,
      message,
      sent: this.#mayBeTaken,
      status: this.#mayBeTaken ? this.#status : null,
      timings: this.#clock.end(performance.now(), this.#phases),
    })
  }

  #end(exchange: Exchange): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const stream = this.#stream
    this.#stream = null
    this.#connection = null
    this.#options.body.clear()
    this.#options.connections.giveUp(this)
    this.#options.timer.stop(this)
    // Cancels what is still under way, in either direction; the connection stays.
    if (stream !== null && !(stream.closed && stream.writableFinished)) stream.close(constants.NGHTTP2_CANCEL)
    this.#options.onEnd(exchange)
  }
}

/**
 * Tells whether the service ended the stream itself. A reset stream ends for its reader, too, even after half
 * an answer (RFC 9113 §8.1); Node marks such a stream as closed before it tells its reader of the end.
 */
function watchEnd(stream: ClientHttp2Stream): () => boolean {
  let isEnded = false
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !stream.closed) isEnded = true
    return push(chunk, encoding)
  }
  return () => isEnded
}

function toHttp2Headers(
  { method, target, headers, traceparent = null }: WireRequest,
  authority: string,
): Record<string, string> {
  const named: Record<string, string> = {
    ':method': method,
    ':path': target,
    ':scheme': 'https',
    ':authority': authority,
  }
  for (let i = 0; i < headers.length; i += 2) named[headers[i] ?? ''] = headers[i + 1] ?? ''
  if (traceparent !== null) named[TRACE_HEADER] = traceparent
  return named
}

const CLOSED_HERE: Cause = {
  code: CLIENT_CLOSED_CODE,
  message: 'the connection was closed before the answer had come',
}

/** Why a stream ended: Node ends those of a closed connection with CANCEL, too. */
function toEndCause({ session }: Http2Connection, rstCode: number): Cause {
  if (session.destroyed) {
    return {
      code: CONNECTION_CLOSED_CODE,
      message: 'the service closed the connection before the answer was whole',
    }
  }
  const name = nameHttp2Error(rstCode)
  // Node resets so what breaks the rules, and does not tell the two apart.
  const orElse = rstCode === constants.NGHTTP2_PROTOCOL_ERROR ? ', or its answer is not valid HTTP/2' : ''
  return { code: RESET_CODE + name, message: `the service reset the request with ${name}${orElse}` }
}
