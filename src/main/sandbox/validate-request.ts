import { z } from 'zod'
import { indexAddRequestSchema } from '../../shared/operations/index-add.ts'
import { updateTermSchema } from '../../shared/operations/watchlist-update.ts'
import { isJsonObject, type JsonObject } from '../../shared/service/json-object.ts'
import { findModel } from '../../shared/service/models.ts'
import { taskRequestSchema, v2TaskRequestSchema } from '../../shared/service/tasks.ts'
import type { Content } from './analysis/analyse-content.ts'
import { formatIssues, SandboxRefusal } from './sandbox-errors.ts'

export interface CheckedTask {
  postId: string
  userId: string
  content: Content
  /** Without duplicates; empty for the default model. */
  models: readonly string[]
  contentVariant: string | null
  callbackUrl: string | null
}

/** v2 lists no text (docs/interface.md §4.2) and passes on the rest; here text is content as in v1. */
const v2Schema = v2TaskRequestSchema.extend({
  text_data: taskRequestSchema.shape.text_data,
  content_variant: taskRequestSchema.shape.content_variant,
})

/**
 * Checks a v1 task (docs/interface.md §2.1). Refuses it with `PARAM_REQUIRED` if a required field is missing
 * or has another type, with `INVALID_PARAM` if a rule is broken; the message names every field.
 */
export function parseTask(value: unknown): CheckedTask {
  const task = parseBody(taskRequestSchema, value, isWithoutContent(value))
  for (const model of task.models ?? []) {
    if (findModel(model) === null) throw toUnknownModel(model, 'a model of v1')
  }
  return toCheckedTask(task, value)
}

/**
 * Checks a v2 task (docs/interface.md §4.2) like {@link parseTask}. It may name several models, custom
 * indexes among them; `isIndex` tells which indexes exist.
 */
export function parseV2Task(value: unknown, isIndex: (indexId: string) => boolean): CheckedTask {
  const task = parseBody(v2Schema, value, isWithoutContent(value))
  for (const model of task.models ?? []) {
    if (findModel(model) === null && !isIndex(model)) throw toUnknownModel(model, 'a model or a custom index')
  }
  return toCheckedTask(task, value)
}

/**
 * Parses a body by its schema. Refuses it with `PARAM_REQUIRED` if a field is missing or has another type, or
 * if the body `isIncomplete`.
 */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  isIncomplete = false,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const isRequired = isIncomplete || issues.some((issue) => issue.code === 'invalid_type')
  throw new SandboxRefusal(isRequired ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
}

function toCheckedTask(task: z.output<typeof v2Schema>, value: unknown): CheckedTask {
  if (isWithoutContent(value)) {
    throw new SandboxRefusal('PARAM_REQUIRED', 'url: is required without text_data')
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

export interface CheckedIndexItem {
  url: string
  metadata: JsonObject | null
  contentVariant: string | null
  callbackUrl: string | null
}

/**
 * Checks an item to add (docs/interface.md §4.3). Refuses it with `REQUIRE_AT_LEAST_ONE_PARAM` if it has
 * neither url nor media, with `PARAM_REQUIRED` if a field has another type, with `INVALID_PARAM` if an
 * address is invalid. With both url and media, url counts.
 */
export function parseIndexAdd(value: unknown): CheckedIndexItem {
  const parsed = indexAddRequestSchema.safeParse(value)
  if (parsed.success) {
    const { url, media, metadata, content_variant, callback_url } = parsed.data
    return {
      url: url ?? media ?? '',
      metadata: metadata ?? null,
      contentVariant: content_variant ?? null,
      callbackUrl: callback_url ?? null,
    }
  }
  const { issues } = parsed.error
  const hasNoMedia = isJsonObject(value) && value['url'] === undefined && value['media'] === undefined
  const hasWrongType = issues.some((issue) => issue.code === 'invalid_type')
  if (hasNoMedia && !hasWrongType) {
    throw new SandboxRefusal('REQUIRE_AT_LEAST_ONE_PARAM', 'at least one of url and media is required')
  }
  throw new SandboxRefusal(hasWrongType ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
}

export interface SubmittedTerm {
  term: string
  /** Null clears the notes; undefined means none were sent. */
  notes?: string | null | undefined
}

/** Terms for a watchlist; some may still exceed the limits. */
export interface CheckedTerms {
  watchlist: string
  terms: readonly SubmittedTerm[]
}

const watchlistSchema = z.string().min(1, 'must not be empty')

const addSchema = z.object({
  watchlist: watchlistSchema,
  terms: z.array(z.object({ term: z.string(), notes: z.string().optional() })),
})

const updateSchema = z.object({
  watchlist: watchlistSchema,
  terms: z.array(z.object({ term: z.string(), notes: z.string().nullish() })),
})

/** Most problems that a refusal names, since a request may have thousands. */
const MAX_NAMED_ISSUES = 10

/**
 * Checks terms to add or update (docs/interface.md §4.5, §4.6, §7.3). Refuses with `PARAM_REQUIRED` if a
 * field is missing or has another type. Terms that exceed the limits are not an error of the call, and pass.
 */
export function parseTerms(operation: 'add' | 'update', value: unknown): CheckedTerms {
  const parsed = (operation === 'add' ? addSchema : updateSchema).safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const more = issues.length > MAX_NAMED_ISSUES ? `; and ${issues.length - MAX_NAMED_ISSUES} more` : ''
  throw new SandboxRefusal('PARAM_REQUIRED', formatIssues(issues.slice(0, MAX_NAMED_ISSUES), value) + more)
}

/** Whether a term and its notes are within the limits (docs/interface.md §8). */
export function isTermWithinLimits(term: SubmittedTerm): boolean {
  return updateTermSchema.safeParse(term).success
}
