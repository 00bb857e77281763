import { VERDICT_WORDS } from '../../../shared/lookback/verdict.ts'
import { toCauseLabel } from '../../../shared/run/counts.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import type { Facet, RowFilter, ScoreFilter } from '../../../shared/run/results.ts'
import { sayScoreBand } from '../../../shared/run/score-bands.ts'
import { isRowAnswer } from '../../ui/states/answers.tsx'
import { STATE_LOOKS } from '../../ui/states/row-states.tsx'

/** What tells a facet from others. */
export type FacetId = Pick<Facet, 'kind' | 'value'>

/** The members of a filter that list values, of which rows have at least one. */
const LISTS = { rule: 'ruleIds', language: 'languages', model: 'models', variant: 'variants' } as const

function hasList(kind: Facet['kind']): kind is keyof typeof LISTS {
  return Object.hasOwn(LISTS, kind)
}

/** Whether a text names a row state. */
export function isRowState(text: string): text is RowState {
  return Object.hasOwn(STATE_LOOKS, text)
}

/** Whether a filter narrows to this facet. */
export function isFacetChosen(filter: RowFilter, { kind, value }: FacetId): boolean {
  if (kind === 'score') return (filter.scores ?? []).some((score) => isSameBand(score, parseBand(value)))
  if (hasList(kind)) return filter[LISTS[kind]]?.includes(value) ?? false
  return filter[kind === 'error' ? 'errorCode' : kind] === value
}

/**
 * The filter with a facet switched on or off. Several rules, languages, models, variants and bands of a class can be on,
 * and rows have at least one of them; of every other kind only one can be on.
 */
export function toggleFacet(filter: RowFilter, facet: FacetId): RowFilter {
  const { kind, value } = facet
  const isChosen = isFacetChosen(filter, facet)
  if (kind === 'score') return toggleBand(filter, parseBand(value))
  if (hasList(kind)) {
    const { [LISTS[kind]]: values = [], ...rest } = filter
    const chosen = isChosen ? values.filter((other) => other !== value) : [...values, value]
    return chosen.length === 0 ? rest : { ...rest, [LISTS[kind]]: chosen }
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
  if (kind === 'verdict') {
    const { verdict: _verdict, ...rest } = filter
    return !isChosen && isVerdictFilter(value) ? { ...rest, verdict: value } : rest
  }
  const { state: _state, unsuccessful: _unsuccessful, ...rest } = filter
  return !isChosen && isRowState(value) ? { ...rest, state: value } : rest
}

function isVerdictFilter(text: string): text is NonNullable<RowFilter['verdict']> {
  return Object.hasOwn(VERDICT_WORDS, text)
}

/** The band that the value of a facet names. */
export function parseBand(value: string): ScoreFilter {
  return JSON.parse(value) as ScoreFilter
}

function isSameBand(one: ScoreFilter, other: ScoreFilter): boolean {
  return one.className === other.className && one.from === other.from && one.below === other.below
}

function toggleBand({ scores = [], ...rest }: RowFilter, band: ScoreFilter): RowFilter {
  const others = scores.filter((other) => !isSameBand(other, band))
  const chosen = others.length < scores.length ? others : [...scores, band]
  return chosen.length === 0 ? rest : { ...rest, scores: chosen }
}

/** The facets that a filter narrows to, so that they can be taken back even where no row has them. */
export function listChosen(filter: RowFilter): FacetId[] {
  const { state, errorCode, cause, answer, verdict, scores = [] } = filter
  const lists = Object.entries(LISTS).flatMap(([kind, member]) =>
    (filter[member] ?? []).map((value) => ({ kind: kind as keyof typeof LISTS, value })),
  )
  return [
    { kind: 'state', value: state } as const,
    ...lists,
    { kind: 'error', value: errorCode } as const,
    { kind: 'cause', value: cause } as const,
    { kind: 'answer', value: answer } as const,
    { kind: 'verdict', value: verdict } as const,
    ...scores.map((score) => ({ kind: 'score', value: JSON.stringify(score) }) as const),
  ].flatMap(({ kind, value }) => (value === undefined ? [] : [{ kind, value }]))
}

/** What a facet is called that no row has any more. */
export function toFacetLabel({ kind, value }: FacetId): string {
  if (kind === 'cause') return toCauseLabel(value)
  if (kind !== 'score') return value
  const band = parseBand(value)
  return `${band.className} ${sayScoreBand(band)}`
}

/** The filter with `unsuccessful` switched on or off; it replaces a single state. */
export function toggleUnsuccessful(filter: RowFilter): RowFilter {
  const { unsuccessful, state: _narrower, ...rest } = filter
  return unsuccessful ? rest : { ...rest, unsuccessful: true }
}

/** The filter with a search; an empty one does not narrow. */
export function withSearch(filter: RowFilter, search: string): RowFilter {
  const { search: _dropped, ...rest } = filter
  return search === '' ? rest : { ...rest, search }
}
