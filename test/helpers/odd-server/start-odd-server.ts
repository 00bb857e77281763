import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'
import type { RecordedEvent } from '../history/recording.ts'

/** What the server does besides answering right. Times are milliseconds. */
export type Oddity =
  | { kind: 'none' }
  /** A second answer that nobody asked for: with the right one, in a write of its own, or so long after it. */
  | { kind: 'stray'; when: 'together' | 'apart' | number }
  /** Closes the connection so long after an answer, without announcing it. */
  | { kind: 'closing'; afterMs: number }
  /** Closes the connection when it has idled for so long. */
  | { kind: 'idle'; afterMs: number }
  /** Closes the connection instead of answering one request of so many. */
  | { kind: 'dropping'; every: number }
  /** An answer drawn from those that are meant to harm the client. */
  | { kind: 'hostile'; seed: number }

/** What an odd server is made of. */
export interface OddServerOptions {
  tls?: { key: string; cert: string }
  oddity: Oddity
}

/** Most answers of a server whose times are noted. */
const ANSWERS_MAX = 20_000

/** A server in a thread of its own, so that it goes on while the client is busy. */
export interface OddServer {
  baseUrl: string
  /** When each answer had left, by the number behind the slash in its task_id, Unix microseconds; 0 before. */
  leftUs: Float64Array
  /** How many connections were opened. */
  countConnections(): number
  /** What has arrived so far; a hostile answer has no text. */
  readRecording(): Promise<RecordedEvent[]>
}

/** Starts a server that ends when the running test is finished. */
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
