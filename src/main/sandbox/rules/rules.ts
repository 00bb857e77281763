import type { Rule, RuleCondition } from '../../../shared/sandbox/content.ts'
import type { Analysis } from '../analysis/analyse-content.ts'

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
