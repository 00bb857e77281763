import { type ErrorMessage, findErrorEntry, sayError } from './error-messages.ts'
import { toThrownText } from './thrown.ts'

/** The exit code of a failed command or call. */
export const EXIT = {
  /** Every row succeeded; for a load test, every threshold held. */
  ok: 0,
  /** The run ended with rows that did not succeed, or stopped itself. */
  rowsFailed: 1,
  /** Bad usage, plan or source; nothing was sent. */
  badInput: 2,
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

/** One of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * A failure that a person can act on, as an id of the catalogue and its arguments. It becomes words where it is read:
 * see {@link sayError}. `message` and `hint` have those of the command line. Never holds a secret.
 */
export class SluiceError extends Error {
  /** Crosses threads, sockets and pipes as JSON; `new SluiceError(said)` makes the same error of it. */
  readonly said: ErrorMessage

  constructor(said: ErrorMessage, options: { cause?: unknown } = {}) {
    super(sayError(said, 'terminal').message, options.cause === undefined ? undefined : options)
    this.name = 'SluiceError'
    this.said = said
  }

  /** The stable code, which documents carry. */
  get code(): ErrorCode {
    return findErrorEntry(this.said).code
  }

  /** What to do about it. */
  get hint(): string {
    return sayError(this.said, 'terminal').hint
  }

  /** What a command that fails so exits with. */
  get exitCode(): ExitCode {
    return EXIT[findErrorEntry(this.said).exit ?? 'badInput']
  }
}

/** Makes a `SluiceError` of anything thrown; what nobody expected becomes `INTERNAL`. */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return new SluiceError({ id: 'unexpected', reason: toThrownText(error) }, { cause: error })
}

/** What anything thrown says, in the form that crosses a boundary. */
export function toErrorMessage(error: unknown): ErrorMessage {
  return toSluiceError(error).said
}
