import { ORPCError } from '@orpc/contract'
import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../messages/error-entry.ts'
import { type ErrorMessage, isErrorMessage, sayError, type WordedError } from '../messages/error-messages.ts'
import { SluiceError } from '../messages/errors.ts'
import { toThrownText } from '../messages/thrown.ts'

/** What an error carries besides its code: the catalogue's entry, which each surface puts into words. */
export const errorDataSchema = z.object({ said: z.custom<ErrorMessage>(isErrorMessage) })

/** An error as every procedure declares it. */
interface BridgeErrorItem {
  status: number
  data: typeof errorDataSchema
}

const STATUSES: Partial<Record<ErrorCode, number>> = {
  RUN_NOT_FOUND: 404,
  RUN_NOT_HELD: 409,
  RUN_BUSY: 409,
  RUN_NOT_RESUMABLE: 409,
  WORKSPACE_UNUSABLE: 500,
  DISK_FULL: 507,
  FILE_UNWRITABLE: 500,
  SANDBOX_UNAVAILABLE: 503,
  RECEIVER_UNAVAILABLE: 503,
  CONNECTION_NOT_FOUND: 404,
  NOT_CONFIRMED: 403,
  INTERNAL: 500,
}

/** The errors of every procedure: stable codes, each with an error of the catalogue. */
export const BRIDGE_ERRORS = Object.fromEntries(
  ERROR_CODES.map((code): [ErrorCode, BridgeErrorItem] => [
    code,
    { status: STATUSES[code] ?? 400, data: errorDataSchema },
  ]),
) as Record<ErrorCode, BridgeErrorItem>

export function toBridgeError({
  code,
  message,
  said,
}: SluiceError): ORPCError<ErrorCode, z.infer<typeof errorDataSchema>> {
  const { status } = BRIDGE_ERRORS[code]
  return new ORPCError(code, { defined: true, status, message, data: { said } })
}

/** Reads what a call of the bridge threw; null for other errors, such as a lost connection. */
export function parseBridgeError(error: unknown): SluiceError | null {
  if (!(error instanceof ORPCError)) return null
  const data = errorDataSchema.safeParse(error.data)
  return data.success ? new SluiceError(data.data.said) : null
}

/** What a window shows of a failed call: the error in its words, or that the connection was lost. */
export function toShownError(error: unknown): WordedError {
  return sayError(toMessage(error), 'window')
}

function toMessage(error: unknown): ErrorMessage {
  const known = error instanceof SluiceError ? error : parseBridgeError(error)
  if (known !== null) return known.said
  // Calls that are cut off by a lost connection fail with the transport's own error.
  if (error instanceof Error && error.name === 'AbortError') return { id: 'engine_lost' }
  return { id: 'call_failed', reason: toThrownText(error) }
}
