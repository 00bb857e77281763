import { z } from 'zod'

/** How one HTTP try of an item ended (docs/architecture.md §2.2). */
export const OUTCOMES = ['succeeded', 'rejected', 'failed', 'unknown'] as const

export type Outcome = (typeof OUTCOMES)[number]

export const outcomeSchema = z.enum(OUTCOMES)

/** Sent requests, and how many of them ended in each way. */
export const requestsShape = {
  sent: z.int(),
  succeeded: z.int(),
  rejected: z.int(),
  failed: z.int(),
  unknown: z.int(),
}

interface StateEntry {
  /** Whether it ended with or without success, is `open`, or `unsent` because there is nothing to send. */
  kind: 'succeeded' | 'unsuccessful' | 'open' | 'unsent'
  /** Its name in counts, documents, exports and options, if it differs from the journal's. */
  name?: string
  /** Whether the count of `pending` includes its rows. */
  isCountedAsPending?: true
  /** For `unsent`: a person chose not to send them. Its count is absent if there are none. */
  isIntended?: true
  /** A sentence for newcomers, and a few words beside a count. */
  meaning: string
  note: string
  tone: CountTone
}

/** The meaning of a count: `odd` is unknown, `quiet` is still to come. */
export type CountTone = 'good' | 'bad' | 'warn' | 'odd' | 'accent' | 'quiet' | 'plain'

/**
 * The states of rows in the results table, in the order of a summary: the state of the row's item
 * (docs/architecture.md §8), or why it has none.
 */
export const ROW_STATES = {
  succeeded: {
    kind: 'succeeded',
    meaning: 'The service answered with a result.',
    note: '',
    tone: 'good',
  },
  rejected: {
    kind: 'unsuccessful',
    meaning: 'The service answered with an error.',
    note: 'the service answered an error',
    tone: 'warn',
  },
  failed: {
    kind: 'unsuccessful',
    meaning: 'Certainly not taken by the service: safe to send again.',
    note: 'not received by the service',
    tone: 'bad',
  },
  unknown: {
    kind: 'unsuccessful',
    meaning: 'No usable answer: it may have been sent and accepted, so sending it again may double it.',
    note: 'sent without a usable answer, may have been accepted',
    tone: 'odd',
  },
  overdue: {
    kind: 'unsuccessful',
    meaning: 'The service took it, and its callback did not arrive in time.',
    note: 'accepted, no result in time',
    tone: 'odd',
  },
  acknowledged: {
    kind: 'open',
    name: 'awaiting',
    meaning: 'The service took it; its callback is awaited.',
    note: 'accepted, waiting for the result',
    tone: 'accent',
  },
  invalid: {
    kind: 'unsent',
    meaning: 'The row has errors and is not sent.',
    note: 'failed the checks, not sent',
    tone: 'quiet',
  },
  left_out: {
    kind: 'unsent',
    isIntended: true,
    meaning: 'A correction leaves this row out: it is not sent.',
    note: 'left out by a fix of the plan',
    tone: 'quiet',
  },
  skipped: {
    kind: 'unsent',
    isIntended: true,
    meaning: 'An earlier run has sent it, and only new rows are to be sent.',
    note: 'sent before by an earlier run, not sent again',
    tone: 'quiet',
  },
  pending: {
    kind: 'open',
    name: 'not_sent',
    meaning: 'Nothing has been sent for this row yet.',
    note: 'not sent yet',
    tone: 'quiet',
  },
  sending: {
    kind: 'open',
    isCountedAsPending: true,
    meaning: 'The request is on its way.',
    note: '',
    tone: 'quiet',
  },
} as const satisfies Record<string, StateEntry>

type States = typeof ROW_STATES

export type RowState = keyof States

type StateKind = StateEntry['kind']

type StateOf<Kind extends StateKind> = {
  [State in RowState]: States[State]['kind'] extends Kind ? State : never
}[RowState]

export type ItemState = Exclude<RowState, StateOf<'unsent'>>

type NameOf<State extends RowState> = States[State] extends { name: infer Name } ? Name : State

/** A row state's name in documents, exports and options: the words of a summary's counts. */
export type StateName = { [State in RowState]: NameOf<State> }[RowState]

/** States of rows that a person chose not to send. */
export type LeftOutState = {
  [State in RowState]: States[State] extends { isIntended: true } ? State : never
}[RowState]

/** Counts that a summary lacks if there are no such rows. */
type OptionalCount = NameOf<LeftOutState>
export type CountName = {
  [State in RowState]: States[State] extends { isCountedAsPending: true } ? never : NameOf<State>
}[RowState]

