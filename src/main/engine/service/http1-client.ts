import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { ReceivedBytes } from './answer-body.ts'
import { AnswerReader, isLineEnds } from './answer-reader.ts'
import type { ConnectionReuse, TurnWaiter } from './connection-reuse.ts'
import {
  type Answer,
  AnswerError,
  CLIENT_CLOSED_CODE,
  CONNECTION_CLOSED_CODE,
  type Deadline,
  DeadlineTimer,
  type Exchange,
  ExchangeClock,
  isCertificateAlert,
  KEEP_ALIVE_MS,
  TIMEOUT_CODE,
  toCause,
  type WireClient,
  type WireRequest,
} from './exchange.ts'
import { RequestHead } from './http1-heads.ts'
import { toConnectTarget } from './proxy-tunnel.ts'
import type { TimedConnector } from './timed-connector.ts'

/** How long an idle connection stays open if the service does not say, milliseconds. */
const IDLE_MS = 4_000

/** How long before the service closes an idle connection we stop using it, milliseconds. */
const KEEP_ALIVE_MARGIN_MS = 2_000

/** The target of a connection and how to open it. */
export interface Http1ClientOptions {
  url: URL
  timeoutMs: number
  /** The memory for answers, shared with the other connections. */
  received: ReceivedBytes
  /** Shared with the other connections to the same origin. */
  reuse: ConnectionReuse
  /** Whether the connection may carry another request (default: yes). */
  keepsAlive?: boolean
  /** Whether answers keep all their headers (default: no). */
  keepsHeaders?: boolean
  /** Builds the connector; data read without a stream is passed to `onBytes`. */
  createConnector: (onBytes: (buffer: Buffer, size: number) => void) => TimedConnector
}

/**
 * Speaks HTTP/1.1 over one connection (RFC 9112): writes a request in one piece, reads its answer, times both
 * and enforces the timeout. A connection with any irregularity carries no other request. Why it is our own:
 * `docs/decisions/0012-http1-is-our-own.md`.
 */
export class Http1Client implements WireClient, Deadline, TurnWaiter {
  readonly #timeoutMs: number
  readonly #target: buildConnector.Options
  readonly #connector: TimedConnector
  readonly #timer = new DeadlineTimer()
  readonly #idleTimer = new DeadlineTimer()
  /** Closes a connection that has been idle long enough. */
  readonly #idleDeadline: Deadline = { onDeadline: () => this.#drop() }
  readonly #reader: AnswerReader
  readonly #head: RequestHead
  readonly #reuse: ConnectionReuse
  readonly #keepsAlive: boolean
  #socket: Socket | null = null
  /** The connection being opened; null if none is. */
  #opening: object | null = null
  /** Whether a request waits for its turn on a used connection. */
  #isWaiting = false
  /** Whether the request in flight waited for such a turn, and whether it used the old connection. */
  #hasWaited = false
  #isReused = false
  #isDestroyed = false
  /** Whether the idle connection keeps the process alive. */
  #isHeld = true
  #reusableUntilMs = 0
  /** When the connection delivered its first and its last answer. */
  #firstAnsweredMs: number | null = null
  #answeredMs = 0
  #clock = new ExchangeClock()
  /** Of the connection that the request in flight opened. */
  #phases: ReturnType<TimedConnector['takePhases']> = null
  #request: WireRequest | null = null
  #onEnd: ((exchange: Exchange) => void) | null = null

  constructor(options: Http1ClientOptions) {
    const { url, timeoutMs, received, reuse, keepsAlive = true, keepsHeaders, createConnector } = options
    this.#reader = new AnswerReader(received, keepsHeaders)
    this.#reuse = reuse
    this.#keepsAlive = keepsAlive
    this.#timeoutMs = timeoutMs
    this.#target = toConnectTarget(url)
    this.#head = new RequestHead(url.host, keepsAlive)
    this.#connector = createConnector((buffer, size) => this.#onBytes(buffer, size))
  }

