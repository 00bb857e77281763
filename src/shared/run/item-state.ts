import { z } from 'zod'

/** How one HTTP try of an item ended (docs/architecture.md §2.2). */
export type Outcome = 'succeeded' | 'rejected' | 'failed' | 'unknown'

/** The state of an item (docs/architecture.md §8). A row that fails validation is `invalid` and has no item. */
const itemStateSchema = z.enum([
  'pending',
  'sending',
  'acknowledged',
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
])

export type ItemState = z.infer<typeof itemStateSchema>

/**
 * What the results table shows a row as: its item's state, or why it has no item: it is `invalid`, or was `left_out` by
 * a fix of the plan.
 */
export const rowStateSchema = z.enum(['invalid', 'left_out', ...itemStateSchema.options])

export type RowState = z.infer<typeof rowStateSchema>

/** What can happen to an item. */
export type ItemEvent =
  /** The journal holds a durable mark that its request may go out. */
  | 'claimed'
  /** The run stopped before its request was sent. */
  | 'released'
  /** A sync answer, or the callback of an async item, said it was taken and done. */
  | 'succeeded'
  /** An async item was taken; its callback is awaited. */
  | 'acknowledged'
  /** The service answered an error. */
  | 'rejected'
  /** Certainly not taken, and no retry is left. */
  | 'failed'
  /** Sent, and nobody knows whether it was taken. */
  | 'lost'
  /** Certainly not taken, or safe to repeat: goes back to the queue until its back-off is over. */
  | 'retry'
  /** No callback came in time. */
  | 'timed_out'
  /** A callback came. */
  | 'callback_succeeded'
  | 'callback_rejected'
  /** The person decided to send an unknown item again. */
  | 'resend'
  /** The key that the service refused was replaced. */
  | 'key_replaced'

const TRANSITIONS: Record<ItemState, Partial<Record<ItemEvent, ItemState>>> = {
  pending: { claimed: 'sending', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  sending: {
    released: 'pending',
    succeeded: 'succeeded',
    acknowledged: 'acknowledged',
    rejected: 'rejected',
    failed: 'failed',
    lost: 'unknown',
    retry: 'pending',
    callback_succeeded: 'succeeded',
    callback_rejected: 'rejected',
  },
  acknowledged: {
    timed_out: 'overdue',
    callback_succeeded: 'succeeded',
    callback_rejected: 'rejected',
  },
  overdue: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  unknown: { resend: 'pending', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  succeeded: {},
  // An earlier try may have been accepted even so, which its callback then shows.
  rejected: { callback_succeeded: 'succeeded', key_replaced: 'pending' },
  failed: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
}

/**
 * The state an item is in after an event, or null where the event means nothing in that state: a doubled callback,
 * an acknowledgement that comes after its callback. Such events change nothing and are counted by who sees them.
 */
export function nextItemState(state: ItemState, event: ItemEvent): ItemState | null {
  return TRANSITIONS[state][event] ?? null
}

/** States of items that ended without success. */
export const UNSUCCESSFUL_STATES = [
  'rejected',
  'failed',
  'unknown',
  'overdue',
] as const satisfies readonly ItemState[]

/** Whether an item ended without success, or a row is invalid and was never sent. */
export function isUnsuccessful(state: RowState): boolean {
  return state === 'invalid' || UNSUCCESSFUL_STATES.some((unsuccessful) => unsuccessful === state)
}

/** Whether the item no longer changes in this run without a new request. */
export function isSettled(state: ItemState): boolean {
  return state !== 'pending' && state !== 'sending' && state !== 'acknowledged'
}

/**
 * What the service answered of a row beyond success or error, in one word: the outcome of a term, or the status of an
 * appeal (docs/interface.md §2.6, §4.5, §4.6). `added_or_pre_existing` is pre-existing after a try whose answer was
 * lost, which may have added the term. `reviewed` is a judgment that says neither overturned nor upheld, `other_status`
 * a status that the interface does not list. Of an async item: whether its callbacks differ, whether one could not be
 * read, and whether the one that counts names another post. `meaning` is for who meets it first.
 */
export const ROW_ANSWERS = {
  added: { word: 'added', meaning: 'The term is new in the watchlist.' },
  pre_existing: {
    word: 'pre-existing',
    meaning: 'The term was in the watchlist already; its notes were overwritten.',
  },
  added_or_pre_existing: {
    word: 'added or pre-existing',
    meaning: 'The first answer was lost, so nobody knows whether this run added the term.',
  },
  updated: { word: 'updated', meaning: 'The term has the new notes.' },
  non_existent: {
    word: 'non-existent',
    meaning: 'The watchlist has no such term, and an update creates none.',
  },
  failed: { word: 'not processed', meaning: 'The service could not process the term.' },
  in_review: { word: 'in review', meaning: 'Nobody has judged the appeal yet.' },
  reviewed: { word: 'reviewed', meaning: 'Judged; the service does not say whether the decision stands.' },
  overturned: { word: 'overturned', meaning: 'The final judgment overturns the decision.' },
  upheld: { word: 'upheld', meaning: 'The final judgment upholds the decision.' },
  other_status: {
    word: 'other status',
    meaning: 'The service names a status other than In Review and Reviewed.',
  },
  differing_callbacks: {
    word: 'callbacks differ',
    meaning: 'More than one callback came, and they do not say the same. A result counts more than an error.',
  },
  unreadable_callback: { word: 'unreadable callback', meaning: 'A callback came that could not be read.' },
  callback_of_other_post: {
    word: 'names another post',
    meaning: 'The callback at the address of this row names the post_id of another one.',
  },
}

export type RowAnswer = keyof typeof ROW_ANSWERS

/** Every answer, in the order in which they are shown. */
export const ROW_ANSWER_NAMES = Object.keys(ROW_ANSWERS) as [RowAnswer, ...RowAnswer[]]

export const rowAnswerSchema = z.enum(ROW_ANSWER_NAMES)

const APPEAL_ANSWERS: readonly RowAnswer[] = ['in_review', 'reviewed', 'overturned', 'upheld', 'other_status']

/** Whether an answer is where an appeal stands; the others are the outcome of a term. */
export function isAppealAnswer(answer: RowAnswer): boolean {
  return APPEAL_ANSWERS.includes(answer)
}
