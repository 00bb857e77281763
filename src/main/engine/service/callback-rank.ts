import type { Judgement } from './judgement.ts'

/**
 * How much a callback, or what settled its item before, counts: an error less than a result, and between them
 * one that says nothing of the content, and one that lacks a model. A later callback replaces what counts
 * less; otherwise the first one counts (docs/callbacks.md).
 */
export const CALLBACK_RANKS = { error: 0, no_result: 1, part: 2, result: 3 } as const

export type CallbackRank = (typeof CALLBACK_RANKS)[keyof typeof CALLBACK_RANKS]

export function rankCallback(isError: boolean, answer: Judgement['answer']): CallbackRank {
  if (isError) return CALLBACK_RANKS.error
  if (answer === 'no_result') return CALLBACK_RANKS.no_result
  return answer === 'missing_models' ? CALLBACK_RANKS.part : CALLBACK_RANKS.result
}
