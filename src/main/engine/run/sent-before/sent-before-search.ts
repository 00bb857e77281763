import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { WorkerClient } from '../../../worker-rpc.ts'
import type { AskedRows, FoundRows } from './asked-rows.ts'
import { type SearchTask, SentBeforeFinder, type UncertainRuns } from './sent-before.ts'

/** The calls of a search's thread, in this order. */
export type SearchCalls = {
  begin(task: SearchTask): { isEmpty: boolean; uncertain: UncertainRuns }
  find(asked: AskedRows): { found: FoundRows; uncertain: UncertainRuns }
  close(): void
}

/** Looks up rows that earlier runs may have sent. */
export interface SentBeforeSearch {
  /** Whether no row can have been sent before. */
  readonly isEmpty: boolean
  /** As known so far. */
  readonly uncertain: UncertainRuns
  /** Outcomes of rows sent before, in the order of the calls. */
  find(asked: AskedRows): Promise<FoundRows>
  close(): Promise<void>
}

/** Size of a source from which a separate thread saves more time than it takes to start, bytes. */
const THREAD_BYTES = 8_000_000

/** A young generation as small as that of the thread that reads the source, megabytes. */
const HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }

/**
 * Begins a search; for a large source in a separate thread, which looks up rows while this one reads the
 * next. `workerUrl` is the entry `sent-before-worker.ts`, or its bundle.
 */
export async function openSearch(
  task: SearchTask,
  sourceBytes: number,
  workerUrl: string,
): Promise<SentBeforeSearch> {
  if (sourceBytes < THREAD_BYTES) return new SearchHere(new SentBeforeFinder(task))
  return SearchInThread.begin(task, new URL(workerUrl))
}

class SearchHere implements SentBeforeSearch {
  readonly #finder: SentBeforeFinder

  constructor(finder: SentBeforeFinder) {
    this.#finder = finder
  }

  get isEmpty(): boolean {
    return this.#finder.isEmpty
  }

  get uncertain(): UncertainRuns {
    return this.#finder.uncertain
  }

  async find(asked: AskedRows): Promise<FoundRows> {
    return this.#finder.find(asked)
  }

  async close(): Promise<void> {
    this.#finder.close()
  }
}

class SearchInThread implements SentBeforeSearch {
  readonly #client: WorkerClient<SearchCalls>
  isEmpty = false
  uncertain: UncertainRuns = {
    unreadable: [],
    withOtherKey: [],
    withOtherConnection: [],
    withUnknownKey: [],
    withoutColumn: [],
  }

  private constructor(workerUrl: URL) {
    const worker = new Worker(workerUrl, { name: 'sent before', resourceLimits: HEAP })
    this.#client = new WorkerClient<SearchCalls>(worker, {
      on: {},
      toFailure: (cause) => SluiceError.because(cause, { id: 'lookup_cut_off' }),
    })
  }

  static async begin(task: SearchTask, workerUrl: URL): Promise<SearchInThread> {
    const search = new SearchInThread(workerUrl)
    try {
      Object.assign(search, await search.#client.call('begin', task))
      return search
    } catch (error) {
      await search.#client.end(0)
      throw error
    }
  }

  async find(asked: AskedRows): Promise<FoundRows> {
    const { found, uncertain } = await this.#client.call('find', asked)
    this.uncertain = uncertain
    return found
  }

  async close(): Promise<void> {
    await this.#client.call('close').catch(() => {})
    await this.#client.end()
  }
}
