import { z } from 'zod'

/**
 * What the service answered of a row beyond success or error, in one word: the outcome of a term, or the status of an
 * appeal (docs/interface.md §2.6, §4.5, §4.6). `added_or_pre_existing` is pre-existing after a try whose answer was
 * lost, which may have added the term. `reviewed` is a judgment that says neither overturned nor upheld, `other_status`
 * a status that the interface does not list.
 */
export const rowAnswerSchema = z.enum([
  'added',
  'pre_existing',
  'added_or_pre_existing',
  'updated',
  'non_existent',
  'failed',
  'in_review',
  'reviewed',
  'overturned',
  'upheld',
  'other_status',
])

/** See {@link rowAnswerSchema}. */
export type RowAnswer = z.infer<typeof rowAnswerSchema>

const APPEAL_ANSWERS: readonly RowAnswer[] = ['in_review', 'reviewed', 'overturned', 'upheld', 'other_status']

/** Whether an answer is where an appeal stands; the others are the outcome of a term. */
export function isAppealAnswer(answer: RowAnswer): boolean {
  return APPEAL_ANSWERS.includes(answer)
}
