import { Worker } from 'node:worker_threads'
import type { LoadComparison } from '../../../shared/load/compare.ts'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan, PlanSource } from '../../../shared/plan/plan.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type {
  ExportOptions,
  ExportResult,
  FacetList,
  LatencySeries,
  PageQuery,
  ResultPage,
  RowDetail,
  RowFilter,
  SourcePreview,
} from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'

/** The questions that the queries' thread answers, each with what it needs and what it gives. */
export interface Queries {
  summary: { give: Record<never, never>; get: RunSummary | null }
  plan: { give: Record<never, never>; get: Plan | null }
  addresses: {
    give: Record<never, never>
    get: { runToken: string; callbackBase: string | null; mediaBase: string | null } | null
  }
  /** The names of the source's columns. */
  columns: { give: Record<never, never>; get: string[] }
  /** Ids of the run and the retries below it, itself first, then oldest first. */
  members: { give: Record<never, never>; get: string[] }
  /** Ids of all runs of the whole that the run belongs to, the first run first. */
  whole: { give: Record<never, never>; get: string[] }
  /** The run itself or that of its retries that can go on. */
  resumable: { give: Record<never, never>; get: string }
  /** Which of the run and its retries have callbacks that nobody has processed, or rows that have become overdue. */
  late: { give: Record<never, never>; get: string[] }
  page: { give: { query: PageQuery }; get: ResultPage }
  row: { give: { row: number }; get: RowDetail }
  facets: { give: { filter: RowFilter }; get: FacetList }
  problems: { give: Record<never, never>; get: ProblemGroup[] }
  latency: { give: Record<never, never>; get: LatencySeries }
  /** All that a report of a load test shows. */
  load: { give: Record<never, never>; get: LoadReport }
  /** This run compared with another, whose journal is `otherFile`. */
  compare: { give: { otherFile: string }; get: LoadComparison }
  export: { give: { options: ExportOptions }; get: ExportResult }
}

/** The name of a question about a run. */
export type QueryKind = keyof Queries

/** A question on its way to the thread. */
export type QueryRequest =
  | { id: number; kind: QueryKind; file: string; held: readonly string[]; give: Queries[QueryKind]['give'] }
  | { id: number; kind: 'preview'; source: PlanSource; limit: number }
  /** The journal is about to be deleted: let go of it. */
  | { id: number; kind: 'forget'; file: string }

/** The answer to the question with that id. */
export type QueryResponse =
  | { id: number; kind: 'answer'; value: unknown }
  | { id: number; kind: 'error'; error: ErrorMessage }

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
