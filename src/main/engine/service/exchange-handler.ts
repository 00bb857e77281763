import type { Dispatcher } from 'undici'
import { RETRY_AFTER_HEADER } from '../../../shared/service/endpoints.ts'
import type { Deadline, DeadlineTimer } from './deadline-timer.ts'
import {
  ANSWER_MAX_BYTES,
  ANSWER_TOO_LARGE_CODE,
  type Exchange,
  type ExchangeTimings,
  TIMEOUT_CODE,
} from './exchange.ts'
import { ExchangeClock } from './exchange-clock.ts'
import type { TimedConnector } from './timed-connector.ts'
import { isCertificateAlert } from './tls-alert.ts'
import { toCause } from './wire-client.ts'

/**
 * An undici handler for one request over HTTP/2: times its phases, reads its answer, enforces the time-out, and calls `onEnd`
 * exactly once.
 */
export function createExchangeHandler(options: {
  timeoutMs: number
  /** The connection's own. */
  timer: DeadlineTimer
  connector: Pick<TimedConnector, 'takePhases'>
  onEnd: (exchange: Exchange) => void
}): Dispatcher.DispatchHandler {
  return new ExchangeHandler(options.timeoutMs, options.timer, options.connector, options.onEnd)
}

class ExchangeHandler implements Dispatcher.DispatchHandler, Deadline {
  readonly #connector: Pick<TimedConnector, 'takePhases'>
  readonly #onEnd: (exchange: Exchange) => void
  readonly #clock = new ExchangeClock()
  readonly #timeoutMs: number
  readonly #timer: DeadlineTimer
  #controller: Dispatcher.DispatchController | null = null
  #status: number | null = null
  #headers: Record<string, string | string[] | undefined> = {}
  #chunks: Buffer[] = []
  #sizeBytes = 0
  #givenUp: { code: string; message: string } | null = null
  #ended = false

  constructor(
    timeoutMs: number,
    timer: DeadlineTimer,
    connector: Pick<TimedConnector, 'takePhases'>,
    onEnd: (exchange: Exchange) => void,
  ) {
    this.#timeoutMs = timeoutMs
    this.#timer = timer
    this.#connector = connector
    this.#onEnd = onEnd
    timer.start(this, this.#clock.handedOverMs, timeoutMs)
  }

  onDeadline(): void {
    const waitedFor = this.#clock.startMs === null ? 'a connection' : 'the answer'
    this.#giveUp(TIMEOUT_CODE, `gave up on ${waitedFor} after ${this.#timeoutMs} ms`)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that waited for its connection past the time-out must not go out any more.
    if (this.#ended) {
      controller.abort(new Error('timed out before it was sent'))
      return
    }
    this.#controller = controller
    this.#clock.startMs = performance.now()
    this.#clock.bodySentMs = this.#clock.startMs
  }

  onRequestSent(): void {
    this.#clock.bodySentMs = performance.now()
  }

  onResponseStarted(): void {
    this.#clock.firstByteMs ??= performance.now()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational answers come before the real one.
    if (status < 200) return
    this.#clock.firstByteMs ??= performance.now()
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#sizeBytes += chunk.length
    if (this.#sizeBytes > ANSWER_MAX_BYTES) {
      this.#giveUp(ANSWER_TOO_LARGE_CODE, `the answer is larger than ${ANSWER_MAX_BYTES} bytes`)
      return
    }
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const [only] = this.#chunks
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks)
    this.#end({
      kind: 'answer',
      status: this.#status ?? 0,
      contentType: this.#header('content-type') ?? '',
      retryAfter: this.#header(RETRY_AFTER_HEADER),
      location: this.#header('location'),
      body: body.toString('utf8'),
      timings: this.#timings(),
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const cause = this.#givenUp ?? toCause(error)
    // What cannot be dispatched at all fails within `dispatch` itself, before `send` has returned.
    if (this.#controller === null) queueMicrotask(() => this.#breakDown(cause))
    else this.#breakDown(cause)
  }

  #giveUp(code: string, message: string): void {
    if (this.#controller === null) {
      this.#breakDown({ code, message })
      return
    }
    this.#givenUp ??= { code, message }
    this.#controller.abort(new Error(message))
  }

  #breakDown({ code, message }: { code: string; message: string }): void {
    this.#end({
      kind: 'breakdown',
      code,
      message,
      // In TLS 1.3 the service looks at the client's certificate when the request is already on its way.
      sent: this.#clock.startMs !== null && !isCertificateAlert(code),
      status: this.#status,
      timings: this.#timings(),
    })
  }

  #end(exchange: Exchange): void {
    if (this.#ended) return
    this.#ended = true
    this.#timer.stop(this)
    this.#chunks = []
    this.#onEnd(exchange)
  }

  #timings(): ExchangeTimings {
    return this.#clock.end(performance.now(), this.#connector.takePhases())
  }

  #header(name: string): string | null {
    const value = this.#headers[name]
    return (Array.isArray(value) ? value[0] : value) ?? null
  }
}
