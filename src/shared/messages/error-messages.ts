import { COMMAND_LINE_MESSAGES } from './command-line-messages.ts'
import { chooseWording, type ErrorCode, type ErrorEntry, ofFailure, type Surface } from './error-entry.ts'
import { EXPORT_MESSAGES } from './export-messages.ts'
import { LOAD_MESSAGES } from './load-messages.ts'
import { LOOKBACK_MESSAGES } from './lookback-messages.ts'
import { MAPPING_MESSAGES } from './mapping-messages.ts'
import { PRODUCTION_MESSAGES } from './production-messages.ts'
import { RECEIVER_MESSAGES } from './receiver-messages.ts'
import { RUN_MESSAGES } from './run-messages.ts'
import { SANDBOX_MESSAGES } from './sandbox-messages.ts'
import { SERVICE_MESSAGES } from './service-messages.ts'
import { SOURCE_MESSAGES, saySourceProblem } from './source-messages.ts'
import { SQL_MESSAGES } from './sql-messages.ts'
import { WINDOW_MESSAGES } from './window-messages.ts'
import { WORKSPACE_MESSAGES } from './workspace-messages.ts'

/** Every error that a person may read, from one file for each area. */
export const ERROR_MESSAGES = {
  ...ofFailure('INTERNAL', {
    unexpected: ({ reason }: { reason: string }) => ({
      text: `unexpected error: ${reason}`,
      remedy: {
        terminal:
          'This is a bug in Sluice. Everything recorded so far is kept, so an interrupted run can be resumed. To see where it happened, set SLUICE_DEBUG=1 and try again.',
        window:
          'This is a bug in Sluice. Everything recorded so far is kept, so an interrupted run can be resumed.',
      },
    }),
  }),
  ...WORKSPACE_MESSAGES,
  ...SOURCE_MESSAGES,
  ...MAPPING_MESSAGES,
  ...SERVICE_MESSAGES,
  ...RECEIVER_MESSAGES,
  ...RUN_MESSAGES,
  ...LOAD_MESSAGES,
  ...EXPORT_MESSAGES,
  ...LOOKBACK_MESSAGES,
  ...SQL_MESSAGES,
  ...COMMAND_LINE_MESSAGES,
  ...PRODUCTION_MESSAGES,
  ...WINDOW_MESSAGES,
  ...SANDBOX_MESSAGES,
} satisfies Record<string, ErrorEntry>

export type ErrorId = keyof typeof ERROR_MESSAGES

type ArgsOf<Entry> = Entry extends { words: (args: infer Args, ...rest: never[]) => unknown } ? Args : never

/** What is wrong, as a catalogue id and its arguments: plain JSON, which can cross every boundary. */
export type ErrorMessage = { [Id in ErrorId]: { id: Id } & ArgsOf<(typeof ERROR_MESSAGES)[Id]> }[ErrorId]

/** An error in words, as a person reads it. */
export interface WordedError {
  code: ErrorCode
  /** What failed, for what, what was expected and what was found. */
  message: string
  /** The message without its causes, if there are several; otherwise the message. */
  title: string
  causes: readonly string[]
  /** What to do about it. */
  hint: string
}

export function findErrorEntry({ id }: Pick<ErrorMessage, 'id'>): ErrorEntry {
  return ERROR_MESSAGES[id]
}

/** The words of an error for one surface. `sluice` is what to type there before a Sluice command. */
export function sayError(message: ErrorMessage, surface: Surface, sluice = 'sluice'): WordedError {
  const { code, words } = findErrorEntry(message)
  const { text, causes: worded = [], remedy } = words(message as never, sluice)
  const title = chooseWording(text, surface)
  const causes = worded.map((cause) => chooseWording(cause, surface))
  return {
    code,
    message: causes.length === 0 ? title : `${title}: ${causes.join('; ')}`,
    title,
    causes,
    hint: chooseWording(remedy, surface),
  }
}

/** Whether a value from another process is an error of the catalogue. */
export function isErrorMessage(value: unknown): value is ErrorMessage {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    typeof value.id === 'string' &&
    Object.hasOwn(ERROR_MESSAGES, value.id)
  )
}

/** An error about a source with a person's name for it instead of its path; other errors are unchanged. */
export function renameSource(said: ErrorMessage, source: string): ErrorMessage {
  return saySourceProblem(said) === null ? said : ({ ...said, source } as ErrorMessage)
}
