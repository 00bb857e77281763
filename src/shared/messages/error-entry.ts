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
  /** Interrupted by a person; resumable. */
  interrupted: 130,
} as const

/** One of {@link EXIT}'s numbers. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Stable codes of errors that cross a boundary: from worker to main process, to window, or to shell. */
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

/** Where words are read: in a terminal, whose user can type options and commands, or in the window. */
export type Surface = 'terminal' | 'window'

/** Words for both surfaces, or one text for each. */
export type Wording = string | Record<Surface, string>

export interface ErrorWords {
  /** What failed, for what, what was expected and what was found. */
  text: Wording
  /** The causes of what `text` says, if there are several. */
  causes?: readonly Wording[]
  /** What to do about it. */
  remedy: Wording
}

/** An error of the catalogue: its stable code, a command's exit code, and its words. */
export interface ErrorEntry {
  code: ErrorCode
  /** Default: `badInput`. */
  exit?: keyof typeof EXIT
  /** `sluice` is what to type before a Sluice command. */
  words: (args: never, sluice: string) => ErrorWords
}

type Words = ErrorEntry['words']

/** Entries with one code, given the words of each by id. Errors with their own exit code are separate. */
export function ofCode<Ids extends Record<string, Words>>(code: ErrorCode, ids: Ids) {
  const entries = Object.entries(ids).map(([id, words]) => [id, { code, words }])
  return Object.fromEntries(entries) as { [Id in keyof Ids]: { code: ErrorCode; words: Ids[Id] } }
}

/** The same for errors that end a run or a command after it has begun to do something. */
export function ofFailure<Ids extends Record<string, Words>>(code: ErrorCode, ids: Ids) {
  const entries = Object.entries(ids).map(([id, words]) => [id, { code, exit: 'rowsFailed', words }])
  return Object.fromEntries(entries) as {
    [Id in keyof Ids]: { code: ErrorCode; exit: 'rowsFailed'; words: Ids[Id] }
  }
}

export function chooseWording(wording: Wording, surface: Surface): string {
  return typeof wording === 'string' ? wording : wording[surface]
}
