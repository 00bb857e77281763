import { randomUUID } from 'node:crypto'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import { bridge, withBridgeErrors } from './bridge-context.ts'
import { streamEvents } from './event-stream.ts'
import {
  type AskProduction,
  describeProduction,
  type ProductionQuestion,
  QUESTION_WAITS_MS,
} from './production-gate.ts'

/** The question before production that one window waits for while a person is asked outside of it. */
export interface QuestionOfWindow {
  read(): { question: WaitingQuestion | null }
  /** Calls the listener when it changes; returns a function that stops this. */
  onChange(listener: () => void): () => void
  /** Asks, and has the window know for as long as that takes. */
  hold(question: ProductionQuestion, signal: AbortSignal, ask: AskProduction): Promise<boolean>
  /** Gives the question up, unless it was answered meanwhile. */
  cancel(id: string): void
}

/** Makes the place for the question of one window; there is one question at a time. */
export function createQuestionOfWindow(): QuestionOfWindow {
  const listeners = new Set<() => void>()
  let waiting: { question: WaitingQuestion; giveUp: () => void } | null = null
  const change = (next: typeof waiting) => {
    waiting = next
    for (const listener of listeners) listener()
  }
  return {
    read: () => ({ question: waiting?.question ?? null }),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async hold(question, signal, ask) {
      const controller = new AbortController()
      const { title } = describeProduction(question)
      change({
        question: { id: randomUUID(), title, waitsMs: QUESTION_WAITS_MS },
        giveUp: () => controller.abort(),
      })
      try {
        return await ask(question, AbortSignal.any([signal, controller.signal]))
      } finally {
        change(null)
      }
    },
    cancel(id) {
      if (waiting?.question.id === id) waiting.giveUp()
    },
  }
}

/** Least time between two events, milliseconds. */
const INTERVAL_MS = 50

/** That a question waits, for the window that caused it. */
export const productionHandlers = bridge.production.router({
  watch: bridge.production.watch.handler(async function* ({ context, input, signal }) {
    const options = {
      ...{ clock: context.clock, gates: context.gates, streamId: input.streamId, intervalMs: INTERVAL_MS },
      signal: signal ?? new AbortController().signal,
    }
    const source = { ...context.question, ended: new Promise<never>(() => {}) }
    yield* withBridgeErrors(toEvents(streamEvents(source, options)))
  }),
  cancel: bridge.production.cancel.handler(async ({ context, input }) => {
    context.question.cancel(input.id)
    return {}
  }),
})

async function* toEvents(
  events: AsyncIterable<{ sequence: number; value: { question: WaitingQuestion | null } }>,
) {
  for await (const { sequence, value } of events) yield { sequence, ...value }
}
