import PQueue from 'p-queue'
import type { Exchange } from '../service/exchange.ts'
import type { ServiceClient, ServiceRequest } from '../service/service-client.ts'

/** The next thing that a lane sends. */
export interface Job {
  request: ServiceRequest
  /** `client` has the connection used. */
  onEnd: (exchange: Exchange, client: ServiceClient) => void
  /** How long the lane then keeps its place without sending: the think time of a load. */
  restMs?: number
}

interface LanesOptions {
  concurrency: number
  /** Tests pass their own queue to see that it is the limit; otherwise a p-queue. */
  queue?: PQueue
  createClient: () => ServiceClient
  /** The next request; null if there is none now, and the lane ends. */
  take: () => Job | null
  /** Called if taking, sending or ending a job threw: the lane ends, with its job. */
  onError: (error: unknown) => void
}

/**
 * The requests in flight. Each lane is one task of a p-queue: it has one connection and sends one job after
 * another until none is left, so that the queue costs something per lane, not per request. Only the queue's
 * concurrency limits the number of lanes, and so of requests in flight; it can be changed at any time.
 */
export class Lanes {
  readonly #queue: PQueue
  readonly #options: LanesOptions
  /** Connections of ended lanes, the most recently used last, so that a slow pace uses few of them. */
  readonly #spare: ServiceClient[] = []
  /** Lanes resting after a job; calling one continues it. */
  readonly #resting = new Map<() => void, NodeJS.Timeout>()
  #inFlight = 0
  /** Lanes that have begun but not ended. */
  #running = 0
  #isOpen = false
  /** Whether a lane found no job since lanes were last woken. */
  #isOutOfJobs = false
  /** How often the concurrency was lowered: lanes that began earlier return their place to the queue. */
  #cuts = 0

  constructor(options: LanesOptions) {
    this.#options = options
    this.#queue = options.queue ?? new PQueue({ concurrency: options.concurrency })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Lanes that send or rest. */
  get busy(): number {
    return this.#inFlight + this.#resting.size
  }

  get concurrency(): number {
    return this.#queue.isPaused ? 0 : this.#queue.concurrency
  }

  /** Lets lanes take jobs, once they are woken. */
  open(): void {
    this.#isOpen = true
  }

  /** Stops lanes from taking jobs and ends resting ones; resolves once no request is in flight. */
  async close(): Promise<void> {
    this.#isOpen = false
    this.#queue.start()
    for (const [goOn, timer] of [...this.#resting]) {
      clearTimeout(timer)
      goOn()
    }
    await this.#queue.onIdle()
  }

  /**
   * Offers jobs to at most `jobs` more lanes that the queue has room for: busy lanes take jobs themselves
   * when theirs end, and queued lanes would find nothing left.
   */
  wake(jobs: number): void {
    this.#isOutOfJobs = false
    for (let i = 0; i < jobs && this.#isOpen && !this.#isOutOfJobs && this.#hasRoom; i += 1) this.#addLane()
  }

  /** A lane that has just ended no longer counts, although the queue learns of it a moment later. */
  get #hasRoom(): boolean {
    return this.#running + this.#queue.size < this.concurrency
  }

  /** Sets the number of requests in flight, 0 for none; surplus lanes end with their present job. */
  setConcurrency(concurrency: number): void {
    const added = concurrency - this.concurrency
    if (added < 0) this.#cuts += 1
    if (concurrency === 0) {
      this.#queue.pause()
      return
    }
    this.#queue.concurrency = concurrency
    this.#queue.start()
    this.wake(added)
  }

  /** Closes every connection. Call it after {@link close}. */
  async destroy(): Promise<void> {
    await Promise.all(this.#spare.splice(0).map((client) => client.destroy()))
  }

  #addLane(): void {
    this.#queue.add(() => this.#runLane()).catch((error: unknown) => this.#options.onError(error))
  }

  async #runLane(): Promise<void> {
    if (!this.#isOpen) return
    const client = this.#spare.pop() ?? this.#options.createClient()
    this.#running += 1
    const cuts = this.#cuts
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = (): void => {
      this.#running -= 1
      this.#spare.push(client)
      resolve()
    }
    const goOn = (): void => {
      const isCut = cuts !== this.#cuts
      if (isCut) this.#addLane()
      const job = isCut ? null : this.#take()
      if (job === null) {
        end()
        return
      }
      // Nothing here may keep the request, whose body may be large, while it is in flight.
      const { request, onEnd, restMs = 0 } = job
      client.send(request, (exchange) => {
        this.#inFlight -= 1
        this.#guard(() => onEnd(exchange, client), restMs === 0 ? step : () => this.#rest(restMs, step), end)
      })
      this.#inFlight += 1
    }
    const step = (): void => this.#guard(goOn, null, end)
    step()
    await promise
  }

  #take(): Job | null {
    if (!this.#isOpen) return null
    const job = this.#options.take()
    this.#isOutOfJobs = job === null
    return job
  }

  #rest(restMs: number, step: () => void): void {
    const goOn = (): void => {
      this.#resting.delete(goOn)
      step()
    }
    this.#resting.set(goOn, setTimeout(goOn, restMs).unref())
  }

  /** An HTTP client or timer that calls a lane back would swallow an exception or die of it. */
  #guard(act: () => void, then: (() => void) | null, end: () => void): void {
    try {
      act()
    } catch (error) {
      end()
      this.#options.onError(error)
      return
    }
    then?.()
  }
}
