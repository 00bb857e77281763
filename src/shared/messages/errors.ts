import { type ErrorCode, EXIT, type ExitCode } from './error-entry.ts'
import { type ErrorMessage, findErrorEntry, sayError } from './error-messages.ts'
import { findDiskTrouble, toThrownText } from './thrown.ts'

type OmitReason<Said> = Said extends { reason: string } ? Omit<Said, 'reason'> : never

/**
 * A failure that a person can act on, as a catalogue id with its arguments. {@link sayError} words it where
 * it is read; `message` and `hint` have the command line's words. Never holds a secret.
 */
export class SluiceError extends Error {
  /** Crosses threads, sockets and pipes as JSON; `new SluiceError(said)` restores the error. */
  readonly said: ErrorMessage

  constructor(said: ErrorMessage, options: { cause?: unknown } = {}) {
    super(sayError(said, 'terminal').message, options.cause === undefined ? undefined : options)
    this.name = 'SluiceError'
    this.said = said
  }

  /** The error that another thrown value caused, with that value's text as the reason. */
  static because(cause: unknown, said: OmitReason<ErrorMessage>): SluiceError {
    return new SluiceError({ ...said, reason: toThrownText(cause) } as ErrorMessage, { cause })
  }

  /** The stable code, as in documents. */
  get code(): ErrorCode {
    return findErrorEntry(this.said).code
  }

  /** What to do about it. */
  get hint(): string {
    return sayError(this.said, 'terminal').hint
  }

  /** The exit code of a command that fails with it. */
  get exitCode(): ExitCode {
    return EXIT[findErrorEntry(this.said).exit ?? 'badInput']
  }
}

/** Turns anything thrown into a `SluiceError`: `INTERNAL` if unexpected, unless a disk failed. */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  const disk = findDiskTrouble(error)
  if (disk !== null) {
    return new SluiceError({ id: 'disk_failed', reason: toThrownText(error), disk }, { cause: error })
  }
  return new SluiceError({ id: 'unexpected', reason: toThrownText(error) }, { cause: error })
}

/** Anything thrown in the form that crosses boundaries. */
export function toErrorMessage(error: unknown): ErrorMessage {
  return toSluiceError(error).said
}
