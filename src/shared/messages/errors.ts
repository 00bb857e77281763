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

/** What a {@link SluiceError} becomes when it crosses a thread, a socket or a pipe. */
export interface ErrorDocument {
  code: ErrorCode
  /** What failed, on what, what was expected and what was found. */
  message: string
  /** What to do about it. */
  hint: string
  exitCode: ExitCode
}

/** A failure that a person can act on: says what, where, expected, found, and what to do. Never holds a secret. */
export class SluiceError extends Error {
  readonly code: ErrorCode
  readonly hint: string
  readonly exitCode: ExitCode

  constructor(document: {
    code: ErrorCode
    message: string
    hint: string
    exitCode?: ExitCode
    cause?: unknown
  }) {
    super(document.message, document.cause === undefined ? undefined : { cause: document.cause })
    this.name = 'SluiceError'
    this.code = document.code
    this.hint = document.hint
    this.exitCode = document.exitCode ?? EXIT.badInput
  }
}

/** Turns anything thrown into a document that can cross a boundary; an unexpected error becomes `INTERNAL`. */
export function toErrorDocument(error: unknown): ErrorDocument {
  if (error instanceof SluiceError) {
    return { code: error.code, message: error.message, hint: error.hint, exitCode: error.exitCode }
  }
  return {
    code: 'INTERNAL',
    message: `unexpected error: ${toThrownText(error)}`,
    hint: 'This is a bug in Sluice; the journal is intact, so the run can be resumed. Set SLUICE_DEBUG=1 to see where it happened.',
    exitCode: EXIT.rowsFailed,
  }
}

/** Turns a document that crossed a boundary back into the error it was. */
export function fromErrorDocument(document: ErrorDocument): SluiceError {
  return new SluiceError(document)
}
