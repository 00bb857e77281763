import PQueue from 'p-queue'
import type { Exchange } from '../service/exchange.ts'
import type { ServiceClient, ServiceRequest } from '../service/service-client.ts'

/** What a lane sends next. */
export interface Job {
  request: ServiceRequest
  onEnd: (exchange: Exchange) => void
}

/** What lanes are made of. */
interface LanesOptions {
  concurrency: number
  createClient: () => ServiceClient
  /** The next request; null where there is none at the moment, and the lane waits to be woken. */
  take: () => Job | null
  /** Taking, sending or ending a job threw: the lane ends, and its job with it. */
  onError: (error: unknown) => void
}

/**
 * The requests in flight. Each lane is one task of a p-queue: it owns one connection and takes one job after the
 * other, so the queue's cost is paid once a lane instead of once a request. The queue's concurrency is the number of
 * requests in flight, and can be changed at any time.
 */
export class Lanes {
  readonly #queue: PQueue
  readonly #options: LanesOptions
  /** Connections of lanes that ended, the most recently used last. */
  readonly #spare: ServiceClient[] = []
  /** Lanes without a job, the most recently used last, so that few connections carry a slow pace. */
  readonly #waiting: (() => void)[] = []
  #lanes = 0
  #inFlight = 0
  #open = false

  constructor(options: LanesOptions) {
    this.#options = options
    this.#queue = new PQueue({ concurrency: options.concurrency })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get concurrency(): number {
    return this.#queue.concurrency
  }

  /** Lets lanes take jobs, once they are woken. */
  open(): void {
    this.#open = true
  }

  /** Lets lanes take no more jobs; resolves when the last one in flight has ended. */
  async close(): Promise<void> {
    this.#open = false
    for (const step of this.#waiting.splice(0)) step()
    await this.#queue.onIdle()
  }

  /** Offers jobs to at most `jobs` waiting lanes, and to new ones where too few wait. */
  wake(jobs: number): void {
    for (let i = 0; i < jobs && this.#open; i += 1) {
      const step = this.#waiting.pop()
      if (step !== undefined) step()
      else if (this.#lanes < this.#queue.concurrency) this.#addLane()
      else return
    }
  }

  /** Changes the number of requests in flight; lanes above it end with the job they have. */
  setConcurrency(concurrency: number): void {
    const added = concurrency - this.#queue.concurrency
    this.#queue.concurrency = concurrency
    if (added > 0) this.wake(added)
    else for (const step of this.#waiting.splice(0, -added)) step()
  }

  /** Closes every connection. Call it after {@link close}. */
  async destroy(): Promise<void> {
    await Promise.all(this.#spare.splice(0).map((client) => client.destroy()))
  }

  #addLane(): void {
    this.#lanes += 1
    this.#queue
      .add(() => this.#runLane())
      .catch((error: unknown) => {
        this.#lanes -= 1
        this.#options.onError(error)
      })
  }

  async #runLane(): Promise<void> {
    const client = this.#spare.pop() ?? this.#options.createClient()
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = (): void => {
      this.#lanes -= 1
      resolve()
    }
    const goOn = (): void => {
      if (!this.#open || this.#lanes > this.#queue.concurrency) {
        end()
        return
      }
      const job = this.#options.take()
      if (job === null) {
        this.#waiting.push(step)
        return
      }
      // Nothing here may hold on to the request, whose body may be large, while it is in flight.
      const { request, onEnd } = job
      client.send(request, (exchange) => {
        this.#inFlight -= 1
        this.#guard(() => onEnd(exchange), step, end)
      })
      this.#inFlight += 1
    }
    const step = (): void => this.#guard(goOn, null, end)
    step()
    await promise
    this.#spare.push(client)
  }

  /** Whoever calls a lane back, an HTTP client or a timer, would swallow what is thrown or die of it. */
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
