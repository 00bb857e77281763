import {
  type FacetId,
  findFilterOf,
  listChosen,
  parseBand,
  type RowFilter,
  withoutGroup,
} from '../../../shared/run/row-filters.ts'

/** Whether a filter narrows to this facet. */
export function isFacetChosen(filter: RowFilter, { kind, value }: FacetId): boolean {
  return listChosen(filter).some((chosen) => chosen.kind === kind && chosen.value === value)
}

/** The filter with a facet switched on or off; one that is on makes way for another of its group, unless several can be. */
export function toggleFacet(filter: RowFilter, facet: FacetId): RowFilter {
  const { name, schema, several = false } = findFilterOf(facet.kind)
  const rest = withoutGroup(filter, facet.kind)
  const known = several ? listChosen(filter).filter(({ kind }) => kind === facet.kind) : []
  const others = known.filter(({ value }) => value !== facet.value)
  const chosen = isFacetChosen(filter, facet) ? others : [...known, facet]
  if (chosen.length === 0) return rest
  const values = chosen.map(({ kind, value }) => (kind === 'score' ? parseBand(value) : value))
  const parsed = schema.safeParse(several ? values : values[0])
  return parsed.success ? { ...rest, [name]: parsed.data } : filter
}

/** The filter with `unsuccessful` switched on or off; it replaces a single state. */
export function toggleUnsuccessful(filter: RowFilter): RowFilter {
  const rest = withoutGroup(filter, 'state')
  return filter.unsuccessful ? rest : { ...rest, unsuccessful: true }
}

/** The filter with a search; an empty one does not narrow. */
export function withSearch(filter: RowFilter, search: string): RowFilter {
  const { search: _dropped, ...rest } = filter
  return search === '' ? rest : { ...rest, search }
}
