import { randomUUID } from 'node:crypto'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import {
  type AskProduction,
  describeProduction,
  type ProductionQuestion,
  QUESTION_WAITS_MS,
} from './production-gate.ts'

/** Makes the place for the question of one window; there is one question at a time. */
export function createQuestionOfWindow() {
  const listeners = new Set<() => void>()
  let waiting: { question: WaitingQuestion; giveUp: () => void } | null = null
  const change = (next: typeof waiting) => {
    waiting = next
    for (const listener of listeners) listener()
  }
  return {
    read: (): { question: WaitingQuestion | null } => ({ question: waiting?.question ?? null }),
    /** Calls the listener when it changes; returns a function that stops this. */
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Asks, and has the window know for as long as that takes. */
    async hold(question: ProductionQuestion, signal: AbortSignal, ask: AskProduction): Promise<boolean> {
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
    /** Gives the question up, unless it was answered meanwhile. */
    cancel(id: string): void {
      if (waiting?.question.id === id) waiting.giveUp()
    },
  }
}

/** The question before production that one window waits for while a person is asked outside of it. */
export interface QuestionOfWindow extends ReturnType<typeof createQuestionOfWindow> {}
