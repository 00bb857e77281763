import { randomUUID } from 'node:crypto'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import { createListeners } from './event-stream.ts'
import {
  type AskProduction,
  describeProduction,
  type ProductionQuestion,
  QUESTION_WAITS_MS,
} from './production-gate.ts'

/** Creates the place for one window's question; there is one question at a time. */
export function createQuestionOfWindow() {
  const { tell, onChange } = createListeners()
  let waiting: { question: WaitingQuestion; giveUp: () => void } | null = null
  const change = (next: typeof waiting) => {
    waiting = next
    tell()
  }
  return {
    read: (): { question: WaitingQuestion | null } => ({ question: waiting?.question ?? null }),
    onChange,
    /** Asks, and shows the open question to the window meanwhile. */
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
    /** Withdraws the question unless it has been answered. */
    cancel(id: string): void {
      if (waiting?.question.id === id) waiting.giveUp()
    },
  }
}

/** The open question before production that one window has caused, while a person is asked elsewhere. */
export interface QuestionOfWindow extends ReturnType<typeof createQuestionOfWindow> {}
