import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'

/**
 * Limits of a thread's heap, megabytes. With a smaller old generation V8 collects all of it several times a
 * second, in threads that compete with sending; the limit of the young generation keeps the memory for a
 * large source like that for a small one (docs/performance.md).
 */
const HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }

/**
 * Makes V8 allocate new objects in the young generation, in this whole process. V8 otherwise allocates those
 * of a code site in the old generation once most of the first few have survived a collection, as they do
 * while a run starts; objects of single requests would then stay until a full collection, which costs a tenth
 * of the throughput or more (docs/performance.md). Node lets V8's flags be set for this; that Electron does
 * follows from electron/electron#42414 and was not tried.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** Starts a thread that sends; `name` appears in tools that list threads. */
export function startSendingThread(url: URL, options: { name: string; workerData?: unknown }): Worker {
  disablePretenuring()
  return new Worker(url, { ...options, resourceLimits: HEAP })
}
