import { z } from 'zod'
import type { Analysis } from '../analysis/analyse-content.ts'
import { CONTENT_CLASSES } from '../analysis/score-text.ts'

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

/** What rules look at. */
export interface RuleSubject {
  analysis: Analysis
  contentVariant: string | null
  /** Ids of the custom indexes that an item matches in. */
  matchedIndexes: readonly string[]
}

/** The active rules whose every condition holds, in their order. */
export function findTriggeredRules(rules: readonly Rule[], subject: RuleSubject): Rule[] {
  return rules.filter(
    (rule) => rule.active && rule.conditions.every((condition) => holds(condition, subject)),
  )
}

function holds(condition: RuleCondition, { analysis, contentVariant, matchedIndexes }: RuleSubject): boolean {
  switch (condition.subject) {
    case 'class_score':
      return analysis.scores[condition.class] >= condition.min_score
    case 'watchlist':
      return analysis.terms.some((found) => found.watchlist === condition.watchlist)
    case 'custom_index':
      return matchedIndexes.includes(condition.custom_index_id)
    case 'content_variant':
      return contentVariant === condition.content_variant
    case 'url':
      return analysis.urls.length > 0
    case 'language':
      return condition.any_of.includes(analysis.language)
  }
}
