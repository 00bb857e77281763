import { isJsonObject } from '../../shared/service/json-object.ts'
import { findModel } from '../../shared/service/models.ts'
import { type TaskRequest, taskRequestSchema } from '../../shared/service/tasks.ts'
import { formatIssues } from './format-issues.ts'
import { SandboxRefusal } from './sandbox-errors.ts'

/**
 * Checks a v1 task (interface §2.1). Refuses it with `PARAM_REQUIRED` where a required field is missing or one is of
 * another type, with `INVALID_PARAM` where a rule is broken; the message names every field.
 */
export function parseTask(value: unknown): TaskRequest {
  const parsed = taskRequestSchema.safeParse(value)
  if (!parsed.success) {
    const { issues } = parsed.error
    const isIncomplete = isWithoutContent(value) || issues.some((issue) => issue.code === 'invalid_type')
    throw new SandboxRefusal(isIncomplete ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
  }
  for (const model of parsed.data.models ?? []) {
    if (findModel(model) === null) {
      throw new SandboxRefusal('INVALID_PARAM', `models: "${model}" is not a model of v1`)
    }
  }
  return parsed.data
}

function isWithoutContent(value: unknown): boolean {
  return isJsonObject(value) && value['text_data'] === undefined && value['url'] === undefined
}
