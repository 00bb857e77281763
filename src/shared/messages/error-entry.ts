/** The exit code of a failed command or call. */
export const EXIT = {
  /** Every row succeeded; for a load test, every threshold held. */
  ok: 0,
  /** The run ended with rows that did not succeed, or stopped itself. */
  rowsFailed: 1,
  /** Bad usage, plan or source; nothing was sent. */
  badInput: 2,
  /** A check can neither pass nor fail. */
  notJudged: 98,
  /** A threshold was crossed. */
  thresholdCrossed: 99,
  /** Interrupted by the person; resumable. */
  interrupted: 130,
} as const

/** One of {@link EXIT}'s numbers. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Stable codes of errors that cross a boundary: worker to main, main to window, command line to shell. */
export const ERROR_CODES = [
  'BAD_USAGE',
  'BAD_PLAN',
  'BAD_SOURCE',
  'NO_API_KEY',
  'RUN_NOT_FOUND',
  'RUN_NOT_HELD',
  'RUN_BUSY',
  'RUN_NOT_RESUMABLE',
  'WORKSPACE_UNUSABLE',
  'DISK_FULL',
  'FILE_UNWRITABLE',
  'SANDBOX_UNAVAILABLE',
  'RECEIVER_UNAVAILABLE',
  'CONNECTION_NOT_FOUND',
  'NOT_CONFIRMED',
  'INTERNAL',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** Where words are read: in a terminal, where options and commands can be typed, or in the window. */
export type Surface = 'terminal' | 'window'

/** Words for both surfaces alike, or for each its own. */
export type Wording = string | Record<Surface, string>

export interface ErrorWords {
  /** What failed, on what, what was expected and what was found. */
  text: Wording
  /** Several causes of what `text` says, if there are several. */
  causes?: readonly Wording[]
  /** What to do about it. */
  remedy: Wording
}

/** An error of the catalogue: its stable code, what a command exits with, and its words. */
export interface ErrorEntry {
  code: ErrorCode
  /** `badInput` unless given. */
  exit?: keyof typeof EXIT
  /** `sluice` is what to type before a command of ours. */
  words: (args: never, sluice: string) => ErrorWords
}

type Words = ErrorEntry['words']

/** Entries of one code, given the words of each by its id. What exits with another code than others has an entry of its own. */
export function ofCode<Ids extends Record<string, Words>>(code: ErrorCode, ids: Ids) {
  const entries = Object.entries(ids).map(([id, words]) => [id, { code, words }])
  return Object.fromEntries(entries) as { [Id in keyof Ids]: { code: ErrorCode; words: Ids[Id] } }
}

/** The same of what ends a run or a command that had begun to do something. */
export function ofFailure<Ids extends Record<string, Words>>(code: ErrorCode, ids: Ids) {
  const entries = Object.entries(ids).map(([id, words]) => [id, { code, exit: 'rowsFailed', words }])
  return Object.fromEntries(entries) as {
    [Id in keyof Ids]: { code: ErrorCode; exit: 'rowsFailed'; words: Ids[Id] }
  }
}

export function chooseWording(wording: Wording, surface: Surface): string {
  return typeof wording === 'string' ? wording : wording[surface]
}
