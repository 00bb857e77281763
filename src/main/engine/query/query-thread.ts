import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import type { Queries, QueryKind, QueryRequest, QueryResponse } from './query-messages.ts'

/** The main thread's end of a thread that answers questions about runs, so that no question holds the main thread up. */
export class QueryThread {
  readonly #url: URL
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: Worker | null = null
  #lastId = 0

  /** The thread starts with the first question. */
  constructor(url: URL) {
    this.#url = url
  }

  /** Asks about a run. Rejects with the `SluiceError` of what is wrong. */
  async ask<K extends QueryKind>(
    kind: K,
    run: { file: string; held: readonly string[] },
    give: Queries[K]['give'],
  ): Promise<Queries[K]['get']> {
    return (await this.#send({ id: ++this.#lastId, kind, ...run, give })) as Queries[K]['get']
  }

  /** Reads the first rows of a source. Rejects with `BAD_SOURCE`. */
  async preview(source: PlanSource, limit: number): Promise<SourcePreview> {
    return (await this.#send({ id: ++this.#lastId, kind: 'preview', source, limit })) as SourcePreview
  }

  /** Lets go of a journal that is about to be deleted. */
  async forget(file: string): Promise<void> {
    if (this.#worker !== null) await this.#send({ id: ++this.#lastId, kind: 'forget', file })
  }

  /** Ends the thread; questions that are still open are rejected. */
  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#fail(new Error('the queries thread was closed'))
  }

  #send(request: QueryRequest): Promise<unknown> {
    const open = Promise.withResolvers<unknown>()
    this.#open.set(request.id, open)
    const worker = this.#start()
    worker.ref()
    worker.postMessage(request)
    return open.promise
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(this.#url, { name: 'queries' })
    worker.on('message', (response: QueryResponse) => this.#settle(response))
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
      this.#fail(new Error('the queries thread ended'))
    })
    this.#worker = worker
    return worker
  }

  #settle(response: QueryResponse): void {
    const open = this.#open.get(response.id)
    this.#open.delete(response.id)
    // An idle thread does not keep the process alive.
    if (this.#open.size === 0) this.#worker?.unref()
    if (response.kind === 'answer') open?.resolve(response.value)
    else open?.reject(new SluiceError(response.error))
  }

  #fail(cause: unknown): void {
    const error = new SluiceError({ id: 'query_cut_off', reason: toThrownText(cause) }, { cause })
    for (const { reject } of this.#open.values()) reject(error)
    this.#open.clear()
  }
}
