import type { z } from 'zod'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { ServiceErrorBody } from '../../shared/service/errors.ts'
import { isJsonObject } from '../../shared/service/json-object.ts'

/** The sandbox's error codes: those of docs/interface.md §7.1, and its own where the interface shows none. */
export const SANDBOX_ERRORS = {
  PARAM_REQUIRED: 400,
  INVALID_PARAM: 400,
  INVALID_JSON: 400,
  DUPLICATE_POST_ID: 400,
  INVALID_CUSTOM_INDEX: 400,
  REQUIRE_AT_LEAST_ONE_PARAM: 400,
  INVALID_CUSTOM_INDEX_ITEM: 400,
  INVALID_WATCHLIST: 400,
  INVALID_APPEAL: 400,
  INVALID_API_KEY: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  CHANGED_MEANWHILE: 412,
  BODY_TOO_LARGE: 413,
  TOO_MANY_TERMS: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNKNOWN_HOST: 421,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  CALLBACK_QUEUE_FULL: 503,
} as const satisfies Record<string, number>

export type SandboxErrorCode = keyof typeof SANDBOX_ERRORS

/** A refused request: routes throw it, and the server answers it in the shape of docs/interface.md §7. */
export class SandboxRefusal extends Error {
  readonly errorCode: SandboxErrorCode
  /** Seconds for the Retry-After header; null for none. */
  readonly retryAfterS: number | null

  constructor(errorCode: SandboxErrorCode, message: string, { retryAfterS }: { retryAfterS?: number } = {}) {
    super(message)
    this.name = 'SandboxRefusal'
    this.errorCode = errorCode
    this.retryAfterS = retryAfterS ?? null
  }
}

/** Creates an error body in the shape of docs/interface.md §7. */
export function toErrorBody(status: number, errorCode: string, message: string): ServiceErrorBody {
  return { error: true, status, error_code: errorCode, message, show_alert: false }
}

/** Creates the `BAD_USAGE` error for an invalid setting. */
export function toBadSetting(
  what: 'callbacks' | 'latency' | 'fault',
  found: string,
  expected: string,
  help: string,
): SluiceError {
  return new SluiceError({ id: 'sandbox_setting_malformed', what, found, expected, help })
}

/** Turns anything thrown into a refusal; unexpected errors become `INTERNAL_ERROR`. */
export function toRefusal(error: unknown): SandboxRefusal {
  if (error instanceof SandboxRefusal) return error
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null
  if (status === 415) {
    return new SandboxRefusal('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type must be application/json')
  }
  if (error instanceof Error && typeof status === 'number' && status >= 400 && status < 500) {
    return new SandboxRefusal('INVALID_PARAM', error.message)
  }
  return new SandboxRefusal('INTERNAL_ERROR', 'the sandbox failed on this request')
}

/** All problems of a value in one line: `user_id: is required; group_id: must be distinct from …`. */
export function formatIssues(issues: readonly z.core.$ZodIssue[], value: unknown): string {
  return issues
    .map((issue) => {
      const path = issue.path.join('.')
      const message = isMissing(issue, value) ? 'is required' : issue.message
      return path === '' ? message : `${path}: ${message}`
    })
    .join('; ')
}

/** Whether the issue is a missing field. */
function isMissing(issue: z.core.$ZodIssue, value: unknown): boolean {
  if (issue.code !== 'invalid_type') return false
  let found = value
  for (const key of issue.path) found = isJsonObject(found) ? found[String(key)] : undefined
  return found === undefined
}
