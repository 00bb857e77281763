import TinyQueue from 'tinyqueue'
import type { SandboxClock } from '../sandbox-clock.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { createDraw, type Draw } from '../seeded-draw.ts'
import type { CallbackStore, RequestedCallback } from '../store/callback-store.ts'
import type { AttemptResult, CallbackSender } from './callback-sender.ts'
import { type CallbackSettings, planCallbacks, toRetryWaitMs } from './callback-settings.ts'

/** The callbacks of one task, stored but not yet under way. */
export interface CallbackTicket {
  /** Whether the first copy is sent before the acknowledgement. */
  readonly isEarly: boolean
  /** Sends the early copy; calls back when its first attempt has ended, successful or not. */
  sendEarly(ended: () => void): void
  /** Starts the delays of the other copies; call it when the acknowledgement is answered. */
  release(): void
}

export interface CallbackQueueParts {
  store: CallbackStore
  sender: CallbackSender
  clock: SandboxClock
  seed: string
  maxPending: number
  settings(): CallbackSettings
}

/** Earlier than any time of the clock. */
const AT_ONCE = Number.NEGATIVE_INFINITY

/** Retry-After of a full queue, seconds. */
const FULL_RETRY_AFTER_S = 1

export function createCallbackQueue(parts: CallbackQueueParts) {
  const { store, sender, clock, settings } = parts
  let due = createDueQueue()
  const afterFirstAttempt = new Map<number, () => void>()
  let underWay = 0
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  const schedule = (id: number, dueMs: number): void => {
    due.push({ id, dueMs })
    pump()
  }

  const pump = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    while (!isClosed && underWay < settings().connections) {
      const first = due.peek()
      if (first === undefined) return
      const waitMs = first.dueMs - clock.nowMs()
      if (waitMs > 0) {
        timer = setTimeout(pump, Math.ceil(waitMs)).unref()
        return
      }
      due.pop()
      attempt(first.id)
    }
  }

  const attempt = (id: number): void => {
    const callback = store.readPending(id)
    if (callback === null) {
      endAttempt(id)
      return
    }
    underWay += 1
    const { timeoutMs } = settings()
    void sender.send(callback, timeoutMs).then((result) => {
      underWay -= 1
      if (isClosed) return
      note(id, callback, result)
      endAttempt(id)
      pump()
    })
  }

  const endAttempt = (id: number): void => {
    const ended = afterFirstAttempt.get(id)
    afterFirstAttempt.delete(id)
    ended?.()
  }

  const note = (id: number, callback: { taskId: string; attempts: number }, result: AttemptResult): void => {
    const nowMs = clock.date().getTime()
    const lastResult = String(result.status ?? result.error)
    const attempts = callback.attempts + 1
    const { attempts: maxAttempts, backoffMs } = settings()
    if (result.status !== null && result.status >= 200 && result.status < 300) {
      store.settle(id, { state: 'delivered', lastResult, atMs: nowMs })
    } else if (attempts >= maxAttempts) {
      store.settle(id, { state: 'failed', lastResult, atMs: nowMs })
    } else {
      const draw = createDraw(parts.seed, callback.taskId, attempts)
      const waitMs = toRetryWaitMs(result, { attempts, backoffMs, draw })
      store.postpone(id, { lastResult, dueMs: nowMs + waitMs })
      due.push({ id, dueMs: clock.nowMs() + waitMs })
    }
  }

  return {
    /** Resumes the store's pending callbacks; call it once. */
    start: (): void => {
      const startedMs = clock.date().getTime()
      for (const { callbackId, dueMs } of store.listPending()) {
        due.push({ id: callbackId, dueMs: clock.nowMs() + Math.max(0, dueMs - startedMs) })
      }
      pump()
    },
    /** Refuses with `CALLBACK_QUEUE_FULL` if the queue is full. */
    checkRoom: (): void => {
      if (store.counts().pending < parts.maxPending) return
      throw new SandboxRefusal(
        'CALLBACK_QUEUE_FULL',
        `${parts.maxPending} callbacks wait to be delivered, and no more can`,
        { retryAfterS: FULL_RETRY_AFTER_S },
      )
    },
    /** Stores the copies of a task's callback; `latencyMs` is the delay of its acknowledgement. */
    store: (callback: RequestedCallback, draw: Draw, latencyMs: number): CallbackTicket => {
      const nowMs = clock.date().getTime()
      const copies = planCallbacks(settings(), draw).map(({ timing, waitMs }) => ({
        timing,
        waitMs,
        id: store.insert({ ...callback, timing, dueMs: nowMs + latencyMs + waitMs }),
      }))
      const early = copies.find(({ timing }) => timing === 'early')
      return {
        isEarly: early !== undefined,
        sendEarly: (ended) => {
          if (early === undefined) {
            ended()
            return
          }
          afterFirstAttempt.set(early.id, ended)
          schedule(early.id, AT_ONCE)
        },
        release: () => {
          for (const { id, timing, waitMs } of copies) {
            if (timing === 'normal' || timing === 'late') schedule(id, clock.nowMs() + waitMs)
          }
        },
      }
    },
    /** Makes all waiting callbacks due now. */
    sendPending: (): void => {
      due = hurryDueQueue(due, clock.nowMs())
      pump()
    },
    /** Deletes all callbacks, including pending ones. */
    clear: (): void => {
      due = createDueQueue()
      store.clear()
    },
    /** Aborts attempts under way; what is stored stays pending. */
    close: (): void => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      sender.close()
    },
  }
}

/** Delivers callbacks with retries, a limited number at once. */
export interface CallbackQueue extends ReturnType<typeof createCallbackQueue> {}

/** An entry that is due at some time. */
interface DueEntry {
  id: number
  /** Time on a monotonic clock. */
  dueMs: number
}

/** Creates a queue ordered by due time, then by id. */
export function createDueQueue(entries: DueEntry[] = []): TinyQueue<DueEntry> {
  return new TinyQueue(entries, (a, b) => a.dueMs - b.dueMs || a.id - b.id)
}

/** A queue of the same entries, all due at `byMs`, in the order of their ids. */
export function hurryDueQueue(queue: TinyQueue<DueEntry>, byMs: number): TinyQueue<DueEntry> {
  return createDueQueue(queue.data.map(({ id, dueMs }) => ({ id, dueMs: Math.min(dueMs, byMs) })))
}