const ENTRIES = Object.entries(ROW_STATES) as [RowState, StateEntry][]

export const rowStateSchema = z.enum(ENTRIES.map(([state]) => state))

/** The states of these kinds, in the order of a summary. */
export function listStates<Kind extends StateKind>(...kinds: Kind[]): StateOf<Kind>[] {
  return ENTRIES.flatMap(([state, { kind }]) =>
    kinds.some((one) => one === kind) ? [state as StateOf<Kind>] : [],
  )
}

export function isOfKind<Kind extends StateKind>(state: RowState, kind: Kind): state is StateOf<Kind> {
  return ROW_STATES[state].kind === kind
}

/** The states with a count of their own, and its name. */
export const COUNTED_STATES = ENTRIES.filter(([, { isCountedAsPending }]) => !isCountedAsPending).map(
  ([state, { kind, name = state, isIntended = false }]) => ({
    state,
    kind,
    count: name as CountName,
    isIntended,
  }),
)

/** The counts in the order of documents: first what could not be sent, last what can be absent. */
export const COUNTS = COUNTED_STATES.toSorted((a, b) => toPlace(a) - toPlace(b))

function toPlace({ kind, isIntended }: (typeof COUNTED_STATES)[number]): number {
  return isIntended ? 2 : kind === 'unsent' ? 0 : 1
}

export const UNSENT_COUNTS = COUNTS.filter(({ kind }) => kind === 'unsent')

/** The members of a summary's counts. */
export const countsShape = toShape(COUNTS) as { [Name in Exclude<CountName, OptionalCount>]: z.ZodInt } & {
  [Name in OptionalCount]: z.ZodExactOptional<z.ZodInt>
}

/** The members for rows that are not sent. */
export const unsentShape = toShape(UNSENT_COUNTS)

function toShape(counts: typeof COUNTS) {
  return Object.fromEntries(
    counts.map(({ count, isIntended }) => [count, isIntended ? z.int().exactOptional() : z.int()]),
  )
}

/** Rows by the names of their states; a summary has all except those of {@link OptionalCount}. */
type Counts = { [Name in Exclude<CountName, OptionalCount>]: number } & { [Name in OptionalCount]?: number }

/** How many rows are in states of these kinds. */
export function countRows(rows: Counts, ...kinds: StateKind[]): number {
  return COUNTED_STATES.reduce(
    (sum, { kind, count }) => sum + (kinds.includes(kind) ? (rows[count] ?? 0) : 0),
    0,
  )
}

export const LEFT_OUT_STATES = COUNTED_STATES.flatMap(({ state, isIntended }) =>
  isIntended ? [state as LeftOutState] : [],
)

/** How many rows are in each of {@link LEFT_OUT_STATES}. */
export function listLeftOut(
  rows: Pick<Counts, OptionalCount>,
): { state: LeftOutState; rows: number; note: string }[] {
  return LEFT_OUT_STATES.map((state) => ({ state, rows: rows[state] ?? 0, note: ROW_STATES[state].note }))
}

/** How many rows a person chose not to send. */
export function countLeftOut(rows: Pick<Counts, OptionalCount>): number {
  return LEFT_OUT_STATES.reduce((sum, state) => sum + (rows[state] ?? 0), 0)
}

export type ItemEvent =
  /** The journal has a durable mark that its request may be sent. */
  | 'claimed'
  /** The run stopped before its request was sent. */
  | 'released'
  /** A sync answer, or the callback of an async item, reported success. */
  | 'succeeded'
  /** An async item was accepted; its callback is awaited. */
  | 'acknowledged'
  /** The service answered with an error. */
  | 'rejected'
  /** Certainly not accepted, without a retry left. */
  | 'failed'
  /** Sent, and it is unknown whether it was accepted. */
  | 'lost'
  /** Certainly not accepted, or safe to repeat: goes back to the queue after its back-off. */
  | 'retry'
  /** No callback arrived in time. */
  | 'timed_out'
  | 'callback_succeeded'
  | 'callback_rejected'
  /** A callback arrived that belongs to another item, or does not tell the outcome. */
  | 'callback_inconclusive'
  /** A person decided to resend an unknown item. */
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
    callback_inconclusive: 'unknown',
    callback_succeeded: 'succeeded',
    callback_rejected: 'rejected',
  },
  overdue: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  unknown: { resend: 'pending', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  succeeded: {},
  // An earlier try may have been accepted anyway, as its callback then shows.
  rejected: { callback_succeeded: 'succeeded', key_replaced: 'pending' },
  failed: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
}

