import { type MessagePort, parentPort, type Transferable, type Worker } from 'node:worker_threads'
import type { ErrorMessage } from '../shared/messages/error-messages.ts'
import { SluiceError, toErrorMessage } from '../shared/messages/errors.ts'

/** Functions that a worker thread serves. Arguments and results are structured clones. */
type Functions<Calls> = { [Name in keyof Calls]: (...args: never[]) => unknown }

/** Handlers of the other side's events. */
type Listeners<Events> = { [Name in keyof Events]: (value: Events[Name]) => void }

type Request =
  /** `id` is null if no answer is needed. */
  { kind: 'call'; id: number | null; name: string; args: never[] } | { kind: 'close' } | { kind: 'end' }

type Response =
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: ErrorMessage }
  | { kind: 'event'; name: string; value: never }

/** How long a thread may finish its current step before it is terminated, milliseconds. */
const STEP_PATIENCE_MS = 5_000

const crashListeners = new Set<(error: SluiceError) => void>()

/** Calls the listener whenever a thread started here ends unasked; returns a function that removes it. */
export function onThreadCrash(listener: (error: SluiceError) => void): () => void {
  crashListeners.add(listener)
  return () => crashListeners.delete(listener)
}

/** The starting thread's side of a worker thread that runs {@link serveCalls}. */
export class WorkerClient<Calls extends Functions<Calls>, Events = Record<never, never>> {
  /** Settles when the thread has ended for any reason. Never rejects. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #isClosing = false
  #hasBrokenOff = false
  #failure: SluiceError | null = null

  /** `toFailure` creates the error with which pending and later calls reject once the thread has ended. */
  constructor(
    worker: Worker,
    { on, toFailure }: { on: Listeners<Events>; toFailure: (cause: unknown) => SluiceError },
  ) {
    const ended = Promise.withResolvers<void>()
    const listeners = on as Record<string, (value: never) => void>
    this.ended = ended.promise
    this.#worker = worker
    worker.on('message', (response: Response) => {
      if (response.kind === 'event') listeners[response.name]?.(response.value)
      else this.#settle(response)
    })
    worker.on('error', (error) => {
      this.#hasBrokenOff = true
      this.#failure = toFailure(error)
    })
    worker.on('exit', (code) => {
      const isClosed = this.#isClosing || code === 0
      this.#failure ??= toFailure(
        new Error(isClosed ? 'it was closed' : `its thread ended with code ${code}`),
      )
      for (const { reject } of this.#open.values()) reject(this.#failure)
      this.#open.clear()
      if (!isClosed || this.#hasBrokenOff) for (const listener of crashListeners) listener(this.#failure)
      ended.resolve()
    })
  }

  /** Calls a function of the worker. Rejects with its `SluiceError`, or the reason why the thread ended. */
  async call<Name extends keyof Calls & string>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    if (this.#failure !== null) throw this.#failure
    const open = Promise.withResolvers<unknown>()
    this.#lastId += 1
    this.#open.set(this.#lastId, open)
    this.#worker.postMessage({ kind: 'call', id: this.#lastId, name, args })
    return (await open.promise) as Awaited<ReturnType<Calls[Name]>>
  }

  /** Calls a function without awaiting its result; an error ends the thread. */
  send<Name extends keyof Calls & string>(name: Name, ...args: Parameters<Calls[Name]>): void {
    this.#worker.postMessage({ kind: 'call', id: null, name, args })
  }

  /** Lets the thread finish its work and waits for its end. Rejects if it broke off. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#worker.postMessage({ kind: 'close' } satisfies Request)
    await this.ended
    if (this.#hasBrokenOff) throw this.#failure
  }

  /**
   * Ends the thread after its current step, regardless of other work, or in the middle of it after
   * `patienceMs`. Not at once: Node aborts the whole process if a thread is terminated while it sets up a
   * zlib stream (the assertion "close before init" in node_zlib.cc).
   */
  async end(patienceMs = STEP_PATIENCE_MS): Promise<void> {
    this.#isClosing = true
    this.#worker.postMessage({ kind: 'end' } satisfies Request)
    const timer = setTimeout(() => this.#worker.terminate(), patienceMs)
    await this.ended
    clearTimeout(timer)
  }

  #settle(response: Exclude<Response, { kind: 'event' }>): void {
    const open = this.#open.get(response.id)
    this.#open.delete(response.id)
    if (response.kind === 'answer') open?.resolve(response.value)
    else open?.reject(new SluiceError(response.error))
  }
}

/** Sends an event to the starting thread; objects in `transfer` are moved, not copied. */
export type SendEvent<Events> = <Name extends keyof Events & string>(
  name: Name,
  value: Events[Name],
  transfer?: readonly Transferable[],
) => void

/**
 * Serves calls for the life of this worker thread, and returns the function that sends events. `afterCall`
 * runs after each call that is answered, before the answer is sent. A thread that serves several clients in
 * turn has a `port` for each of them, and replaces the default `end` to be done with one.
 */
export function serveCalls<Calls extends Functions<Calls>, Events = Record<never, never>>(
  calls: Calls,
  {
    afterCall = () => {},
    port = parentPort,
    end = () => process.exit(),
  }: { afterCall?: () => void; port?: MessagePort | null; end?: () => void } = {},
): SendEvent<Events> {
  if (port === null) throw new Error('only a worker thread can serve calls')
  const functions = calls as Record<string, (...args: never[]) => unknown>
  const answer = async (id: number, name: string, args: never[]): Promise<void> => {
    try {
      let value: unknown
      try {
        value = await functions[name]?.(...args)
      } finally {
        afterCall()
      }
      port.postMessage({ kind: 'answer', id, value } satisfies Response)
    } catch (error) {
      port.postMessage({ kind: 'error', id, error: toErrorMessage(error) } satisfies Response)
    }
  }
  port.on('message', (request: Request) => {
    if (request.kind === 'close') port.close()
    else if (request.kind === 'end') end()
    else if (request.id === null) functions[request.name]?.(...request.args)
    else void answer(request.id, request.name, request.args)
  })
  return (name, value, transfer = []) => port.postMessage({ kind: 'event', name, value }, transfer)
}
