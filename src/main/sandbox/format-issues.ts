import type { z } from 'zod'
import { isJsonObject } from '../../shared/service/json-object.ts'

/** Everything that is wrong with a value, in one line: `user_id: is required; group_id: must be distinct from …`. */
export function formatIssues(issues: readonly z.core.$ZodIssue[], value: unknown): string {
  return issues
    .map((issue) => {
      const path = issue.path.join('.')
      const message = isMissing(issue, value) ? 'is required' : issue.message
      return path === '' ? message : `${path}: ${message}`
    })
    .join('; ')
}

/** Whether the issue is about a field that is not there. */
function isMissing(issue: z.core.$ZodIssue, value: unknown): boolean {
  if (issue.code !== 'invalid_type') return false
  let found = value
  for (const key of issue.path) found = isJsonObject(found) ? found[String(key)] : undefined
  return found === undefined
}
