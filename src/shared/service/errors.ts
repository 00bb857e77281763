import { z } from 'zod'
import type { ShownError } from '../operations/operation-entry.ts'
import { OPERATION_KINDS, OPERATIONS, type OperationKind } from '../operations/operations.ts'
import { isJsonObject, toTextOrNull } from './json-object.ts'

/** The error body, returned with the HTTP status that equals its `status` (docs/interface.md §7). */
export const serviceErrorSchema = z.looseObject({
  error: z.literal(true),
  status: z.int(),
  error_code: z.string(),
  message: z.string(),
  /** False in every case. */
  show_alert: z.boolean(),
})

export type ServiceErrorBody = z.infer<typeof serviceErrorSchema>

/** Code of an answer to a key that matches no application (docs/interface.md §5.7, §7). */
export const INVALID_API_KEY = 'INVALID_API_KEY'

/** An entry of the error table (docs/interface.md §7). */
export interface ServiceErrorEntry extends ShownError {
  operation: OperationKind
}

/** The errors documented in docs/interface.md §7.1; those of task submission are not documented. */
export const SERVICE_ERRORS: readonly ServiceErrorEntry[] = OPERATION_KINDS.flatMap((operation) =>
  OPERATIONS[operation].errors.map((error) => ({ operation, ...error })),
)

/** The content of an error answer; null for missing parts. */
export interface ServiceError {
  status: number | null
  errorCode: string | null
  message: string | null
}

/**
 * Reads the body of an answer with an error status (docs/interface.md §7), or of a gateway's answer in its
 * place, if it has an `error_code`, a `message` or an `error`. Returns null if it has none.
 */
export function readServiceError(body: unknown): ServiceError | null {
  if (!isJsonObject(body)) return null
  const errorCode = toTextOrNull(body['error_code'])
  const message = toTextOrNull(body['message']) ?? toTextOrNull(body['error'])
  if (errorCode === null && message === null && body['error'] !== true) return null
  const status = body['status']
  return { status: typeof status === 'number' ? status : null, errorCode, message }
}

/** Whether a body reports an error whatever the HTTP status: `error` is true (docs/interface.md §7). */
export function isServiceErrorBody(body: unknown): boolean {
  return isJsonObject(body) && body['error'] === true
}

/**
 * Whether an answer says that the key is wrong: by its code with any status, since there are two pairings
 * (docs/interface.md §7.2); or by status 401 or 403, unless the interface documents the code for something
 * else.
 */
export function isKeyRefusal(status: number | null, errorCode: string | null): boolean {
  if (errorCode === INVALID_API_KEY) return true
  return (status === 401 || status === 403) && !SERVICE_ERRORS.some((entry) => entry.errorCode === errorCode)
}
