import type { Facet, RowFilter, RowState } from '../../../shared/results.ts'
import { isRowAnswer } from '../../ui/states/answer-looks.ts'
import { STATE_LOOKS } from '../../ui/states/state-looks.ts'

/** Whether a text names a row state. */
export function isRowState(text: string): text is RowState {
  return Object.hasOwn(STATE_LOOKS, text)
}

const MEMBER = {
  state: 'state',
  rule: 'ruleId',
  error: 'errorCode',
  answer: 'answer',
} as const satisfies Record<Facet['kind'], keyof RowFilter>

/** Whether a filter narrows to this facet. */
export function isFacetChosen(filter: RowFilter, facet: Facet): boolean {
  return filter[MEMBER[facet.kind]] === facet.value
}

/** The filter narrowed to a facet, or no longer narrowed by its kind where it was already. */
export function toggleFacet(filter: RowFilter, facet: Facet): RowFilter {
  const { [MEMBER[facet.kind]]: _dropped, ...rest } = filter
  if (isFacetChosen(filter, facet)) return rest
  if (facet.kind === 'state') {
    const { unsuccessful: _wider, ...others } = rest
    return isRowState(facet.value) ? { ...others, state: facet.value } : others
  }
  if (facet.kind === 'answer') return isRowAnswer(facet.value) ? { ...rest, answer: facet.value } : rest
  return { ...rest, [MEMBER[facet.kind]]: facet.value }
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
