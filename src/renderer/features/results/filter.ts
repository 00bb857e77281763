import type { RowState } from '../../../shared/run/item-state.ts'
import type { Facet, RowFilter } from '../../../shared/run/results.ts'
import { isRowAnswer } from '../../ui/states/answers.tsx'
import { STATE_LOOKS } from '../../ui/states/row-states.tsx'

/** Whether a text names a row state. */
export function isRowState(text: string): text is RowState {
  return Object.hasOwn(STATE_LOOKS, text)
}

type FacetId = Pick<Facet, 'kind' | 'value'>

/** Whether a filter narrows to this facet. */
export function isFacetChosen(filter: RowFilter, { kind, value }: FacetId): boolean {
  if (kind === 'rule') return filter.ruleIds?.includes(value) ?? false
  return filter[kind === 'error' ? 'errorCode' : kind] === value
}

/**
 * The filter narrowed to a facet, or no longer narrowed to it where it was. Of rules there may be several, of which rows
 * have at least one; of every other kind there is one.
 */
export function toggleFacet(filter: RowFilter, facet: FacetId): RowFilter {
  const { kind, value } = facet
  const isChosen = isFacetChosen(filter, facet)
  if (kind === 'rule') {
    const { ruleIds = [], ...rest } = filter
    const chosen = isChosen ? ruleIds.filter((ruleId) => ruleId !== value) : [...ruleIds, value]
    return chosen.length === 0 ? rest : { ...rest, ruleIds: chosen }
  }
  if (kind === 'error' || kind === 'cause') {
    const { errorCode: _errorCode, cause: _cause, ...rest } = filter
    if (isChosen) return rest
    return kind === 'error' ? { ...rest, errorCode: value } : { ...rest, cause: value }
  }
  if (kind === 'answer') {
    const { answer: _answer, ...rest } = filter
    return !isChosen && isRowAnswer(value) ? { ...rest, answer: value } : rest
  }
  const { state: _state, unsuccessful: _unsuccessful, ...rest } = filter
  return !isChosen && isRowState(value) ? { ...rest, state: value } : rest
}

/** The facets that a filter narrows to, so that they can be taken back even where no row has them. */
export function listChosen({ state, ruleIds = [], errorCode, cause, answer }: RowFilter): FacetId[] {
  return [
    { kind: 'state', value: state } as const,
    ...ruleIds.map((value) => ({ kind: 'rule', value }) as const),
    { kind: 'error', value: errorCode } as const,
    { kind: 'cause', value: cause } as const,
    { kind: 'answer', value: answer } as const,
  ].flatMap(({ kind, value }) => (value === undefined ? [] : [{ kind, value }]))
}

/** The filter narrowed to all rows that ended without success, or no longer; it takes the place of a single state. */
export function toggleUnsuccessful(filter: RowFilter): RowFilter {
  const { unsuccessful, state: _narrower, ...rest } = filter
  return unsuccessful ? rest : { ...rest, unsuccessful: true }
}

/** The filter with a search; an empty one does not narrow. */
export function withSearch(filter: RowFilter, search: string): RowFilter {
  const { search: _dropped, ...rest } = filter
  return search === '' ? rest : { ...rest, search }
}

/** Whether a filter narrows at all. */
export function isNarrowed(filter: RowFilter): boolean {
  return Object.keys(filter).length > 0
}
