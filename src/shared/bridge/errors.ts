import { ORPCError } from '@orpc/contract'
import { z } from 'zod'
import { ERROR_CODES, type ErrorCode, type ErrorDocument, EXIT } from '../messages/errors.ts'

const exitCodes = Object.values(EXIT)

/** What an error of the bridge carries in addition to its code and its message. */
export const errorDataSchema = z.object({
  /** What to do about it. */
  hint: z.string(),
  exitCode: z.literal(exitCodes),
})

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

/** The errors of every procedure: our stable codes, each with a message and a hint. */
export const BRIDGE_ERRORS = Object.fromEntries(
  ERROR_CODES.map((code): [ErrorCode, BridgeErrorItem] => [
    code,
    { status: STATUSES[code] ?? 400, data: errorDataSchema },
  ]),
) as Record<ErrorCode, BridgeErrorItem>

/** Puts an error document into the form that crosses the bridge. */
export function toBridgeError(
  document: ErrorDocument,
): ORPCError<ErrorCode, z.infer<typeof errorDataSchema>> {
  const { code, message, hint, exitCode } = document
  const { status } = BRIDGE_ERRORS[code]
  return new ORPCError(code, { defined: true, status, message, data: { hint, exitCode } })
}

/** Reads what a call of the bridge threw; null where it is none of our errors, such as a lost connection. */
export function parseBridgeError(error: unknown): ErrorDocument | null {
  if (!(error instanceof ORPCError)) return null
  const code = ERROR_CODES.find((known) => known === error.code)
  const data = errorDataSchema.safeParse(error.data)
  if (code === undefined || !data.success) return null
  return { code, message: error.message, ...data.data }
}
