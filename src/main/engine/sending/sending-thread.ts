import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'

/**
 * Bounds of a thread's heap, megabytes. Under a smaller bound of its old part V8 collects all of it several times a
 * second, in threads of its own that take the sending's time; the bound of the young part keeps a large source in the
 * memory of a small one (docs/performance.md).
 */
const HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }

/**
 * Has V8 put new objects where short lives belong, in this whole process. It places those of a spot in the code among
 * the old ones once most of a first few have outlived a collection, as they do while a run starts; what belongs to a
 * request would then stay until all of the heap is collected, which costs a tenth of the throughput and more
 * (docs/performance.md). Node leaves V8's flags open to this; that Electron does follows from electron/electron#42414
 * and was not tried.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** Starts a thread that sends; `name` is its own in tools that list threads. */
export function startSendingThread(url: URL, options: { name: string; workerData?: unknown }): Worker {
  disablePretenuring()
  return new Worker(url, { ...options, resourceLimits: HEAP })
}
