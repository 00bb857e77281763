import { Worker } from 'node:worker_threads'
import type { LoadComparison } from '../../../shared/load/compare.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan, PlanSource } from '../../../shared/plan/plan.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import type { RunReader } from '../engine-interface.ts'
import type { RunBases } from '../receiver/workspace-receiver.ts'

/** A run as the queries' thread finds it: its journal, and the ids of the runs that this process holds. */
export interface AskedRun {
  file: string
  held: readonly string[]
}

/** Where a run's requests say that callbacks and media are found. */
interface RunAddresses extends RunBases {
  runToken: string
}

/** What is read of one run. A run that was cut off before it was written down has no summary, plan or addresses. */
interface RunQueries {
  summarize(run: AskedRun): RunSummary | null
  readPlan(run: AskedRun): Plan | null
  readAddresses(run: AskedRun): RunAddresses | null
  /** Ids of the run and the retries below it, itself first, then oldest first. */
  listMembers(run: AskedRun): string[]
  /** Ids of all runs of the whole that the run belongs to, the first run first. */
  listWhole(run: AskedRun): string[]
  /** The run itself or that of its retries that can be resumed. */
  findResumable(run: AskedRun): string
  /** Which of the run and its retries have callbacks that nobody has processed, or rows that have become overdue. */
  listLate(run: AskedRun): string[]
  compare(run: AskedRun, other: AskedRun): LoadComparison
}

/** A function of {@link RunReader} as the thread has it, which finds the run by its journal. */
type Query<Read> = Read extends (runId: string, ...args: infer Args) => infer Result
  ? (run: AskedRun, ...args: Args) => Result | Awaited<Result>
  : never

/** What the queries' thread answers. */
export type QueryCalls = { [Name in keyof RunReader]: Query<RunReader[Name]> } & RunQueries & {
    /** The first rows of a source. Throws `BAD_SOURCE`. */
    previewSource(source: PlanSource, limit: number): Promise<SourcePreview>
    /** Lets go of a journal that is about to be deleted. */
    forget(file: string): void
  }

/** The main thread's end of a thread that answers queries, so that no query holds the main thread up. */
export class QueryThread {
  readonly #url: URL
  #thread: { worker: Worker; client: WorkerClient<QueryCalls>; asking: number } | null = null

  /** The thread starts with the first query. */
  constructor(url: URL) {
    this.#url = url
  }

  /** Asks the thread. Rejects with the `SluiceError` of what is wrong. */
  async ask<Name extends keyof QueryCalls>(
    name: Name,
    ...args: Parameters<QueryCalls[Name]>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    const thread = this.#thread ?? this.#start()
    thread.asking += 1
    thread.worker.ref()
    try {
      return await thread.client.call(name, ...args)
    } finally {
      thread.asking -= 1
      // An idle thread does not keep the process alive.
      if (thread.asking === 0) thread.worker.unref()
    }
  }

  /** Lets go of a journal that is about to be deleted. */
  async forget(file: string): Promise<void> {
    if (this.#thread !== null) await this.ask('forget', file)
  }

  /** Ends the thread; open queries are rejected. */
  async close(): Promise<void> {
    await this.#thread?.client.terminate()
  }

  #start() {
    const worker = new Worker(this.#url, { name: 'queries' })
    const client = new WorkerClient<QueryCalls>(worker, {
      on: {},
      toFailure: (cause) => new SluiceError({ id: 'query_cut_off', reason: toThrownText(cause) }, { cause }),
    })
    const thread = { worker, client, asking: 0 }
    this.#thread = thread
    void client.ended.then(() => {
      if (this.#thread === thread) this.#thread = null
    })
    return thread
  }
}
