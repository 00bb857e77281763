import type { ServiceErrorBody } from '../../shared/service/errors.ts'

/** The errors that the sandbox answers: those of docs/interface.md §7.1, and its own where none is shown. */
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
  BODY_TOO_LARGE: 413,
  TOO_MANY_TERMS: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNKNOWN_HOST: 421,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  CALLBACK_QUEUE_FULL: 503,
} as const satisfies Record<string, number>

/** One of {@link SANDBOX_ERRORS}. */
export type SandboxErrorCode = keyof typeof SANDBOX_ERRORS

/**
 * A request that the sandbox refuses: its route throws it, the server answers it in the shape of docs/interface.md §7.
 */
export class SandboxRefusal extends Error {
  readonly errorCode: SandboxErrorCode
  /** Seconds of the Retry-After header; null for none. */
  readonly retryAfterS: number | null

  constructor(errorCode: SandboxErrorCode, message: string, { retryAfterS }: { retryAfterS?: number } = {}) {
    super(message)
    this.name = 'SandboxRefusal'
    this.errorCode = errorCode
    this.retryAfterS = retryAfterS ?? null
  }
}

/** An error body in the shape of docs/interface.md §7. */
export function toErrorBody(status: number, errorCode: string, message: string): ServiceErrorBody {
  return { error: true, status, error_code: errorCode, message, show_alert: false }
}