  send(request: WireRequest, onEnd: (exchange: Exchange) => void): void {
    if (this.#onEnd !== null) throw new Error('this connection has a request in flight')
    const clock = new ExchangeClock()
    this.#clock = clock
    this.#request = request
    this.#onEnd = onEnd
    const cause = this.#isDestroyed ? CLOSED_HERE : this.#head.prepare(request)
    if (cause !== null) {
      this.#breakDownSoon(cause)
      return
    }
    this.#timer.start(this, clock.handedOverMs, this.#timeoutMs)
    if (this.#socket !== null && clock.handedOverMs > this.#reusableUntilMs) this.#drop()
    if (this.#socket === null) {
      this.#open()
      return
    }
    this.#isWaiting = true
    this.#hasWaited = true
    this.#reuse.wait(this, this.#answeredMs, clock.handedOverMs)
  }

  onTurn(): void {
    // It may have timed out, or the client may be closed.
    if (!this.#isWaiting) return
    this.#isWaiting = false
    // A request answered before it was sent entirely is still being sent: the next must not follow it.
    if (this.#reuse.isEnded(performance.now()) || (this.#socket !== null && this.#socket.writableLength > 0))
      this.#drop()
    const socket = this.#socket
    if (socket === null) {
      this.#open()
      return
    }
    this.#isReused = true
    this.#write(socket)
    this.#reuse.noteOpen((this.#clock.startMs ?? 0) - (this.#firstAnsweredMs ?? 0))
  }

  retire(): void {
    this.#drop()
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true
    this.#timer.destroy()
    this.#idleTimer.destroy()
    this.#connector.abort()
    const socket = this.#socket
    this.#opening = null
    this.#drop()
    this.#breakDown(CLOSED_HERE)
    if (socket !== null && !socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  }

  onDeadline(): void {
    // The next request opens a new connection, with its own time limit.
    if (this.#opening !== null) this.#connector.abort()
    this.#opening = null
    const waitedFor = this.#clock.startMs === null ? 'a connection' : 'the answer'
    this.#onFailed({ code: TIMEOUT_CODE, message: `gave up on ${waitedFor} after ${this.#timeoutMs} ms` })
  }

  #open(): void {
    const opening = {}
    this.#opening = opening
    try {
      this.#connector.connect(this.#target, (...[error, socket]) => {
        // Its request has timed out, or the client was closed.
        if (this.#opening !== opening) {
          socket?.destroy()
          return
        }
        this.#opening = null
        if (error !== null) {
          this.#breakDown(toCause(error))
          return
        }
        this.#phases = this.#connector.takePhases()
        this.#take(socket)
      })
    } catch (error) {
      // Like undici's client: a connection that cannot be opened ends a request, not its run.
      this.#opening = null
      this.#breakDownSoon(toCause(error))
    }
  }

  #take(socket: Socket): void {
    this.#socket = socket
    this.#isHeld = true
    this.#firstAnsweredMs = null
    // Events of an abandoned connection are ignored.
    const ifCurrent = (act: () => void): void => {
      if (this.#socket === socket) act()
    }
    socket.on('data', (bytes: Buffer) => ifCurrent(() => this.#onBytes(bytes, bytes.length)))
    socket.on('end', () => ifCurrent(() => this.#onEndOfAnswers()))
    socket.on('close', () => ifCurrent(() => this.#onBroken(CLOSED_THERE)))
    socket.on('error', (error: Error) => ifCurrent(() => this.#onBroken(toCause(error))))
    this.#write(socket)
  }

  #write(socket: Socket): void {
    const clock = this.#clock
    const body = this.#request?.body ?? ''
    if (!this.#isHeld) this.#hold(socket)
    const length = Buffer.byteLength(body)
    const traceparent = this.#request?.traceparent ?? null
    const head = this.#head.finish(this.#request?.body === null ? null : length, traceparent)
    const startMs = performance.now()
    clock.startMs = startMs
    // An answer may arrive before the write of its request returns.
    clock.bodySentMs = startMs
    clock.sentBytes = head.length + length
    // ASCII goes to the operating system without another copy.
    const isTaken =
      length === body.length ? socket.write(head + body, 'latin1') : socket.write(toBytes(head, body, length))
    if (!isTaken) {
      socket.once('drain', () => {
        clock.bodySentMs = performance.now()
      })
    }
  }

  /** Whether no request is on the wire: the connection is idle, or its next request waits for its turn. */
  get #isUnused(): boolean {
    return this.#onEnd === null || this.#isWaiting
  }

  /** When the previous answer came over the same connection; null for its first request. */
  get #previousMs(): number | null {
    return this.#isReused ? this.#answeredMs : null
  }

  #onBytes(bytes: Buffer, size: number): void {
    if (this.#isUnused) {
      // An unrequested answer; what follows on this connection could be taken for the answer to the next
      // request.
      if (isLineEnds(bytes, 0, size)) return
      this.#drop()
      // A service may announce that it closes an idle connection (RFC 9110 §15.5.9).
      if (bytes.toString('latin1', 0, Math.min(size, 12)) !== 'HTTP/1.1 408') this.#reuse.noteStray()
      return
    }
    this.#clock.firstByteMs ??= performance.now()
    this.#clock.receivedBytes += size
    let isWhole: boolean
    try {
      isWhole = this.#reader.read(bytes, size)
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error
      this.#onFailed(error)
      return
    }
    if (isWhole) this.#answer()
  }

  /** The service sends no more on this connection. */
  #onEndOfAnswers(): void {
    if (this.#isUnused || !this.#reader.close()) {
      this.#onBroken(CLOSED_THERE)
      return
    }
    this.#drop()
    this.#answer()
  }

  #onBroken(cause: { code: string; message: string }): void {
    if (this.#isUnused) {
      this.#drop()
      this.#reuse.noteIdleClosing(this.#answeredMs, performance.now())
      return
    }
    if (this.#clock.firstByteMs === null) {
      const nowMs = performance.now()
      this.#reuse.noteDeath(this.#clock.startMs ?? nowMs, this.#previousMs, nowMs)
    }
    this.#onFailed(cause)
  }

  #onFailed(cause: { code: string; message: string }): void {
    this.#drop()
    this.#breakDown(cause)
  }

  #answer(): void {
    const reader = this.#reader
    const { head } = reader
    const nowMs = performance.now()
    const timings = this.#clock.end(nowMs, this.#phases)
    this.#reuse.noteAnswer(this.#clock.startMs ?? nowMs, this.#previousMs)
    if (reader.hasSurplus) this.#reuse.noteStray()
    if (!this.#keepsAlive || !reader.keepsAlive || this.#reuse.isEnded(nowMs)) this.#drop()
    const hintMs = head?.keepAliveMs ?? null
    const idleMs = hintMs === null ? IDLE_MS : Math.min(KEEP_ALIVE_MS, hintMs - KEEP_ALIVE_MARGIN_MS)
    this.#reusableUntilMs = nowMs + idleMs
    this.#answeredMs = nowMs
    this.#firstAnsweredMs ??= nowMs
    const { body, charset, isDamaged, bodyProblem } = reader.decoded
    const answer: Answer = {
      kind: 'answer',
      status: head?.status ?? 0,
      contentType: head?.contentType ?? '',
      retryAfter: head?.retryAfter ?? null,
      location: head?.location ?? null,
      body,
      timings,
    }
    // Most answers have none of these, and copying nothing takes time, too.
    if (head?.retryAfter) answer.date = head.date
    if (reader.headers !== null) answer.headers = reader.headers
    if (charset !== undefined) answer.charset = charset
    if (isDamaged) answer.isDamaged = isDamaged
    if (bodyProblem !== undefined) answer.bodyProblem = bodyProblem
    this.#end(answer)
  }

  /** Ends the request just handed over, once `send` has returned and timers and sockets had their turn. */
  #breakDownSoon(cause: { code: string; message: string }): void {
    const clock = this.#clock
    setImmediate(() => {
      if (this.#clock === clock) this.#breakDown(cause)
    })
  }

  #breakDown({ code, message }: { code: string; message: string }): void {
    if (this.#onEnd === null) return
    this.#end({
      kind: 'breakdown',
      code,
      message,
      // In TLS 1.3 the service checks the client's certificate when the request is already on its way.
      sent: this.#clock.startMs !== null && !isCertificateAlert(code),
      status: this.#clock.startMs === null ? null : (this.#reader.head?.status ?? null),
      timings: this.#clock.end(performance.now(), this.#phases),
    })
  }

  #end(exchange: Exchange): void {
    const onEnd = this.#onEnd
    this.#timer.stop(this)
    this.#onEnd = null
    this.#request = null
    this.#phases = null
    this.#isWaiting = false
    this.#isReused = false
    if (this.#hasWaited) {
      this.#hasWaited = false
      this.#reuse.leave()
    }
    // A large answer must not stay in memory while its connection is idle.
    this.#reader.reset()
    onEnd?.(exchange)
    if (this.#onEnd === null && this.#socket !== null) this.#idle(this.#socket)
  }

  /** An idle connection does not keep the process alive, and is closed in time. */
  #idle(socket: Socket): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    socket.unref()
    const nowMs = performance.now()
    this.#idleTimer.start(this.#idleDeadline, nowMs, Math.max(0, this.#reusableUntilMs - nowMs))
  }

  #hold(socket: Socket): void {
    this.#isHeld = true
    socket.ref()
    this.#idleTimer.stop(this.#idleDeadline)
  }

  #drop(): void {
    this.#idleTimer.stop(this.#idleDeadline)
    this.#socket?.destroy()
    this.#socket = null
  }
}

const CLOSED_THERE = { code: CONNECTION_CLOSED_CODE, message: 'the service closed the connection' }

const CLOSED_HERE = {
  code: CLIENT_CLOSED_CODE,
  message: 'the connection was closed before the answer had come',
}

function toBytes(head: string, body: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + length)
  bytes.write(head, 0, 'latin1')
  bytes.write(body, head.length, 'utf8')
  return bytes
}
