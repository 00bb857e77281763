import TinyQueue from 'tinyqueue'
import type { SandboxClock } from '../sandbox-clock.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { createDraw, type Draw } from '../seeded-draw.ts'
import type { CallbackStore } from '../store/callback-store.ts'
import type { AttemptResult, CallbackSender } from './callback-sender.ts'
import { type CallbackSettings, planCallbacks, toRetryWaitMs } from './callback-settings.ts'

/** A callback that an async task asked for (docs/interface.md §6). */
export interface RequestedCallback {
  taskId: string
  url: string
  /** JSON text. */
  body: string
}

/** The callbacks of one task, stored and not yet on their way. */
export interface CallbackTicket {
  /** Whether the first copy is to be sent before the acknowledgement. */
  readonly isEarly: boolean
  /** Sends the early copy, and calls back when its first attempt has ended, however it ended. */
  sendEarly(ended: () => void): void
  /** Starts the waiting of the other copies; to be called when the acknowledgement is answered. */
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

/** Before every time of the clock. */
const AT_ONCE = Number.NEGATIVE_INFINITY

/** What a full queue asks to wait. */
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
    /** Takes up what the store has pending from before; to be called once. */
    start: (): void => {
      const startedMs = clock.date().getTime()
      for (const { callbackId, dueMs } of store.listPending()) {
        due.push({ id: callbackId, dueMs: clock.nowMs() + Math.max(0, dueMs - startedMs) })
      }
      pump()
    },
    /** Refuses with `CALLBACK_QUEUE_FULL` if more callbacks wait than may. */
    checkRoom: (): void => {
      if (store.counts().pending < parts.maxPending) return
      throw new SandboxRefusal(
        'CALLBACK_QUEUE_FULL',
        `${parts.maxPending} callbacks wait to be delivered, and no more can`,
        { retryAfterS: FULL_RETRY_AFTER_S },
      )
    },
    /** Stores the copies of a task's callback; `latencyMs` is how long its acknowledgement takes. */
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
    /** Makes everything that waits due now, whatever it waits for. */
    sendPending: (): void => {
      due = hurryDueQueue(due, clock.nowMs())
      pump()
    },
    /** Forgets every callback, also those to be delivered. */
    clear: (): void => {
      due = createDueQueue()
      store.clear()
    },
    /** Breaks off what is under way; what is stored stays pending. */
    close: (): void => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      sender.close()
    },
  }
}

/** Delivers callbacks, with retries, a bounded number at once. */
export interface CallbackQueue extends ReturnType<typeof createCallbackQueue> {}

/** Something that is due at a time. */
interface DueEntry {
  id: number
  /** On a clock that never goes back. */
  dueMs: number
}

/** A queue that gives what is due first, first; of what is due at the same time, the lower id. */
export function createDueQueue(entries: DueEntry[] = []): TinyQueue<DueEntry> {
  return new TinyQueue(entries, (a, b) => a.dueMs - b.dueMs || a.id - b.id)
}

/** A queue of the same entries, all due by then, in the order of their ids. */
export function hurryDueQueue(queue: TinyQueue<DueEntry>, byMs: number): TinyQueue<DueEntry> {
  return createDueQueue(queue.data.map(({ id, dueMs }) => ({ id, dueMs: Math.min(dueMs, byMs) })))
}