/**
 * The state of an item after an event, or null if the event has no meaning in that state, such as a doubled
 * callback or an acknowledgement after the callback. Such events change nothing; whoever receives them counts
 * them.
 */
export function nextItemState(state: ItemState, event: ItemEvent): ItemState | null {
  return TRANSITIONS[state][event] ?? null
}

export const UNSUCCESSFUL_STATES = listStates('unsuccessful')

/** Whether an item ended without success, or a row is invalid and was not sent. */
export function isUnsuccessful(state: RowState): boolean {
  const entry: StateEntry = ROW_STATES[state]
  return entry.kind === 'unsuccessful' || (entry.kind === 'unsent' && entry.isIntended !== true)
}

/** Whether only a new request could change the item. */
export function isSettled(state: ItemState): boolean {
  return !isOfKind(state, 'open')
}

/**
 * The service's answer for a row beyond success or error, in one word: the outcome of a term, or the status
 * of an appeal (docs/interface.md §2.6, §4.5, §4.6). `added_or_pre_existing` is pre-existing after a try
 * without an answer, which may have added the term. `reviewed` is a judgment that is neither overturned nor
 * upheld, `other_status` a status or judgment that the interface does not list. `no_result` is a task's
 * answer or callback that says nothing of the content, such as an acknowledgement; one with `missing_models`
 * lacks a model that was requested; `shared_task` repeats nothing of its request and names the task of
 * another row. For an async item: whether its callbacks differ, or one of them could not be read, names
 * another post, or may belong to what was sent before a correction. `meaning` is for newcomers.
 */
export const ROW_ANSWERS = {
  added: { word: 'added', meaning: 'The term is new in the watchlist.' },
  pre_existing: {
    word: 'pre-existing',
    meaning: 'The term was in the watchlist already; its notes were overwritten.',
  },
  added_or_pre_existing: {
    word: 'added or pre-existing',
    meaning: 'An earlier try got no answer about the term, so nobody knows whether this run added it.',
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
    meaning: 'The service answers with a status or a judgment that Sluice does not know.',
  },
  no_result: {
    word: 'no result',
    meaning: 'The answer has neither rules nor scores, so nothing says whether a rule triggered.',
  },
  missing_models: {
    word: 'models missing',
    meaning: 'The answer lacks a model that was requested, so nothing says whether its rules triggered.',
  },
  shared_task: {
    word: 'task of another row',
    meaning:
      'The answer names the task of another row and repeats nothing of its own, so it may be the other’s.',
  },
  differing_callbacks: {
    word: 'callbacks differ',
    meaning: 'More than one callback came, and they do not say the same. A result counts more than an error.',
  },
  unreadable_callback: {
    word: 'unreadable callback',
    meaning: 'A callback came that could not be read, or does not tell the outcome.',
  },
  callback_of_other_post: {
    word: 'names another post',
    meaning: 'A callback at the address of this row names another post or item, and settles nothing.',
  },
  callback_in_doubt: {
    word: 'callback in doubt',
    meaning: 'The callback may answer what was sent before a correction: nothing in it tells.',
  },
}

export type RowAnswer = keyof typeof ROW_ANSWERS

/** Every answer, in display order. */
export const ROW_ANSWER_NAMES = Object.keys(ROW_ANSWERS) as [RowAnswer, ...RowAnswer[]]

export const rowAnswerSchema = z.enum(ROW_ANSWER_NAMES)

/** The words for an answer, or for another name that stands in its place. */
export function toAnswerWords(name: string): string {
  return Object.hasOwn(ROW_ANSWERS, name) ? ROW_ANSWERS[name as RowAnswer].word : name.replaceAll('_', ' ')
}

/** Answers that say how the answer or the callbacks of a row came, not what became of it. */
export const DELIVERY_ANSWERS = [
  'shared_task',
  'differing_callbacks',
  'unreadable_callback',
  'callback_of_other_post',
  'callback_in_doubt',
] as const satisfies RowAnswer[]

const APPEAL_ANSWERS: readonly RowAnswer[] = ['in_review', 'reviewed', 'overturned', 'upheld', 'other_status']

/** Whether an answer is the status of an appeal; the others are outcomes of terms. */
export function isAppealAnswer(answer: RowAnswer): boolean {
  return APPEAL_ANSWERS.includes(answer)
}
