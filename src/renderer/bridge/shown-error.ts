import { parseBridgeError } from '../../shared/bridge/errors.ts'
import { type ErrorDocument, EXIT, SluiceError, toErrorDocument } from '../../shared/messages/errors.ts'
import { toThrownText } from '../../shared/messages/thrown.ts'
import { toWindowWords } from './window-words.ts'

/** What a failed call is shown as: its own message and what to do, or that the connection was lost. */
export function toShownError(error: unknown): ErrorDocument {
  const known = parseBridgeError(error)
  if (known !== null) return toWindowWords(known)
  if (error instanceof SluiceError) return toWindowWords(toErrorDocument(error))
  // A call that the lost connection cut off ends in the words of the transport.
  if (error instanceof Error && error.name === 'AbortError') {
    return {
      code: 'INTERNAL',
      message: 'The connection to Sluice was lost',
      hint: 'If Sluice was stopped, start it again. Runs that were cut off can be resumed.',
      exitCode: EXIT.rowsFailed,
    }
  }
  return {
    code: 'INTERNAL',
    message: toThrownText(error),
    hint: 'Try again. If Sluice was stopped, start it again; a run that was cut off can be resumed.',
    exitCode: EXIT.rowsFailed,
  }
}
