import { SandboxRefusal } from './sandbox-errors.ts'

/** What the sandbox refuses a request with, whatever was thrown; the unexpected becomes `INTERNAL_ERROR`. */
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
