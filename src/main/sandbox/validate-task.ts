import type { z } from 'zod'
import { isJsonObject } from '../../shared/service/json-object.ts'
import { findModel } from '../../shared/service/models.ts'
import { taskRequestSchema, v2TaskRequestSchema } from '../../shared/service/tasks.ts'
import type { Content } from './analysis/analyse-content.ts'
import { formatIssues } from './format-issues.ts'
import { SandboxRefusal } from './sandbox-errors.ts'

/** A task that keeps the rules. */
export interface CheckedTask {
  postId: string
  userId: string
  content: Content
  /** Each once; empty where the default model is meant. */
  models: readonly string[]
  contentVariant: string | null
  callbackUrl: string | null
}

/**
 * v2 lists no text (docs/interface.md §4.2), and what it does not list passes through; here a text is content as in v1.
 */
const v2Schema = v2TaskRequestSchema.extend({
  text_data: taskRequestSchema.shape.text_data,
  content_variant: taskRequestSchema.shape.content_variant,
})

/**
 * Checks a v1 task (docs/interface.md §2.1). Refuses it with `PARAM_REQUIRED` where a required field is missing or one
 * is of another type, with `INVALID_PARAM` where a rule is broken; the message names every field.
 */
export function parseTask(value: unknown): CheckedTask {
  const task = parseFields(taskRequestSchema, value)
  for (const model of task.models ?? []) {
    if (findModel(model) === null) throw toUnknownModel(model, 'a model of v1')
  }
  return toCheckedTask(task, value)
}

/**
 * Checks a v2 task (docs/interface.md §4.2), as {@link parseTask} does. Its models may be several, custom indexes among
 * them; `isIndex` says which there are.
 */
export function parseV2Task(value: unknown, isIndex: (indexId: string) => boolean): CheckedTask {
  const task = parseFields(v2Schema, value)
  for (const model of task.models ?? []) {
    if (findModel(model) === null && !isIndex(model)) throw toUnknownModel(model, 'a model or a custom index')
  }
  return toCheckedTask(task, value)
}

function parseFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const isIncomplete = isWithoutContent(value) || issues.some((issue) => issue.code === 'invalid_type')
  throw new SandboxRefusal(isIncomplete ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
}

function toCheckedTask(task: z.output<typeof v2Schema>, value: unknown): CheckedTask {
  if (isWithoutContent(value)) {
    throw new SandboxRefusal('PARAM_REQUIRED', 'url: is required where there is no text_data')
  }
  if (task.text_data !== undefined && task.url !== undefined) {
    throw new SandboxRefusal('INVALID_PARAM', 'url: must not be sent together with text_data')
  }
  return {
    postId: task.post_id,
    userId: task.user_id,
    content:
      task.text_data === undefined
        ? { kind: 'url', url: task.url ?? '' }
        : { kind: 'text', text: task.text_data },
    models: [...new Set(task.models)],
    contentVariant: task.content_variant ?? null,
    callbackUrl: task.callback_url ?? null,
  }
}

function toUnknownModel(model: string, expected: string): SandboxRefusal {
  return new SandboxRefusal('INVALID_PARAM', `models: "${model}" is not ${expected}`)
}

function isWithoutContent(value: unknown): boolean {
  return isJsonObject(value) && value['text_data'] === undefined && value['url'] === undefined
}
