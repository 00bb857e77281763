import type { ContentClass, Rule, RuleCondition } from '../../../shared/sandbox/content.ts'
import type { StoredTerm } from '../store/watchlist-store.ts'

function rule(ruleId: string, ruleName: string, ...conditions: RuleCondition[]): Rule {
  return {
    rule_id: ruleId,
    rule_name: ruleName,
    conditions,
    action_id: 'flag-for-review',
    active: true,
  }
}

function atLeast(className: ContentClass, minScore: number): RuleCondition {
  return { subject: 'class_score', class: className, min_score: minScore }
}

export const DEFAULT_INDEX = 'sandbox-index'

export const DEFAULT_WATCHLIST = 'sandbox_terms'

/** The rules of a new sandbox: one for each kind of condition. Ordinary text triggers some of them. */
export const DEFAULT_RULES: Rule[] = [
  rule('rule-sexual', 'Sexual content', atLeast('sexual', 2)),
  rule('rule-hate', 'Hateful content', atLeast('hate', 2)),
  rule('rule-violence', 'Violent content', atLeast('violence', 2)),
  rule('rule-bullying', 'Bullying', atLeast('bullying', 1)),
  rule('rule-spam', 'Likely spam', atLeast('spam', 2)),
  rule('rule-promotion', 'Promotion', atLeast('promotions', 2)),
  rule('rule-link', 'Contains a link', { subject: 'url' }),
  rule('rule-watchlist', 'Watchlist term', { subject: 'watchlist', watchlist: DEFAULT_WATCHLIST }),
  rule('rule-index', 'Item of the index', { subject: 'custom_index', custom_index_id: DEFAULT_INDEX }),
  rule('rule-language', 'Spanish or Portuguese', { subject: 'language', any_of: ['ES', 'PT'] }),
  rule(
    'rule-live-chat',
    'Bullying in live chat',
    { subject: 'content_variant', content_variant: 'live_chat' },
    atLeast('bullying', 1),
  ),
]

/** The custom indexes of a new sandbox, initially empty. */
export const DEFAULT_INDEXES: readonly string[] = [DEFAULT_INDEX]

export const DEFAULT_WATCHLISTS: Record<string, StoredTerm[]> = {
  [DEFAULT_WATCHLIST]: [
    { term: 'sandbox:watchlist', notes: 'A test phrase.' },
    { term: 'premium rate', notes: 'Calls and messages that cost extra.' },
    { term: 'account number', notes: null },
    { term: 'gift card', notes: null },
    { term: 'bank details', notes: null },
  ],
}
