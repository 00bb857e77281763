import type { Judgement } from './judgement.ts'

/**
 * How much a callback, or what settled its item before, counts: an error less than a result, and one that says
 * nothing of the content between them. A later callback replaces what counts less; otherwise the first one
 * counts (docs/callbacks.md).
 */
export const CALLBACK_RANKS = { error: 0, no_result: 1, result: 2 } as const

export type CallbackRank = (typeof CALLBACK_RANKS)[keyof typeof CALLBACK_RANKS]

export function rankCallback(isError: boolean, answer: Judgement['answer']): CallbackRank {
  if (isError) return CALLBACK_RANKS.error
  return answer === 'no_result' ? CALLBACK_RANKS.no_result : CALLBACK_RANKS.result
}
