import { randomUUID } from 'node:crypto'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
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
