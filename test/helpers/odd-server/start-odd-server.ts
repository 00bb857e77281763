import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'
import type { RecordedEvent } from '../history/recording.ts'

/** The server's behaviour besides correct answers. Times are milliseconds. */
export type Oddity =
  | { kind: 'none' }
  /**
   * An unrequested second answer: together with the right one, in a separate write, or this long after it.
   */
  | { kind: 'stray'; when: 'together' | 'apart' | number }
  /** Closes the connection this long after an answer, without announcing it. */
  | { kind: 'closing'; afterMs: number }
  /** Closes the connection after it has been idle for this long. */
  | { kind: 'idle'; afterMs: number }
  /** Closes the connection instead of answering one request in this many. */
  | { kind: 'dropping'; every: number }
  /** A random answer that is meant to harm the client. */
  | { kind: 'hostile'; seed: number }

/** Options of an odd server. */
export interface OddServerOptions {
  tls?: { key: string; cert: string }
  oddity: Oddity
}

/** Most answers of a server whose times are recorded. */
const ANSWERS_MAX = 20_000

/** A server in its own thread, so that it continues while the client is busy. */
export interface OddServer {
  baseUrl: string
  /** When each answer was sent, by the number after the slash in its task_id, Unix microseconds; 0 before. */
  leftUs: Float64Array
  /** How many connections were opened. */
  countConnections(): number
  /** What has arrived so far; a hostile answer has no text. */
  readRecording(): Promise<RecordedEvent[]>
}

/** Starts a server that ends when the current test ends. */
export async function startOddServer(options: OddServerOptions): Promise<OddServer> {
  const leftUs = new Float64Array(new SharedArrayBuffer(8 * ANSWERS_MAX))
  const connections = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(new URL('./odd-server-thread.ts', import.meta.url), {
    workerData: { ...options, leftUs, connections },
  })
  onTestFinished(async () => {
    await thread.terminate()
  })
  const [port] = (await once(thread, 'message')) as [number]
  const events: RecordedEvent[] = []
  let flushed = Promise.withResolvers<void>()
  thread.on('message', (message: RecordedEvent | 'flushed') => {
    if (message === 'flushed') flushed.resolve()
    else events.push(message)
  })
  const readRecording = async (): Promise<RecordedEvent[]> => {
    flushed = Promise.withResolvers()
    thread.postMessage('flush')
    await flushed.promise
    return events
  }
  const baseUrl = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  return { baseUrl, leftUs, countConnections: () => Atomics.load(connections, 0), readRecording }
}
