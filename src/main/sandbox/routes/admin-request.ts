import { z } from 'zod'
import { toReceivedJson } from '../answer-request.ts'
import { formatIssues, SandboxRefusal } from '../sandbox-errors.ts'

/** Checks the body of an admin request; a missing body counts as `{}`. Refuses with `INVALID_PARAM`. */
export function parseAdminBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const value = toReceivedJson(body)?.value ?? {}
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new SandboxRefusal('INVALID_PARAM', formatIssues(parsed.error.issues, value))
}

/** The requested page of a list, in the query. */
export const pageSchema = z.object({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(10_000).default(100),
})

/** Checks the query of an admin request. Refuses with `INVALID_PARAM`. */
export function parseAdminQuery<Schema extends z.ZodType>(schema: Schema, query: unknown): z.output<Schema> {
  const parsed = schema.safeParse(query)
  if (parsed.success) return parsed.data
  throw new SandboxRefusal('INVALID_PARAM', z.prettifyError(parsed.error))
}
