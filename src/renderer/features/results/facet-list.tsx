import { IconX } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { NO_VERDICT, VERDICT_WORDS, type Verdict } from '../../../shared/lookback/verdict.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { toCauseLabel } from '../../../shared/run/counts.ts'
import { isUnsuccessful, type RowState } from '../../../shared/run/item-state.ts'
import type { Facet, RowFilter } from '../../../shared/run/results.ts'
import { AnswerLabel, isRowAnswer, nameAnswers } from '../../ui/states/answers.tsx'
import { STATE_LOOKS } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { VerdictLabel } from '../../ui/verdicts/verdict-mark.tsx'
import styles from './results.module.css'

interface FacetGroup {
  kinds: readonly Facet['kind'][]
  title: string
  empty: string
}

/** The groups that have a meaning for an operation. */
function toGroups(operation: string): FacetGroup[] {
  const answers = nameAnswers(operation)
  return [
    { kinds: ['state'], title: 'State', empty: 'no rows' },
    ...(answers === null ? [] : [{ kinds: ['answer'], title: answers, empty: 'none answered' } as const]),
    ...(operation === 'task'
      ? [{ kinds: ['rule'], title: 'Triggered rule', empty: 'none triggered' } as const]
      : []),
    { kinds: ['error', 'cause'], title: 'Error', empty: 'no errors' },
    ...(operation === 'task'
      ? [{ kinds: ['verdict'], title: 'Your verdict', empty: 'none given' } as const]
      : []),
  ]
}

/** What the rows can be narrowed by, with how many rows each leaves under the search and the other filters. */
export function FacetList(props: {
  operation: string
  facets: readonly Facet[]
  /** False while rows are still being counted. */
  isCounted: boolean
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
  const { filter, onFilter, isCounted } = props
  const facets = withChosen(props.facets, filter, useLabels(props.facets))
  return (
    <div className={styles.facets}>
      {toGroups(props.operation).map((group) => {
        const shown = facets.filter(({ kind }) => group.kinds.includes(kind))
        const unsuccessful = countUnsuccessful(shown)
        return (
          <section key={group.title} aria-label={group.title}>
            <h2 className={styles.facetTitle}>{group.title}</h2>
            {shown.length === 0 && (
              <p className={styles.facetEmpty}>{isCounted ? group.empty : 'counting'}</p>
            )}
            <ul>
              {shown.map((facet) => (
                <li key={`${facet.kind} ${facet.value}`}>
                  <FacetButton
                    name={<FacetName facet={facet} />}
                    title={facet.label}
                    rows={facet.rows}
                    chosen={isFacetChosen(filter, facet)}
                    onPick={() => onFilter(toggleFacet(filter, facet))}
                  />
                </li>
              ))}
              {group.title === 'State' && (unsuccessful > 0 || filter.unsuccessful) && (
                <li>
                  <FacetButton
                    name="all that did not succeed"
                    rows={unsuccessful}
                    chosen={filter.unsuccessful === true}
                    onPick={() => onFilter(toggleUnsuccessful(filter))}
                  />
                </li>
              )}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

/** The labels of all facets seen so far, since a chosen facet may have lost its rows. */
function useLabels(facets: readonly Facet[]): ReadonlyMap<string, string> {
  const labels = useRef(new Map<string, string>())
  for (const { kind, value, label } of facets) labels.current.set(`${kind} ${value}`, label)
  return labels.current
}

/** The facets that have rows, and those that are chosen without any. */
function withChosen(
  facets: readonly Facet[],
  filter: RowFilter,
  labels: ReadonlyMap<string, string>,
): Facet[] {
  const isShown = (chosen: Pick<Facet, 'kind' | 'value'>) =>
    facets.some(({ kind, value }) => kind === chosen.kind && value === chosen.value)
  const others = listChosen(filter).filter((chosen) => !isShown(chosen))
  return [
    ...facets,
    ...others.map((chosen) => ({
      ...chosen,
      label:
        labels.get(`${chosen.kind} ${chosen.value}`) ??
        (chosen.kind === 'cause' ? toCauseLabel(chosen.value) : chosen.value),
      rows: 0,
    })),
  ]
}

function FacetButton(props: {
  name: ReactNode
  /** The whole name, where there may be no room for it. */
  title?: string
  rows: number
  chosen: boolean
  onPick: () => void
}) {
  return (
    <button
      type="button"
      className={styles.facet}
      aria-pressed={props.chosen}
      title={props.title}
      onClick={props.onPick}
    >
      <span className={styles.facetName}>{props.name}</span>
      <span className={styles.facetRows}>{formatCount(props.rows)}</span>
      {props.chosen && <IconX size="0.9rem" aria-label="(chosen, press to show all again)" />}
    </button>
  )
}

function countUnsuccessful(states: readonly Facet[]): number {
  return states.reduce(
    (sum, facet) => sum + (isRowState(facet.value) && isUnsuccessful(facet.value) ? facet.rows : 0),
    0,
  )
}

function FacetName({ facet }: { facet: Facet }) {
  if (facet.kind === 'answer' && isRowAnswer(facet.value)) return <AnswerLabel answer={facet.value} />
  if (facet.kind === 'verdict' && facet.value !== NO_VERDICT) {
    return <VerdictLabel verdict={{ verdict: facet.value as Verdict['verdict'], rule: null }} />
  }
  if (facet.kind !== 'state' || !isRowState(facet.value))
    return <SafeText text={facet.label.replaceAll('`', '')} max={60} />
  const look = STATE_LOOKS[facet.value]
  const Icon = look.icon
  return (
    <span className={styles.facetState} style={{ color: look.color }}>
      <Icon size="1.05em" aria-hidden />
      {look.word}
    </span>
  )
}

/** Whether a text names a row state. */
function isRowState(text: string): text is RowState {
  return Object.hasOwn(STATE_LOOKS, text)
}

type FacetId = Pick<Facet, 'kind' | 'value'>

/** Whether a filter narrows to this facet. */
function isFacetChosen(filter: RowFilter, { kind, value }: FacetId): boolean {
  if (kind === 'rule') return filter.ruleIds?.includes(value) ?? false
  return filter[kind === 'error' ? 'errorCode' : kind] === value
}

/**
 * The filter with a facet switched on or off. Several rules can be on, and rows have at least one of them; of every
 * other kind only one can be on.
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
  if (kind === 'verdict') {
    const { verdict: _verdict, ...rest } = filter
    return !isChosen && isVerdictFilter(value) ? { ...rest, verdict: value } : rest
  }
  const { state: _state, unsuccessful: _unsuccessful, ...rest } = filter
  return !isChosen && isRowState(value) ? { ...rest, state: value } : rest
}

/** The facets that a filter narrows to, so that they can be taken back even where no row has them. */
export function listChosen({ state, ruleIds = [], errorCode, cause, answer, verdict }: RowFilter): FacetId[] {
  return [
    { kind: 'state', value: state } as const,
    ...ruleIds.map((value) => ({ kind: 'rule', value }) as const),
    { kind: 'error', value: errorCode } as const,
    { kind: 'cause', value: cause } as const,
    { kind: 'answer', value: answer } as const,
    { kind: 'verdict', value: verdict } as const,
  ].flatMap(({ kind, value }) => (value === undefined ? [] : [{ kind, value }]))
}

function isVerdictFilter(text: string): text is NonNullable<RowFilter['verdict']> {
  return Object.hasOwn(VERDICT_WORDS, text)
}

/** The filter with `unsuccessful` switched on or off; it replaces a single state. */
function toggleUnsuccessful(filter: RowFilter): RowFilter {
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
