import type { z } from 'zod'
import { formatIssues } from '../format-issues.ts'
import { toReceivedJson } from '../json-body.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'

/** Checks the body of an admin request; one without a body counts as `{}`. Refuses with `INVALID_PARAM`. */
export function parseAdminBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const value = toReceivedJson(body)?.value ?? {}
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new SandboxRefusal('INVALID_PARAM', formatIssues(parsed.error.issues, value))
}
