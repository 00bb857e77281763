import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { MessageChannel, type MessagePort, Worker as Thread, type WorkerOptions } from 'node:worker_threads'
import { onTestFinished } from 'vitest'
import { BUILT_FOLDER } from './bundles.ts'

/** Tells a kept thread whom it serves next. */
export interface NextUse {
  use: 'run' | 'queries'
  port: MessagePort
  env: NodeJS.ProcessEnv
}

const toBundle = (name: string): URL => pathToFileURL(join(BUILT_FOLDER, 'main', name))

const USES = new Map<string, NextUse['use']>([
  [toBundle('run-worker.js').href, 'run'],
  [toBundle('query-worker.js').href, 'queries'],
])

/** Unused threads. */
const idle = { run: new Set<Thread>(), queries: new Set<Thread>() }

let keeps = true

/** Makes every thread start anew until the current test ends, for tests that distinguish threads by name. */
export function startThreadsAnew(): void {
  keeps = false
  onTestFinished(() => {
    keeps = true
  })
}

/**
 * The engine's threads in tests: a run or queries reuse an earlier thread, since starting threads is most of
 * the cost of a short run. All other threads start anew.
 */
export class Worker extends EventEmitter {
  readonly #thread: Thread
  readonly #port: MessagePort | null = null

  constructor(url: URL, options: WorkerOptions) {
    super()
    const use = keeps ? USES.get(url.href) : undefined
    if (use === undefined) {
      this.#thread = new Thread(url, options)
      this.#follow(this.#thread, ['message', 'error', 'exit'])
      return
    }
    const [thread = startThread(use, options)] = idle[use]
    idle[use].delete(thread)
    const { port1, port2 } = new MessageChannel()
    this.#thread = thread
    this.#port = port1
    const unfollow = this.#follow(thread, ['error', 'exit'])
    port1.on('message', (message) => this.emit('message', message))
    // A thread that crashes also closes the port, but does not report that it is free.
    let signs = 0
    const seeEnd = (): void => {
      signs += 1
      if (signs < 2) return
      unfollow()
      idle[use].add(thread)
      this.emit('exit', 0)
    }
    port1.once('close', seeEnd)
    thread.once('message', seeEnd)
    thread.postMessage({ use, port: port2, env: { ...process.env } } satisfies NextUse, [port2])
  }

  postMessage(message: unknown): void {
    const port = this.#port ?? this.#thread
    port.postMessage(message)
  }

  ref(): void {
    const port = this.#port ?? this.#thread
    port.ref()
  }

  unref(): void {
    const port = this.#port ?? this.#thread
    port.unref()
  }

  terminate(): Promise<number> {
    return this.#thread.terminate()
  }

  /** Passes on the thread's messages; returns a function that stops this. */
  #follow(thread: Thread, names: readonly string[]): () => void {
    const listeners = names.map((name) => [name, (value: unknown) => this.emit(name, value)] as const)
    for (const [name, listener] of listeners) thread.on(name, listener)
    return () => {
      for (const [name, listener] of listeners) thread.off(name, listener)
    }
  }
}

function startThread(use: NextUse['use'], options: WorkerOptions): Thread {
  const thread = new Thread(toBundle('kept-thread.js'), options)
  // The port of its user keeps the process alive.
  thread.unref()
  thread.once('exit', () => idle[use].delete(thread))
  return thread
}
