import { ORPCError, ValidationError } from '@orpc/server'
import { toBridgeError } from '../../shared/bridge/errors.ts'
import { SluiceError, toSluiceError } from '../../shared/messages/errors.ts'

/** Turns whatever a handler threw into one of the contract's errors. What was typed in appears in none of them. */
export function toReportedError(error: unknown): Error {
  if (error instanceof ORPCError) {
    if (error.defined) return error
    return toBridgeError(toSluiceError(toCallError(error)))
  }
  return toBridgeError(toSluiceError(error))
}

function toCallError(error: ORPCError<string, unknown>): Error {
  const { cause } = error
  if (error.code !== 'BAD_REQUEST' || !(cause instanceof ValidationError)) return error
  const faults = cause.issues.map(({ path, message }) => {
    const name = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return name === '' ? message : `${name}: ${message}`
  })
  return new SluiceError({ id: 'request_invalid', faults })
}

/** Passes events on, and what ends them as one of the contract's errors. */
export async function* withBridgeErrors<T>(events: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* events
  } catch (error) {
    throw toReportedError(error)
  }
}
