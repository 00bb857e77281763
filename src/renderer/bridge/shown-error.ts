import { parseBridgeError } from '../../shared/bridge/errors.ts'
import { type ErrorMessage, sayError, type WordedError } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrownText } from '../../shared/messages/thrown.ts'

/** What a failed call is shown as: its own words for the window, or that the connection was lost. */
export function toShownError(error: unknown): WordedError {
  return sayError(toMessage(error), 'window')
}

function toMessage(error: unknown): ErrorMessage {
  const known = error instanceof SluiceError ? error : parseBridgeError(error)
  if (known !== null) return known.said
  // A call that the lost connection cut off ends in the words of the transport.
  if (error instanceof Error && error.name === 'AbortError') return { id: 'engine_lost' }
  return { id: 'call_failed', reason: toThrownText(error) }
}
