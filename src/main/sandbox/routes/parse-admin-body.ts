import type { z } from 'zod'
import { toReceivedJson } from '../json-body.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'

/** Checks the body of an admin request; one without a body counts as `{}`. Refuses with `INVALID_PARAM`. */
export function parseAdminBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(toReceivedJson(body)?.value ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`)
  throw new SandboxRefusal('INVALID_PARAM', problems.join('; '))
}
