import { z } from 'zod'
import { CONTENT_CLASSES } from '../analysis/content-classes.ts'

const conditionSchema = z.discriminatedUnion('subject', [
  /** The class scored at least that much. */
  z.object({
    subject: z.literal('class_score'),
    class: z.enum(CONTENT_CLASSES),
    min_score: z.int().min(1).max(3),
  }),
  /** The text holds a term of the watchlist. */
  z.object({ subject: z.literal('watchlist'), watchlist: z.string().min(1) }),
  /** The content matches an item of the custom index, which was among the task's models. */
  z.object({ subject: z.literal('custom_index'), custom_index_id: z.string().min(1) }),
  /** The request names this content variant. */
  z.object({ subject: z.literal('content_variant'), content_variant: z.string().min(1) }),
  /** The text holds a web address, or the content is one. */
  z.object({ subject: z.literal('url') }),
  /** The language is one of these upper-case codes. */
  z.object({ subject: z.literal('language'), any_of: z.array(z.string().regex(/^[A-Z]{2}$/)).min(1) }),
])

/** What must be true of a post. */
export type RuleCondition = z.infer<typeof conditionSchema>

/** A moderation rule of the sandbox: it triggers when it is active and every condition holds. */
export const ruleSchema = z.object({
  rule_id: z.string().min(1),
  rule_name: z.string().min(1),
  conditions: z.array(conditionSchema).min(1),
  action_id: z.string().min(1).default('flag-for-review'),
  active: z.boolean().default(true),
})

/** See {@link ruleSchema}. */
export type Rule = z.infer<typeof ruleSchema>
