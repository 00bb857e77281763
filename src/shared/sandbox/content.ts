import { z } from 'zod'
import { appealJudgmentSchema, appealStatusSchema, originalDecisionSchema } from '../service/appeal.ts'

/** The classes that the sandbox scores (docs/interface.md §2.3, moderated_classes). */
export const CONTENT_CLASSES = ['sexual', 'hate', 'violence', 'bullying', 'spam', 'promotions'] as const

export type ContentClass = (typeof CONTENT_CLASSES)[number]

const conditionSchema = z.discriminatedUnion('subject', [
  /** The class has at least this score. */
  z.object({
    subject: z.literal('class_score'),
    class: z.enum(CONTENT_CLASSES),
    min_score: z.int().min(1).max(3),
  }),
  /** The text contains a term of the watchlist. */
  z.object({ subject: z.literal('watchlist'), watchlist: z.string().min(1) }),
  /** The content matches an item of the custom index, which is one of the task's models. */
  z.object({ subject: z.literal('custom_index'), custom_index_id: z.string().min(1) }),
  /** The request names this content variant. */
  z.object({ subject: z.literal('content_variant'), content_variant: z.string().min(1) }),
  /** The text contains a web address, or the content is one. */
  z.object({ subject: z.literal('url') }),
  /** The language is one of these upper-case codes. */
  z.object({ subject: z.literal('language'), any_of: z.array(z.string().regex(/^[A-Z]{2}$/)).min(1) }),
])

export type RuleCondition = z.infer<typeof conditionSchema>

/** A moderation rule of the sandbox: it triggers when it is active and every condition holds. */
export const ruleSchema = z.object({
  rule_id: z.string().min(1),
  rule_name: z.string().min(1),
  conditions: z.array(conditionSchema).min(1),
  action_id: z.string().min(1).default('flag-for-review'),
  active: z.boolean().default(true),
})

export type Rule = z.infer<typeof ruleSchema>

/** An appeal as put into the sandbox: its current state, and when it becomes Reviewed by itself. */
export const appealSchema = z.strictObject({
  appeal_id: z.string().min(1),
  status: appealStatusSchema.default('In Review'),
  /** Number of reads after which it is Reviewed; null for never. */
  reviewed_after_reads: z.int().min(1).nullable().default(null),
  /** Milliseconds in the sandbox after which it is Reviewed; null for never. */
  reviewed_after_ms: z.number().min(0).nullable().default(null),
  /** The judgment shown while it is In Review; null for none. */
  interim_judgment: appealJudgmentSchema.nullable().default(null),
  /** The judgment shown once it is Reviewed. */
  judgment: appealJudgmentSchema.default({}),
  original_decision: originalDecisionSchema.default({}),
})

export type Appeal = z.output<typeof appealSchema>

/** An appeal as a person writes it; everything but the id has a default. */
export type AppealSeed = z.input<typeof appealSchema>
