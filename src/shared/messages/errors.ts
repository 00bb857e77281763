import { type ErrorCode, EXIT, type ExitCode } from './error-entry.ts'
import { type ErrorMessage, findErrorEntry, sayError } from './error-messages.ts'
import { findDiskTrouble, toThrownText } from './thrown.ts'

type OmitReason<Said> = Said extends { reason: string } ? Omit<Said, 'reason'> : never

/** An error of the catalogue whose words have a reason, without it. */
type WithoutReason = OmitReason<ErrorMessage>

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

  /** The error that something thrown led to: its words give what was thrown as the reason. */
  static because(cause: unknown, said: WithoutReason): SluiceError {
    return new SluiceError({ ...said, reason: toThrownText(cause) } as ErrorMessage, { cause })
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

/** Makes a `SluiceError` of anything thrown; what nobody expected becomes `INTERNAL`, unless a disk is what failed. */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  const disk = findDiskTrouble(error)
  if (disk !== null) {
    return new SluiceError({ id: 'disk_failed', reason: toThrownText(error), disk }, { cause: error })
  }
  return new SluiceError({ id: 'unexpected', reason: toThrownText(error) }, { cause: error })
}

/** What anything thrown says, in the form that crosses a boundary. */
export function toErrorMessage(error: unknown): ErrorMessage {
  return toSluiceError(error).said
}
