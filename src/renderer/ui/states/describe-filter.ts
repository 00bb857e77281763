import { describeCell } from '../../../shared/lookback/evaluation-view.ts'
import { VERDICT_WORDS } from '../../../shared/lookback/verdict.ts'
import { nameCode } from '../../../shared/messages/name-code.ts'
import { type Facet, NO_RULE, type RowFilter } from '../../../shared/run/results.ts'
import { sayScoreBand } from '../../../shared/run/score-bands.ts'
import { ANSWER_LOOKS } from './answers.tsx'
import { STATE_LOOKS } from './row-states.tsx'

/** Characters of a search that are repeated. */
const SEARCH_MAX = 60

/** Whether a filter narrows at all. */
export function isNarrowed(filter: RowFilter): boolean {
  return Object.keys(filter).length > 0
}

/** What a filter leaves, in a few words; rules by the names that facets have for them, or else by their ids. */
export function describeFilter(filter: RowFilter, facets: readonly Facet[] = []): string {
  const { scores = [] } = filter
  const byClass = Map.groupBy(scores, ({ className }) => className)
  const parts = [
    filter.state === undefined ? null : STATE_LOOKS[filter.state].word,
    filter.unsuccessful ? 'what did not succeed' : null,
    filter.ruleIds === undefined
      ? null
      : joinValues(filter.ruleIds.map((ruleId) => nameRule(ruleId, facets))),
    filter.errorCode === undefined ? null : `error ${nameCode(filter.errorCode)}`,
    filter.cause === undefined ? null : 'one cause of errors',
    filter.answer === undefined ? null : ANSWER_LOOKS[filter.answer].word,
    filter.cell === undefined ? null : describeCell(filter.cell),
    filter.verdict === undefined ? null : VERDICT_WORDS[filter.verdict],
    filter.languages === undefined ? null : `language ${joinValues(filter.languages)}`,
    filter.models === undefined ? null : `model ${joinValues(filter.models)}`,
    filter.variants === undefined ? null : `content variant ${joinValues(filter.variants)}`,
    ...[...byClass].map(
      ([className, bands]) => `${className} ${joinValues(bands.map((band) => sayScoreBand(band)))}`,
    ),
    filter.search === undefined ? null : `cells with “${filter.search.slice(0, SEARCH_MAX)}”`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

function nameRule(ruleId: string, facets: readonly Facet[]): string {
  if (ruleId === NO_RULE) return 'no rule'
  return `rule ${facets.find(({ kind, value }) => kind === 'rule' && value === ruleId)?.label ?? ruleId}`
}

function joinValues(values: readonly string[]): string {
  return values.join(' or ')
}
