import { z } from 'zod'
import { jsonObjectSchema } from './json-object.ts'

/** A rule as the legacy response spells it out (docs/interface.md §2.3). */
const legacyTriggeredRuleSchema = z.looseObject({
  id: z.string(),
  display_name: z.string(),
  application_id: z.string(),
  /** Such as `post`. */
  rule_type: z.string(),
  cardinality: z.int(),
  active: z.boolean(),
  action_id: z.string(),
  conditions: z.array(z.looseObject({ subject: z.string() })),
  deleted: z.boolean(),
  /** Such as `once`. */
  trigger_frequency: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** What was analysed, and by which model (docs/interface.md §2.3, response.input). */
const legacyInputSchema = z.looseObject({
  hash: z.string(),
  inference_client_version: z.string(),
  model: z.string(),
  /** Such as a text classification type. */
  model_type: z.string(),
  model_version: z.int(),
  text: z.string(),
  id: z.string(),
  created_on: z.string(),
  user_id: z.int(),
  project_id: z.int(),
  charge: z.number(),
})

/** Scores of one span of the text (docs/interface.md §2.3, output item). */
export const legacyOutputSchema = z.looseObject({
  time: z.number(),
  start_char_index: z.int(),
  end_char_index: z.int(),
  classes: z.array(z.looseObject({ class: z.string(), score: z.int() })),
})

/** What a model found (docs/interface.md §2.3, response). */
const legacyModelResponseSchema = z.looseObject({
  input: legacyInputSchema,
  custom_classes: z.array(z.unknown()),
  text_filters: z.array(z.unknown()),
  pii_entities: z.array(
    z.looseObject({ value: z.string(), start_index: z.int(), end_index: z.int(), type: z.string() }),
  ),
  urls: z.array(z.unknown()),
  /** Upper-case code. */
  language: z.string(),
  moderated_classes: z.array(z.string()),
  output: z.array(legacyOutputSchema),
})

/**
 * How one model's analysis ended: `"0"` is success (docs/interface.md §2.3, status item). A failed one may lack a
 * response.
 */
const legacyStatusSchema = z.looseObject({
  status: z.looseObject({ code: z.string(), message: z.string() }),
  response: z.union([legacyModelResponseSchema, jsonObjectSchema]).nullish(),
})

/**
 * The legacy task response, asked for with `legacy=1` (docs/interface.md §2.3). Its body carries `user_id` twice, a
 * string and a number; JSON.parse keeps only the last, so either is taken.
 */
export const legacyTaskResponseSchema = z.looseObject({
  content_id: z.string(),
  user_id: z.union([z.string(), z.number()]),
  post_id: z.string(),
  task_id: z.string(),
  triggered_rules: z.array(legacyTriggeredRuleSchema),
  /** Same value as task_id. */
  id: z.string(),
  /** 200 on success. */
  code: z.int(),
  project_id: z.int(),
  /** ISO 8601. */
  created_on: z.string(),
  status: z.array(legacyStatusSchema),
  from_cache: z.boolean(),
})
