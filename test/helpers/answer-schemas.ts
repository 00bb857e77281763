import { z } from 'zod'
import { jsonObjectSchema } from '../../src/shared/service/json-object.ts'

const triggeredRuleSchema = z.looseObject({ rule_id: z.string(), rule_name: z.string() })

/** The default task response (docs/interface.md §2.2). */
export const defaultTaskResponseSchema = z.looseObject({
  user_id: z.string(),
  post_id: z.string(),
  task_id: z.string(),
  triggered_rules: z.array(triggeredRuleSchema),
})

/** The immediate answer to an async submission (docs/interface.md §4.1). Only its task_id is shown. */
export const asyncAcknowledgementSchema = z.looseObject({ task_id: z.string() })

/** A rule in the legacy response (docs/interface.md §2.3). */
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
const legacyOutputSchema = z.looseObject({
  time: z.number(),
  start_char_index: z.int(),
  end_char_index: z.int(),
  classes: z.array(z.looseObject({ class: z.string(), score: z.int() })),
})

/** A model's findings (docs/interface.md §2.3, response). */
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
 * How one model's analysis ended: `"0"` is success (docs/interface.md §2.3, status item). A failed one may
 * have no response.
 */
const legacyStatusSchema = z.looseObject({
  status: z.looseObject({ code: z.string(), message: z.string() }),
  response: z.union([legacyModelResponseSchema, jsonObjectSchema]).nullish(),
})

/**
 * The legacy task response, requested with `legacy=1` (docs/interface.md §2.3). Its body has `user_id` twice,
 * a string and a number; JSON.parse keeps only the last, so either is accepted.
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

/**
 * A v2 task response, whose shape is not shown (docs/interface.md §2, §4.2): the fields known from v1 are
 * checked if they occur, with a list of models as the embedded service sends it; everything else is accepted.
 */
export const v2TaskResponseSchema = z.looseObject({
  task_id: z.string(),
  user_id: z.union([z.string(), z.number()]).optional(),
  post_id: z.string().optional(),
  triggered_rules: z.array(triggeredRuleSchema).optional(),
  models: z
    .array(
      z.looseObject({
        model: z.string(),
        status: z.looseObject({ code: z.string(), message: z.string() }),
        response: z.looseObject({ output: z.array(legacyOutputSchema).optional() }).nullish(),
      }),
    )
    .optional(),
})

/** Sync answer to an add, and the body of its async callback (docs/interface.md §4.3, §6). */
export const indexAddResponseSchema = z.looseObject({
  custom_index_item_id: z.string(),
  task_id: z.string(),
  message: z.string(),
})

/** Async acknowledgement of an add (docs/interface.md §4.3); the item's id comes with the callback. */
export const indexAddAcknowledgementSchema = z.looseObject({ task_id: z.string(), message: z.string() })

/** A removal's sync answer, async acknowledgement, and callback body (docs/interface.md §4.4, §6). */
export const indexRemoveResponseSchema = z.looseObject({
  task_id: z.string(),
  custom_index_item_id: z.string(),
  message: z.string(),
})

/**
 * A term in an answer: an object, or only its text if the shape is not shown (docs/interface.md §4.5, §4.6).
 */
const answeredTermSchema = z.union([
  z.string(),
  z.looseObject({ term: z.string(), notes: z.string().nullish() }),
])

/** Answer to an add of terms (docs/interface.md §4.5); every field is always present. */
export const watchlistAddResponseSchema = z.looseObject({
  message: z.string(),
  watchlist: z.string(),
  added_terms: z.array(answeredTermSchema),
  pre_existing_terms: z.array(answeredTermSchema),
  failed_terms: z.array(answeredTermSchema),
})

/** Answer to an update of terms (docs/interface.md §4.6); every field is always present. */
export const watchlistUpdateResponseSchema = z.looseObject({
  message: z.string(),
  watchlist: z.string(),
  updated_terms: z.array(answeredTermSchema),
  non_existent_terms: z.array(answeredTermSchema),
  failed_terms: z.array(answeredTermSchema),
})
